//! Checks that the structs of a C header and their mirrors in Rust have the same layout.
//!
//! This module computes the offset of each field from the header. The C compiler checks the offsets in `csrc/library.c`, and the
//! Rust compiler checks them in the mirror. If a field is moved, added or widened on only one side, the build fails.

use std::fmt::Write as _;

/// A struct of a header, with the offsets of its fields: each at the next multiple of its alignment, as in C.
pub struct Struct {
    pub name: String,
    pub size: usize,
    pub fields: Vec<(String, usize)>,
}

impl Struct {
    /// Reads `struct NAME { ... };` for a target with pointers of `pointer` octets.
    pub fn read(header: &str, name: &str, pointer: usize) -> Self {
        let begin = format!("struct {name} {{");
        let body = header.split(&begin).nth(1).and_then(|rest| rest.split("\n};").next());
        let body = without_comments(body.unwrap_or_else(|| panic!("the header has no struct {name}")));
        let mut read = Self { name: name.to_owned(), size: 0, fields: Vec::new() };
        let mut alignment = 1;
        for declaration in body.split(';').map(str::trim).filter(|declaration| !declaration.is_empty()) {
            for (field, size, count) in declared(declaration, pointer) {
                alignment = alignment.max(size);
                let offset = read.size.next_multiple_of(size);
                read.size = offset + size * count;
                read.fields.push((field, offset));
            }
        }
        read.size = read.size.next_multiple_of(alignment);
        read
    }

    /// The checks of the mirror in Rust. The mirror has the same name.
    pub fn rust(&self) -> String {
        let Self { name, size, fields } = self;
        let mut checks = format!("const _: () = {{\n    assert!(size_of::<{name}>() == {size});\n");
        for (field, offset) in fields {
            let _ = writeln!(checks, "    assert!(std::mem::offset_of!({name}, {field}) == {offset});");
        }
        checks + "};\n"
    }

    /// The checks of the struct in C.
    pub fn c(&self) -> String {
        let Self { name, size, fields } = self;
        let mut checks = format!("_Static_assert(sizeof(struct {name}) == {size}, \"size\");\n");
        for (field, offset) in fields {
            let _ = writeln!(checks, "_Static_assert(offsetof(struct {name}, {field}) == {offset}, \"{field}\");");
        }
        checks
    }
}

/// The fields of a declaration, each with the size and the number of its elements.
fn declared(declaration: &str, pointer: usize) -> Vec<(String, usize, usize)> {
    if let Some((_, rest)) = declaration.split_once("(*") {
        let name = rest.split(')').next().unwrap_or_default();
        return vec![(name.to_owned(), pointer, 1)];
    }
    let words = declaration.trim_start_matches("const ");
    let (base, fields) = words.split_once(' ').unwrap_or_else(|| panic!("no field: {declaration}"));
    let base = match base {
        "char" | "uint8_t" => 1,
        "uint16_t" => 2,
        "int" | "uint32_t" => 4,
        "uint64_t" => 8,
        "size_t" => pointer,
        other => panic!("a type whose size is unknown: {other}"),
    };
    let field = |field: &str| match (field.strip_prefix('*'), field.split_once('[')) {
        (Some(name), _) => (name.to_owned(), pointer, 1),
        (None, Some((name, count))) => {
            (name.to_owned(), base, count.trim_end_matches(']').parse().expect("a number of elements"))
        }
        (None, None) => (field.to_owned(), base, 1),
    };
    fields.split(',').map(|name| field(name.trim())).collect()
}

fn without_comments(text: &str) -> String {
    let mut parts = text.split("/*");
    let mut code = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        code.push_str(part.split_once("*/").map_or("", |(_, rest)| rest));
    }
    code
}
