//! Compiles the C libraries from the sources in their carrier crates.
//!
//! Cargo.toml lists the carriers for a cfg that no compilation has. So cargo locks them and does not build them, and `cargo
//! metadata`, which gets this cfg, downloads them and names their directories. Some files of a library call functions whose operations the adapter counts. This
//! script compiles these files with renamed calls (`-D<function>=slowhand_<function>`); see `csrc/*/operations.c`.

#[path = "build/carriers.rs"]
mod carriers;
#[path = "build/isolate.rs"]
mod isolate;
#[path = "build/layout.rs"]
mod layout;
#[path = "build/openssl.rs"]
mod openssl;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use carriers::Carriers;

/// The level of optimisation in every Rust profile, because a handshake in an unoptimised library takes many times longer.
const OPT_LEVEL: u32 = 2;

/// The functions by which the libraries get memory and give it back: their calls are counted (`src/heap.rs`).
const ALLOCATION: &[&str] = &["malloc", "calloc", "realloc", "posix_memalign", "strdup", "free"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=Cargo.toml");
    println!("cargo::rerun-if-changed=csrc");
    let carriers = Carriers::locate("sessions");
    mirrors();
    shared();
    mbedtls(&carriers.directory("mbedtls-rs-sys").join("mbedtls"));
    tinydtls(&carriers.directory("tinydtls-sys").join("src/tinydtls"));
    if isolate::is_wasm() {
        // The capabilities of the library, without it.
        adapter("openssl").file("csrc/openssl/stack.c").compile("slowhand_openssl");
    } else {
        openssl::build(&carriers.directory("openssl-src").join("openssl"));
        decoy();
    }
    println!("cargo::rustc-env=SLOWHAND_RUSTLS_VERSION={}", carriers.package("rustls", "version"));
    println!("cargo::rerun-if-changed=../../Cargo.lock");
}

/// Generates what Rust has of the C headers.
fn mirrors() {
    let directory = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("mirrors");
    fs::create_dir_all(&directory).expect("the build directory can be written");
    let read = |header| fs::read_to_string(header).expect("the header is in the package");
    let write = |file, text| fs::write(directory.join(file), text).expect("the build directory can be written");

    write("stack.rs", layout::stack(&read("csrc/slowhand/stack.h")));
    write("certificate.rs", layout::mirror(&read("csrc/mbedtls/certificate.h"), "slowhand_mbedtls_certificate"));
}

/// A compiler. In WebAssembly there is one thread, and the calls of allocation get their other names from it, because no tool
/// renames them in its objects.
fn compiler() -> cc::Build {
    let mut build = cc::Build::new();
    if isolate::is_wasm() {
        build.include("csrc/wasm");
        build = rename_calls(build, ALLOCATION);
    }
    build
}

/// Compiles the common part of the C adapters.
fn shared() {
    compiler().include("csrc").file("csrc/library.c").compile("slowhand_library");
}

/// A compiler for an adapter: the stack, and the host as it sees it, have names of their own, because all are in one program.
fn adapter(name: &str) -> cc::Build {
    named(compiler(), name)
}

fn named(mut build: cc::Build, name: &str) -> cc::Build {
    build.include("csrc");
    build.define("slowhand_stack", format!("slowhand_{name}").as_str());
    build.define("slowhand_host", format!("slowhand_host_of_{name}").as_str());
    build
}

/// Compiles a library for `tests/symbols.rs`. Only that test links it.
fn decoy() {
    println!("cargo::rerun-if-changed=tests/symbols.c");
    cc::Build::new().file("tests/symbols.c").cargo_metadata(false).compile("slowhand_decoy");
}

fn mbedtls(root: &Path) {
    let library = root.join("library");
    let lists: BTreeMap<String, Vec<String>> = listed("csrc/mbedtls/counted.json");
    let sources = |list: &str| lists[list].iter().map(|name| library.join(format!("{name}.c"))).collect::<Vec<_>>();
    let build = || {
        let mut build = adapter("mbedtls");
        build
            .include(root.join("include"))
            .include(&library)
            .include("csrc/mbedtls")
            .define("MBEDTLS_CONFIG_FILE", "\"csrc/mbedtls/config.h\"")
            .include(".")
            .warnings(false)
            .opt_level(OPT_LEVEL);
        build
    };
    let mut objects = rename_calls(build(), &lists["counted"]).files(sources("callers")).compile_intermediates();
    // The files that compute with points and with powers, over the fast arithmetic of `csrc/mbedtls/arithmetic.c`.
    objects.extend(rename_calls(build(), &lists["replaced"]).files(sources("computing")).compile_intermediates());
    let mut points = build();
    points.define("MBEDTLS_ECP_MUL_ALT_SOFT_FALLBACK", None).flag("-include").flag("csrc/mbedtls/arithmetic.h");
    objects.extend(points.file(library.join("ecp.c")).compile_intermediates());
    let mut others = build();
    others.files(sources("others")).files(lists["adapter"].iter().map(|name| format!("csrc/mbedtls/{name}.c")));
    let visible =
        ["slowhand_mbedtls", "slowhand_mbedtls_case", "slowhand_mbedtls_issue", "slowhand_mbedtls_error_text"];
    isolate::compile(&others, objects, "slowhand_mbedtls", &visible, ALLOCATION);
}

/// The lists of a file, which is also for builds of the user. Those of `csrc/mbedtls/counted.json` are: the files whose calls of
/// cryptography are counted, and the functions that they call; the files that compute, and the functions that the adapter replaces there;
/// the other files of the library and those of the adapter.
fn listed<T: serde::de::DeserializeOwned>(file: &str) -> T {
    let text = fs::read_to_string(file).expect("the list is in the package");
    serde_json::from_str(&text).expect("the list has its form")
}

/// `csrc/tinydtls/sources.json` has the files: those with calls that are counted or replaced, with the functions, and the others.
fn tinydtls(root: &Path) {
    let lists: BTreeMap<String, BTreeMap<String, Vec<String>>> = listed("csrc/tinydtls/sources.json");
    let build = || {
        let mut build = adapter("tinydtls");
        build.include("csrc/tinydtls").include(root).warnings(false).opt_level(OPT_LEVEL);
        build
    };
    let mut callers = Vec::new();
    for (caller, counted) in &lists["counted"] {
        callers.extend(rename_calls(build(), counted).file(root.join(format!("{caller}.c"))).compile_intermediates());
    }
    let mut others = build();
    others
        .files(lists["others"]["library"].iter().map(|name| root.join(format!("{name}.c"))))
        .files(lists["others"]["adapter"].iter().map(|name| format!("csrc/tinydtls/{name}.c")));
    isolate::compile(&others, callers, "slowhand_tinydtls", &["slowhand_tinydtls"], ALLOCATION);
}

/// Renames the calls of `functions`. `operations.c` has functions with the new names.
fn rename_calls(mut build: cc::Build, functions: &[impl AsRef<str>]) -> cc::Build {
    for function in functions.iter().map(AsRef::as_ref) {
        build.define(function, format!("slowhand_{function}").as_str());
    }
    build
}
