//! Compiles the C libraries that are only peers in tests, from the sources in their carrier crates, and the adapter of the
//! system's GnuTLS.

#[path = "../crates/slowhand-sessions/build/carriers.rs"]
mod carriers;
#[path = "../crates/slowhand-sessions/build/isolate.rs"]
mod isolate;

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
    build.define("slowhand_stack", format!("slowhand_{name}").as_str());
    build.define("slowhand_host", format!("slowhand_host_of_{name}").as_str());
    build
}

fn wolfssl(root: &Path) {
    const PROTOCOL: &[&str] = &["bio", "crl", "dtls", "dtls13", "internal", "keys", "ssl", "tls", "tls13", "wolfio"];
    const CRYPTOGRAPHY: &[&str] = &[
        "aes",
        "asn",
        "coding",
        "curve25519",
        "ecc",
        "error",
        "evp",
        "fe_operations",
        "hash",
        "hmac",
        "kdf",
        "logging",
        "memory",
        "misc",
        "random",
        "sha",
        "sha256",
        "sha512",
        "signature",
        "sp_int",
        "wc_encrypt",
        "wc_port",
        "wolfmath",
    ];
    let protocol = PROTOCOL.iter().map(|name| root.join(format!("src/{name}.c")));
    let cryptography = CRYPTOGRAPHY.iter().map(|name| root.join(format!("wolfcrypt/src/{name}.c")));
    let mut build = cc::Build::new();
    build
        .include("csrc/wolfssl")
        .include("csrc")
        .include(root)
        .define("WOLFSSL_USER_SETTINGS", None)
        .warnings(false)
        .opt_level(OPT_LEVEL)
        .files(protocol.chain(cryptography))
        .file("csrc/wolfssl/peer.c");
    isolate::compile(&build, Vec::new(), "interop_wolfssl", &["interop_wolfssl"], &[]);
}

/// The system's library, whose symbols have a prefix and versions. Its adapter must stay in one object, because it defines functions
/// of the C library, which nothing else would make the linker take.
fn gnutls() {
    adapter("gnutls").file("csrc/gnutls/stack.c").compile("interop_gnutls");
    println!("cargo::rustc-link-lib=gnutls");
}

/// BoringSSL without assembly. The prefix keeps its symbols apart from those of OpenSSL, of which it has the names.
fn boringssl(root: &Path) {
    const RANDOM: &str = "crypto/rand/deterministic.cc"; // csrc/boringssl/random.cc stands in for it
    let list = fs::read_to_string(root.join("gen/sources.cmake")).expect("the carrier has the list of sources");
    let sources = ["BCM_SOURCES", "CRYPTO_SOURCES", "SSL_SOURCES"].into_iter().flat_map(|name| {
        let after = list.split(&format!("  {name}\n")).nth(1).unwrap_or_else(|| panic!("{name} is not in the list"));
        after.split(')').next().unwrap_or_default().split_whitespace()
    });
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .include("csrc")
        .include(root.join("include"))
        .include(root)
        .define("BORINGSSL_PREFIX", "interop")
        .define("BORINGSSL_IMPLEMENTATION", None)
        .define("BORINGSSL_UNSAFE_DETERMINISTIC_MODE", None)
        .define("OPENSSL_NO_ASM", None)
        .define("OPENSSL_SMALL", None)
        .flags(["-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections"])
        .warnings(false)
        // Half the time of compilation; the arithmetic is fast enough for the tests.
        .opt_level(1)
        .files(sources.filter(|source| *source != RANDOM).map(|source| root.join(source)))
        .file("csrc/boringssl/random.cc")
        .file("csrc/boringssl/peer.cc")
        .compile("interop_boringssl");
}
