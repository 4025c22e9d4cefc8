//! The crates that carry the sources of C libraries.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The packages of this workspace, as `cargo metadata` lists them.
pub struct Carriers(serde_json::Value);

impl Carriers {
    /// Asks cargo, first without the network, which is enough after `cargo fetch`. A plain `cargo build` downloads only the
    /// crates that it builds, so the second attempt may download the carriers. `--locked` keeps the lock file unchanged.
    pub fn locate() -> Self {
        let run = |network: &[&str]| {
            Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
                .args(["metadata", "--format-version=1", "--locked", "--manifest-path"])
                .arg(Path::new(&env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("Cargo.toml"))
                .args(network)
                .output()
                .unwrap_or_else(|error| panic!("cargo metadata cannot be run: {error}"))
        };
        let mut output = run(&["--offline"]);
        if !output.status.success() {
            output = run(&[]);
        }
        if !output.status.success() {
            panic!(
                "the C sources were not found; run `cargo fetch` once with network access.\n{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Self(serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON"))
    }

    /// The directory of one carrier crate.
    pub fn directory(&self, name: &str) -> PathBuf {
        let manifest = Path::new(self.package(name, "manifest_path"));
        manifest.parent().expect("a manifest is in a directory").to_path_buf()
    }

    /// A field of a package.
    pub fn package(&self, name: &str, field: &str) -> &str {
        self.0["packages"]
            .as_array()
            .and_then(|packages| packages.iter().find(|package| package["name"] == name))
            .and_then(|package| package[field].as_str())
            .unwrap_or_else(|| panic!("{name} is not among the dependencies in Cargo.toml"))
    }
}
