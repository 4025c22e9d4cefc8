//! The structs of C and their mirrors in Rust: a field that moves on one side does not compile.

use std::fs;
use std::process::Command;

/// The build script uses what is not used here.
#[allow(dead_code)]
#[path = "../../build/layout.rs"]
mod layout;

use layout::Struct;

const HEADER: &str = "struct sample {
    uint8_t a;               /* one octet */
    const uint8_t *b, *c;
    uint16_t d;
    char text[5];
    void (*call)(int, void *);
};";

/// By hand, pointers of 8 octets: each field at the next multiple of its size, the whole a multiple of the largest.
#[test]
fn fields_are_where_c_puts_them() {
    let sample = Struct::read(HEADER, "sample", 8);
    let offsets = [("a", 0), ("b", 8), ("c", 16), ("d", 24), ("text", 26), ("call", 32)];
    assert_eq!(sample.fields, offsets.map(|(name, offset)| (name.to_owned(), offset)));
    assert_eq!(sample.size, 40);
    assert_eq!(Struct::read(HEADER, "sample", 4).size, 24);
}

fn compiles(directory: &str, mirror: &str) -> bool {
    let checks = Struct::read(HEADER, "sample", 8).rust();
    let file = format!("{directory}/{}.rs", mirror.len());
    fs::write(&file, format!("#![allow(dead_code)]\n#[repr(C)]\nstruct sample {{ {mirror} }}\n{checks}")).unwrap();
    let rustc = Command::new("rustc")
        .args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--out-dir", directory, &file])
        .output()
        .unwrap();
    rustc.status.success()
}

#[test]
#[cfg(target_pointer_width = "64")]
fn a_mirror_with_a_moved_field_does_not_compile() {
    let directory = concat!(env!("CARGO_TARGET_TMPDIR"), "/layout");
    fs::create_dir_all(directory).unwrap();
    let call = "call: extern \"C\" fn(i32, *mut u8)";
    assert!(compiles(directory, &format!("a: u8, b: *const u8, c: *const u8, d: u16, text: [i8; 5], {call}")));
    assert!(!compiles(directory, &format!("a: u8, c: *const u8, b: *const u8, d: u16, text: [i8; 5], {call} ")));
    assert!(!compiles(directory, &format!("a: u8, b: *const u8, c: *const u8, d: u32, text: [i8; 5], {call}  ")));
}
