//! The crates that carry the sources of C libraries.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The packages of this workspace, as `cargo metadata` lists them.
pub struct Carriers(serde_json::Value);

impl Carriers {
    /// Asks cargo, first without the network. The second attempt may download the carriers, which `cargo build` does not. They
    /// are dependencies for those who have the cfg `slowhand_carriers` with the name of this `package`, and only `cargo metadata`
    /// has it here. It leaves out what is for other platforms. `--locked` keeps the lock file unchanged.
    pub fn locate(package: &str) -> Self {
        let run = |network: &[&str]| {
            Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
                .args(["metadata", "--format-version=1", "--locked", "--manifest-path"])
                .arg(Path::new(&env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("Cargo.toml"))
                .arg("--filter-platform")
                .arg(env::var_os("HOST").expect("cargo sets it"))
                .args(network)
                .env_remove("CARGO_ENCODED_RUSTFLAGS")
                .env("RUSTFLAGS", format!("--cfg slowhand_carriers=\"{package}\""))
                .output()
                .unwrap_or_else(|error| panic!("cargo metadata cannot be run: {error}"))
        };
        let mut output = run(&["--offline"]);
        if !output.status.success() {
            output = run(&[]);
        }
        if !output.status.success() {
            panic!(
                "the C sources were not found; run this once with network access.\n{}",
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
