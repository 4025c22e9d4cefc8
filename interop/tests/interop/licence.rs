//! wolfSSL is under the GPL, so nothing else of the project may link this crate.

use std::process::Command;

use serde_json::Value;

/// Only packages of this workspace can: it is not published.
#[test]
fn no_other_package_depends_on_this_one() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--locked", "--format-version=1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let of = |value: &Value, key: &str| value[key].as_array().unwrap().clone();
    let packages = of(&metadata, "packages");
    assert!(packages.iter().any(|package| package["name"] == "slowhand-interop"), "the list is that of the workspace");
    for package in packages {
        // Of every kind, for every platform, optional or not.
        for dependency in of(&package, "dependencies") {
            assert_ne!(dependency["name"], "slowhand-interop", "{} depends on it", package["name"]);
        }
    }
}
