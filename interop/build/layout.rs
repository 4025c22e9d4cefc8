//! Keeps the C headers and Rust the same.
//!
//! - Structs: this module computes the offset of each field from the header. The C compiler checks the offsets beside the
//!   header, and the Rust compiler checks them in the mirror. If a field is moved, added or widened on only one side, the build
//!   fails.
//! - Numbers: Rust gets its constants from the header, and the C compiler checks the values of the enums.
//! - Functions that C calls: the Rust compiler checks their types against the prototypes.

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

/// An enum of a header whose constants count from 0.
pub struct Enum {
    pub names: Vec<String>,
}

impl Enum {
    /// Reads `enum NAME { ... };`.
    pub fn read(header: &str, name: &str) -> Self {
        let begin = format!("enum {name} {{");
        let body = header.split(&begin).nth(1).and_then(|rest| rest.split("\n};").next());
        let body = without_comments(body.unwrap_or_else(|| panic!("the header has no enum {name}")));
        Self { names: body.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect() }
    }

    /// The constants in Rust. Rust may need only some of them.
    pub fn rust(&self) -> String {
        let constant = |(value, name)| format!("#[allow(dead_code)]\nconst {name}: std::ffi::c_int = {value};\n");
        self.names.iter().enumerate().map(constant).collect()
    }

    /// The checks of the values in C.
    pub fn c(&self) -> String {
        let check = |(value, name)| format!("_Static_assert({name} == {value}, \"{name}\");\n");
        self.names.iter().enumerate().map(check).collect()
    }
}

/// The constant in Rust of `#define NAME LIMIT`, where the limit is the largest value of a type.
pub fn limit(header: &str, name: &str) -> String {
    let begin = format!("#define {name} ");
    let limit = header.lines().find_map(|line| line.strip_prefix(&begin));
    let base = match limit.unwrap_or_else(|| panic!("the header has no {name}")) {
        "UINT64_MAX" => "u64",
        "SIZE_MAX" => "usize",
        other => panic!("an unknown limit: {other}"),
    };
    format!("const {name}: {base} = {base}::MAX;\n")
}

/// The checks that functions in Rust have the types of the prototypes of a header.
pub fn functions(header: &str) -> String {
    let code = without_comments(header);
    let code = code.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join(" ");
    let prototypes = code.split(';').map(str::trim).filter(|prototype| !prototype.is_empty());
    prototypes.map(function).collect()
}

fn function(prototype: &str) -> String {
    let (head, parameters) = prototype.split_once('(').unwrap_or_else(|| panic!("no function: {prototype}"));
    let (result, name) = head.rsplit_once(' ').unwrap_or_else(|| panic!("no function: {prototype}"));
    let parameters =
        parameters.trim_end_matches(')').split(',').map(str::trim).filter(|parameter| *parameter != "void");
    let parameters = parameters.map(parameter).collect::<Vec<_>>().join(", ");
    let result = if result == "void" { String::new() } else { format!(" -> {}", rust_type(result)) };
    format!("const _: unsafe extern \"C\" fn({parameters}){result} = {name};\n")
}

/// The type in Rust of a parameter. An array is passed as a pointer.
fn parameter(declaration: &str) -> String {
    let is_pointer = declaration.contains(['*', '[']);
    let is_const = declaration.starts_with("const ");
    let base = declaration.trim_start_matches("const ").split(' ').next().unwrap_or_default();
    match (is_pointer, is_const) {
        (true, true) => format!("*const {}", rust_type(base)),
        (true, false) => format!("*mut {}", rust_type(base)),
        (false, _) => rust_type(base).to_owned(),
    }
}

fn rust_type(name: &str) -> &'static str {
    match name {
        "char" => "std::ffi::c_char",
        "int" => "std::ffi::c_int",
        "uint8_t" => "u8",
        "uint16_t" => "u16",
        "uint32_t" => "u32",
        "uint64_t" => "u64",
        "size_t" => "usize",
        other => panic!("a type without a mirror: {other}"),
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
        // Only pointers are of type void.
        "char" | "uint8_t" | "void" => 1,
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
