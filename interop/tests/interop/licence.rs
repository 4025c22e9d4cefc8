//! wolfSSL is under the GPL, so nothing else of the project may link this crate.

use std::process::Command;

#[test]
fn no_other_package_depends_on_this_one() {
    // Cargo's own answer: the packages that depend on this one, in any way and with all features.
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--locked",
            "--workspace",
            "--all-features",
            "--target=all",
            "--edges=normal,build,dev",
        ])
        .args(["--invert=slowhand-interop", "--prefix=none", "--format={p}"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let packages = String::from_utf8(output.stdout).unwrap();
    let names: Vec<_> = packages.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names, ["slowhand-interop"], "{}", String::from_utf8_lossy(&output.stderr));
}
