//! Compiles the C libraries that are only peers in tests, from the sources in their carrier crates, and the adapter of the
//! system's GnuTLS.

#[path = "../crates/slowhand-sessions/build/carriers.rs"]
mod carriers;
#[path = "../crates/slowhand-sessions/build/isolate.rs"]
mod isolate;

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use carriers::Carriers;

/// The header of stacks, and the adapters of the libraries that `slowhand stacks add` makes.
const CSRC: &str = "../crates/slowhand-sessions/csrc";

/// As for the libraries of slowhand-sessions.
const OPT_LEVEL: u32 = 2;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../crates/slowhand-sessions/build");
    println!("cargo::rerun-if-changed=Cargo.toml");
    println!("cargo::rerun-if-changed=csrc");
    println!("cargo::rerun-if-changed={CSRC}");
    let carriers = Carriers::locate("interop");
    wolfssl(&carriers.directory("wolfssl-sys").join("wolfssl-src"));
    gnutls();
    if env::var_os("CARGO_FEATURE_BORINGSSL").is_some() {
        boringssl(&carriers.directory("boring-sys").join("deps/boringssl"));
    }
}

/// A compiler for an adapter: the stack, and the host as it sees it, have names of their own, because all are in one program.
fn adapter(name: &str) -> cc::Build {
    let mut build = cc::Build::new();
    build.include(CSRC);
    build.define("slowhand_stack", format!("slowhand_stack_of_{name}").as_str());
    build.define("slowhand_host", format!("slowhand_host_of_{name}").as_str());
    build
}

/// The files of the adapter and of the library, and the calls that lead to the adapter, as `slowhand stacks add` compiles them.
fn wolfssl(root: &Path) {
    let adapter_folder = Path::new(CSRC).join("wolfssl");
    let lists: WolfsslSources = read(&adapter_folder.join("sources.json"));
    let build = || {
        let mut build = adapter("wolfssl");
        build.include(&adapter_folder).include(root).define("WOLFSSL_USER_SETTINGS", None);
        build.warnings(false).opt_level(OPT_LEVEL);
        build
    };
    let mut objects = Vec::new();
    for part in &lists.parts {
        let mut renaming = build();
        part.renamed.iter().for_each(|name| _ = renaming.define(name, format!("slowhand_{name}").as_str()));
        let files = part.files.iter().map(|name| root.join(format!("{name}.c")));
        objects.extend(renaming.files(files).compile_intermediates());
    }
    let mut own = build();
    own.files(lists.adapter.iter().map(|name| adapter_folder.join(format!("{name}.c"))));
    isolate::compile(&own, objects, "slowhand_wolfssl", &["slowhand_stack_of_wolfssl"], &[]);
}

/// `csrc/wolfssl/sources.json`.
#[derive(serde::Deserialize)]
struct WolfsslSources {
    adapter: Vec<String>,
    parts: Vec<WolfsslPart>,
}

#[derive(serde::Deserialize)]
struct WolfsslPart {
    files: Vec<String>,
    renamed: Vec<String>,
}

/// The system's library, whose symbols have a prefix and versions. Its adapter must stay in one object, because it defines functions
/// of the C library, which nothing else would make the linker take.
fn gnutls() {
    adapter("gnutls").file("csrc/gnutls/stack.c").compile("interop_gnutls");
    println!("cargo::rustc-link-lib=gnutls");
}

/// BoringSSL, as `slowhand stacks add` compiles it. The prefix keeps its symbols apart from those of OpenSSL, of which it has the
/// names.
fn boringssl(root: &Path) {
    let adapter_folder = Path::new(CSRC).join("boringssl");
    let about: BoringsslSources = read(&adapter_folder.join("sources.json"));
    let list = fs::read_to_string(root.join("gen/sources.cmake")).expect("the carrier has the list of sources");
    let sources = about.lists.iter().flat_map(|name| {
        let after = list.split(&format!("  {name}\n")).nth(1).unwrap_or_else(|| panic!("{name} is not in the list"));
        after.split(')').next().unwrap_or_default().split_whitespace()
    });
    let sources = sources.filter(|file| !about.left_out.iter().any(|prefix| file.starts_with(prefix.as_str())));
    let build = || {
        let mut build = adapter("boringssl");
        build.cpp(true).std("c++17").include(root.join("include")).include(root).flags(&about.flags);
        build.flag("-fvisibility=hidden").warnings(false).debug(false).opt_level(1);
        build
    };
    let mut whole = build();
    for source in sources {
        match about.renamed.get(source) {
            None => _ = whole.file(root.join(source)),
            Some(names) => {
                let mut renaming = build();
                names.iter().for_each(|(old, new)| _ = renaming.define(old, new.as_str()));
                renaming
                    .file(root.join(source))
                    .compile_intermediates()
                    .iter()
                    .for_each(|object| _ = whole.object(object));
            }
        }
    }
    whole.files(about.own.iter().map(|file| adapter_folder.join(file))).compile("slowhand_boringssl");
}

/// `csrc/boringssl/sources.json`.
#[derive(serde::Deserialize)]
struct BoringsslSources {
    lists: Vec<String>,
    left_out: Vec<String>,
    flags: Vec<String>,
    renamed: BTreeMap<String, BTreeMap<String, String>>,
    own: Vec<String>,
}

fn read<T: serde::de::DeserializeOwned>(file: &Path) -> T {
    let text = fs::read_to_string(file).expect("the list is in the repository");
    serde_json::from_str(&text).expect("the list has its form")
}
