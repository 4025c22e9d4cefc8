//! The C headers and their mirrors in Rust: what changes on one side does not compile.

use std::fs;
use std::process::Command;

/// The build script uses what is not used here.
#[allow(dead_code)]
#[path = "../../build/layout.rs"]
mod layout;

use layout::{Enum, Struct};

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

fn mirror_compiles(directory: &str, mirror: &str) -> bool {
    let checks = Struct::read(HEADER, "sample", 8).rust();
    compiles(directory, &format!("#[repr(C)]\nstruct sample {{ {mirror} }}\n{checks}"))
}

fn compiles(directory: &str, code: &str) -> bool {
    let directory = format!("{}/layout/{directory}", env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(&directory).unwrap();
    let file = format!("{directory}/code.rs");
    fs::write(&file, format!("#![allow(dead_code)]\n{code}")).unwrap();
    let rustc = Command::new("rustc")
        .args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--out-dir", &directory, &file])
        .output()
        .unwrap();
    rustc.status.success()
}

#[test]
#[cfg(target_pointer_width = "64")]
fn a_mirror_with_a_moved_field_does_not_compile() {
    let call = "call: extern \"C\" fn(i32, *mut u8)";
    let compiles = |mirror: &str| mirror_compiles("structs", &format!("{mirror}, {call}"));
    assert!(compiles("a: u8, b: *const u8, c: *const u8, d: u16, text: [i8; 5]"));
    assert!(!compiles("a: u8, c: *const u8, b: *const u8, d: u16, text: [i8; 5]"));
    assert!(!compiles("a: u8, b: *const u8, c: *const u8, d: u32, text: [i8; 5]"));
}

#[test]
fn the_constants_of_an_enum_count_from_0() {
    let read = Enum::read("enum sample {\n    FIRST, /* one, two */\n    SECOND,\n};", "sample");
    assert_eq!(read.names, ["FIRST", "SECOND"]);
    assert!(compiles("enums", &format!("{}const _: () = assert!(FIRST == 0 && SECOND == 1);", read.rust())));
    assert_eq!(read.c(), "_Static_assert(FIRST == 0, \"FIRST\");\n_Static_assert(SECOND == 1, \"SECOND\");\n");
}

#[test]
fn a_function_with_another_type_than_its_prototype_does_not_compile() {
    let checks =
        layout::functions("#include <stdint.h>\n/* f(); */\nint f(const uint8_t a[32], char *b);\nvoid g(void);\n");
    let compiles = |f: &str| compiles("functions", &format!("{f} {{ 0 }}\nextern \"C\" fn g() {{}}\n{checks}"));
    assert!(compiles("extern \"C\" fn f(a: *const u8, b: *mut std::ffi::c_char) -> i32"));
    assert!(!compiles("extern \"C\" fn f(a: *const u8, b: *mut std::ffi::c_char) -> u32"));
    assert!(!compiles("extern \"C\" fn f(a: *mut u8, b: *mut std::ffi::c_char) -> i32"));
    assert!(!compiles("extern \"C\" fn f(a: *const u8) -> i32"));
    assert!(!compiles("fn f(a: *const u8, b: *mut std::ffi::c_char) -> i32"));
}
