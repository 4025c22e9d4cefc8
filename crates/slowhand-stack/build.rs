//! Generates what Rust has of `slowhand/stack.h`, as the build script of slowhand-sessions does.

#[path = "../slowhand-sessions/build/layout.rs"]
mod layout;

use std::path::PathBuf;
use std::{env, fs};

const HEADER: &str = "../slowhand-sessions/csrc/slowhand/stack.h";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../slowhand-sessions/build/layout.rs");
    println!("cargo::rerun-if-changed={HEADER}");
    // `slowhand stacks add` sets it.
    println!("cargo::rustc-check-cfg=cfg(slowhand_object)");
    let header = fs::read_to_string(HEADER).expect("the header is in the clone of slowhand");
    let directory = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(directory.join("stack.rs"), layout::stack(&header)).expect("the build directory can be written");
}
