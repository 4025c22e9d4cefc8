//! The Rust side of the C headers is the same as the headers.

use std::fmt::Write as _;
use std::fs;
use std::mem::offset_of;
use std::process::Command;

/// The build script uses what is not used here.
#[allow(dead_code)]
#[path = "../../build/layout.rs"]
mod layout;

/// The constants that the build script has generated.
#[allow(dead_code, non_camel_case_types)]
mod interface {
    include!(concat!(env!("OUT_DIR"), "/mirrors/stack.rs"));
}

use interface::*;

const HEADER: &str = "struct sample {
    uint8_t a;               /* one octet; two */
    const uint8_t *b, *c;
    const struct slowhand_sample **d;
    char text[5];
    void (*call)(int a, void *b, const uint8_t c[32]);
    const char *(*name)(void);
};
enum kinds {
    FIRST, /* one, two */
    SECOND,
};
#define VERSION 7
#define MOST SIZE_MAX";

#[test]
fn a_struct_has_the_types_of_the_header() {
    let expected = "#[repr(C)]
pub(crate) struct sample {
    pub(crate) a: u8,
    pub(crate) b: *const u8,
    pub(crate) c: *const u8,
    pub(crate) d: *mut *const slowhand_sample,
    pub(crate) text: [std::ffi::c_char; 5],
    pub(crate) call: unsafe extern \"C\" fn(std::ffi::c_int, *mut std::ffi::c_void, *const u8),
    pub(crate) name: unsafe extern \"C\" fn() -> *const std::ffi::c_char,
}
";
    assert_eq!(layout::mirror(HEADER, "sample"), expected);
}

#[test]
fn constants_are_those_of_the_header() {
    let constants = layout::constants(HEADER, "kinds");
    for (name, value) in [("FIRST", 0), ("SECOND", 1)] {
        assert!(constants.contains(&format!("pub(crate) const {name}: std::ffi::c_int = {value};\n")), "{constants}");
    }
    assert_eq!(layout::defined(HEADER, "VERSION"), "pub(crate) const VERSION: u32 = 7;\n");
    assert_eq!(layout::defined(HEADER, "MOST"), "pub(crate) const MOST: usize = usize::MAX;\n");
}

/// The compiler of C says where the fields are.
#[test]
fn fields_are_where_c_has_them() {
    let mut expected = String::new();
    let mut code = "#include \"slowhand/stack.h\"\n#include <stdio.h>\nint main(void)\n{\n".to_owned();
    let mut add = |name: &str, size: usize, fields: &[(&str, usize)]| {
        let _ = writeln!(expected, "{name} {size}");
        let _ = writeln!(code, "printf(\"{name} %zu\\n\", sizeof(struct {name}));");
        for (field, offset) in fields {
            let _ = writeln!(expected, "{field} {offset}");
            let _ = writeln!(code, "printf(\"{field} %zu\\n\", offsetof(struct {name}, {field}));");
        }
    };
    macro_rules! fields {
        ($name:ident: $($field:ident),*) => {
            add(stringify!($name), size_of::<$name>(), &[$((stringify!($field), offset_of!($name, $field))),*])
        };
    }
    fields!(slowhand_host: now_ns, verified, cbc, rsa_decrypt, p256_sign, inverse, allocate, violation, failed);
    fields!(slowhand_options: suite_name, psk_len, trusted_len, peer_y, mtu, max_fragment_length, previous, connection_id);
    fields!(slowhand_progress: state, code, deadline_ns, words);
    fields!(slowhand_library: create, close, max_data, version);
    fields!(slowhand_protocol: resumptions, fragment_lengths);
    fields!(slowhand_credential: minimum_mtu);
    fields!(slowhand_capabilities: licence, fragments, connection_id, longest_psk, first_timeout_ns, remark);
    fields!(slowhand_stack: host, capabilities, library);
    code.push_str("return 0;\n}\n");
    let directory = format!("{}/mirrors", env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(&directory).unwrap();
    let [source, program] = ["sizes.c", "sizes"].map(|file| format!("{directory}/{file}"));
    fs::write(&source, code).unwrap();
    let include = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/csrc");
    assert!(Command::new("cc").args([include, "-o", &program, &source]).status().unwrap().success());
    assert_eq!(String::from_utf8(Command::new(program).output().unwrap().stdout).unwrap(), expected);
}
