//! Keeps the symbols of a C library to itself.
//!
//! A program may link another copy of the same library, such as the system's OpenSSL, or another library with the same names.
//! The linker would resolve the calls of both from one of them. So all objects of a library become one object, and only the
//! functions that Rust calls stay global in it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// True if the module for web pages is built, which has no OpenSSL.
pub(crate) fn is_wasm() -> bool {
    env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm")
}

/// Makes the static library `name` of the files of `build` and of `objects`. Only the symbols `visible` are global in it. What it
/// calls of `renamed` has the prefix `slowhand_`.
pub(crate) fn compile(build: &cc::Build, mut objects: Vec<PathBuf>, name: &str, visible: &[&str], renamed: &[&str]) {
    objects.extend(build.compile_intermediates());
    if is_wasm() {
        // Nothing else is in the module, and no tool renames the symbols of its objects.
        cc::Build::new().objects(objects).compile(name);
        return;
    }
    let directory = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let object = directory.join(format!("{name}.o"));
    join(&objects, &object);
    let mut objcopy = Command::new(env::var_os("OBJCOPY").unwrap_or_else(|| "objcopy".into()));
    objcopy.args(visible.iter().map(|symbol| format!("--keep-global-symbol={symbol}")));
    objcopy.args(renamed.iter().map(|symbol| format!("--redefine-sym={symbol}=slowhand_{symbol}")));
    run(objcopy.arg(&object));
    cc::Build::new().object(&object).compile(name);
}

/// Makes one object of many. Their paths are in a file, because they may be too long for a command line.
fn join(objects: &[PathBuf], joined: &Path) {
    let list = joined.with_extension("list");
    let paths: String = objects.iter().map(|object| format!("\"{}\"\n", object.display())).collect();
    fs::write(&list, paths).expect("the build directory can be written");
    let compiler = cc::Build::new().get_compiler();
    let mut arguments = std::ffi::OsString::from("@");
    arguments.push(&list);
    run(Command::new(compiler.path()).args(["-r", "-nostdlib", "-o"]).arg(joined).arg(arguments));
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}
