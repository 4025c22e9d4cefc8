//! Compiles OpenSSL from the sources in `openssl-src`, without `make`.
//!
//! OpenSSL's own `Configure` runs in the build directory. Then `csrc/openssl/sources.pl` generates the files that its makefile
//! generates. Then this module compiles the files that OpenSSL's build description lists for the two static libraries. This takes
//! longer than all the rest of this crate, so later runs use the same objects if nothing has changed. Runs for another profile of
//! Cargo use them too: nothing of a profile is in them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, slice};

use crate::{ALLOCATION, OPT_LEVEL, isolate, named, rename_calls};

/// `csrc/openssl/counted.json`, which is also for builds of the user.
#[derive(serde::Deserialize)]
struct Lists {
    /// Features that no session here uses: other protocols and versions, other algorithms, programs, and code that is loaded at
    /// run time. Assembly is off too, so that the library is the same on every processor.
    switched_off: Vec<String>,
    /// The files that call functions of `counted`. None of them defines such a function.
    callers: Vec<String>,
    /// The functions whose calls are renamed. Those that end in `_thunk` are of OpenSSL 4.
    counted: Vec<String>,
    /// The files that call functions in whose place the adapter has others (`csrc/openssl/arithmetic.c`), and these functions.
    replaced: BTreeMap<String, Vec<String>>,
}

const LISTS: &str = include_str!("../csrc/openssl/counted.json");

impl Lists {
    fn read() -> Self {
        serde_json::from_str(LISTS).expect("the lists have their form")
    }
}

/// The symbols that Rust calls. The arithmetic is there on x86-64 only.
const VISIBLE: &[&str] = &[
    "slowhand_openssl",
    "slowhand_montgomery_invert",
    "slowhand_montgomery_power",
    "slowhand_nistz256_invert",
    "slowhand_nistz256_multiply",
    "slowhand_nistz256_multiply_add",
];

/// Compiles the library in `root`, and its adapter.
pub(crate) fn build(root: &Path) {
    let directory = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("openssl");
    fs::create_dir_all(&directory).expect("the build directory can be written");
    let records = [Some(directory.join("record")), shared_record()];
    let kept = records.iter().flatten().find_map(|record| Library::kept(root, record));
    let library = kept.unwrap_or_else(|| Library::compile(root, &directory));
    let record = library.record(root);
    records.iter().flatten().for_each(|file| replace(file, &record));
    let mut adapter = named(library.compiler(), "openssl");
    adapter.include(root).file("csrc/openssl/stack.c");
    adapter.file("csrc/openssl/arithmetic.c").file("csrc/openssl/session.c").file("csrc/openssl/operations.c");
    let mut objects = library.objects.clone();
    if env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("x86_64") {
        objects.extend(library.nistz256(root, &directory));
        objects.extend(library.montgomery(root, &directory));
    }
    isolate::compile(&adapter, objects, "slowhand_openssl", VISIBLE, ALLOCATION);
}

/// The library, compiled.
struct Library {
    includes: Vec<PathBuf>,
    objects: Vec<PathBuf>,
}

impl Library {
    /// The objects of an earlier run of this script, if their sources are the same.
    fn kept(root: &Path, record: &Path) -> Option<Self> {
        let record = fs::read_to_string(record).ok()?;
        let paths = record.strip_prefix(&made_from(root))?;
        let library = Self { includes: all(paths, "include"), objects: all(paths, "object") };
        library.objects.iter().all(|object| object.exists()).then_some(library)
    }

    fn compile(root: &Path, directory: &Path) -> Self {
        let _ = fs::remove_dir_all(directory);
        fs::create_dir_all(directory).expect("the build directory can be written");
        let lists = Lists::read();
        configure(root, directory, &lists.switched_off);
        let sources = run(Command::new("perl")
            .arg(env::current_dir().expect("cargo runs this in the package").join("csrc/openssl/sources.pl"))
            .arg(root)
            .current_dir(directory));
        // Paths are relative to the build directory. Some directories of headers exist only in other configurations.
        let listed = |name| all(&sources, name).into_iter().map(|path| directory.join(path));
        let includes = listed("include").filter_map(|path| path.canonicalize().ok()).collect();
        let mut library = Self { includes, objects: Vec::new() };
        let callers: Vec<_> = lists.callers.iter().map(|caller| canonical(&root.join(caller))).collect();
        let replaced: Vec<_> = lists.replaced.keys().map(|caller| canonical(&root.join(caller))).collect();
        let is_plain = |source: &PathBuf| !callers.contains(source) && !replaced.contains(source);
        let plain = listed("source").map(|source| canonical(&source)).filter(is_plain);
        library.objects = library.compiler().files(plain).compile_intermediates();
        let renamed = |functions, files: &[PathBuf]| {
            rename_calls(library.compiler(), functions).files(files).compile_intermediates()
        };
        let mut renaming = renamed(&lists.counted, &callers);
        for (caller, functions) in replaced.iter().zip(lists.replaced.values()) {
            renaming.extend(renamed(functions, slice::from_ref(caller)));
        }
        library.objects.extend(renaming);
        library
    }

    /// The inputs of the objects, and their places.
    fn record(&self, root: &Path) -> String {
        let lines = |name, paths: &[PathBuf]| {
            paths.iter().map(|path| format!("{name} {}\n", path.display())).collect::<String>()
        };
        made_from(root) + &lines("include", &self.includes) + &lines("object", &self.objects)
    }

    /// Compiles the fast arithmetic of secp256r1 (`csrc/openssl/nistz256.c`).
    fn nistz256(&self, root: &Path, directory: &Path) -> Vec<PathBuf> {
        let assembly = generated(root, "crypto/ec/asm/ecp_nistz256-x86_64.pl", &directory.join("nistz256.s"));
        let mut build = self.compiler();
        build.include(root).include(root.join("crypto/ec")).include("csrc/openssl").define("ECP_NISTZ256_ASM", None);
        build.file("csrc/openssl/nistz256.c").file(assembly).flag("-Wa,--noexecstack").compile_intermediates()
    }

    /// Compiles the fast powers for RSA (`csrc/openssl/montgomery.c`). The second script has squarings, which the assembly of the
    /// first one calls.
    fn montgomery(&self, root: &Path, directory: &Path) -> Vec<PathBuf> {
        let [products, squares] = [("x86_64-mont.pl", "products.s"), ("x86_64-mont5.pl", "squares.s")]
            .map(|(script, file)| generated(root, &format!("crypto/bn/asm/{script}"), &directory.join(file)));
        let mut build = self.compiler();
        build.include(root).include("csrc/openssl").include("csrc");
        build.file("csrc/openssl/montgomery.c").files([products, squares]);
        build.flag("-Wa,--noexecstack").compile_intermediates()
    }

    /// A compiler with the options of OpenSSL's makefile.
    fn compiler(&self) -> cc::Build {
        let mut build = cc::Build::new();
        build
            .includes(&self.includes)
            .define("NDEBUG", None)
            .define("OPENSSL_BUILDING_OPENSSL", None)
            .define("OPENSSL_PIC", None)
            // The library reads no files.
            .define("OPENSSLDIR", "\"\"")
            .define("ENGINESDIR", "\"\"")
            .define("MODULESDIR", "\"\"")
            // The world provides the clocks, in `csrc/openssl/session.c`. The macros have arguments, so that they rename only calls.
            .define("time(out)", "slowhand_time(out)")
            .define("gettimeofday(out, zone)", "slowhand_gettimeofday(out, zone)")
            .flag("-pthread")
            // No call inside the library goes through a table of the dynamic linker.
            .flag("-fvisibility=hidden")
            // Compilation without debug information takes a tenth less time.
            .debug(false)
            .warnings(false)
            .opt_level(OPT_LEVEL);
        build
    }
}

/// The assembly that one of OpenSSL's scripts generates. The library without assembly has functions and a variable (the features
/// of the processor, which stay zero) of the same names, so those of the assembly get other names.
fn generated(root: &Path, script: &str, assembly: &Path) -> PathBuf {
    run(Command::new("perl")
        .arg(root.join(script))
        .arg("elf")
        .arg(assembly)
        .env("CC", cc::Build::new().get_compiler().path()));
    let text = fs::read_to_string(assembly).expect("the script has written it");
    let text = text.replace("OPENSSL_ia32cap_P", "slowhand_ia32cap").replace("bn_mul_mont", "slowhand_bn_mul_mont");
    fs::write(assembly, text).expect("it can be written again");
    assembly.to_owned()
}

/// The record for all profiles, in the target directory: this script runs in `target/PROFILE/build/PACKAGE/out`. `None` where
/// Cargo has other directories.
fn shared_record() -> Option<PathBuf> {
    let directory = PathBuf::from(env::var_os("OUT_DIR")?);
    let profile = directory.ancestors().nth(3)?;
    profile.join("build").is_dir().then(|| profile.with_file_name("slowhand-openssl.record"))
}

/// Writes a file at once, because another build may read it.
fn replace(file: &Path, text: &str) {
    let temporary = file.with_extension(std::process::id().to_string());
    let written = fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, file));
    written.expect("the build directory can be written");
}

/// All inputs of the objects.
fn made_from(root: &Path) -> String {
    let compiler = cc::Build::new().debug(false).opt_level(OPT_LEVEL).get_compiler();
    let (script, generator) = (include_str!("openssl.rs"), include_str!("../csrc/openssl/sources.pl"));
    format!("{root:?}\n{:?} {:?} -O{OPT_LEVEL}\n{script}\n{LISTS}\n{generator}\n", compiler.path(), compiler.args())
}

/// Writes OpenSSL's build description. It has no source of randomness, because the device provides all randomness.
fn configure(root: &Path, directory: &Path, switched_off: &[String]) {
    let target = match env::var("CARGO_CFG_TARGET_POINTER_WIDTH").as_deref() {
        Ok("32") => "linux-generic32",
        _ => "linux-generic64",
    };
    run(Command::new("perl")
        .arg(root.join("Configure"))
        .args([target, "--with-rand-seed=none"])
        .args(switched_off.iter().map(|feature| format!("no-{feature}")))
        .env("CC", cc::Build::new().get_compiler().path())
        .current_dir(directory));
}

/// Runs a command, and returns its standard output.
fn run(command: &mut Command) -> String {
    let output =
        command.output().unwrap_or_else(|error| panic!("perl, which configures OpenSSL, cannot be run: {error}"));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        panic!("{command:?}\n{printed}\n{}", String::from_utf8_lossy(&output.stderr));
    }
    printed
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The paths in the lines that begin with `name`.
fn all(lines: &str, name: &str) -> Vec<PathBuf> {
    let paths = lines.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    paths.map(PathBuf::from).collect()
}
