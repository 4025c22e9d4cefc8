//! Keeps the C headers and Rust the same: what Rust has of a header is generated from it, types and numbers. It reads declarations as
//! our headers have them, and not all of C.

use std::fmt::Write as _;

/// The Rust side of `slowhand/stack.h`.
pub fn stack(header: &str) -> String {
    const STRUCTS: &[&str] = &[
        "slowhand_host",
        "slowhand_options",
        "slowhand_progress",
        "slowhand_library",
        "slowhand_protocol",
        "slowhand_credential",
        "slowhand_capabilities",
        "slowhand_stack",
    ];
    const ENUMS: &[&str] = &[
        "slowhand_resumption",
        "slowhand_state",
        "slowhand_protocol_name",
        "slowhand_credential_name",
        "slowhand_psk_mode",
    ];
    const DEFINED: &[&str] = &["SLOWHAND_STACK_VERSION", "SLOWHAND_NO_TIMER", "SLOWHAND_NO_DATAGRAMS"];
    let structs = STRUCTS.iter().map(|name| mirror(header, name));
    let constants = ENUMS.iter().map(|name| constants(header, name));
    structs.chain(constants).chain(DEFINED.iter().map(|name| defined(header, name))).collect()
}

/// The text between the braces of `what { ... };`, without comments.
fn body(header: &str, what: &str) -> String {
    let code = without_comments(header);
    let body = code.split(&format!("{what} {{")).nth(1).and_then(|rest| rest.split("\n};").next());
    body.unwrap_or_else(|| panic!("the header has no {what}")).to_owned()
}

/// The mirror in Rust of `struct NAME { ... };`. It is visible in the crate, and a function in it is never null.
pub fn mirror(header: &str, name: &str) -> String {
    let body = body(header, &format!("struct {name}"));
    let mut text = format!("#[repr(C)]\npub(crate) struct {name} {{\n");
    for declaration in body.split(';').map(words).filter(|declaration| !declaration.is_empty()) {
        for (field, kind) in fields(&declaration) {
            let _ = writeln!(text, "    pub(crate) {field}: {kind},");
        }
    }
    text + "}\n"
}

/// The constants in Rust of `enum NAME { ... };`, which count from 0. Rust may need only some of them.
pub fn constants(header: &str, name: &str) -> String {
    let body = body(header, &format!("enum {name}"));
    let names = body.split(',').map(str::trim).filter(|name| !name.is_empty()).enumerate();
    names
        .map(|(value, name)| format!("#[allow(dead_code)]\npub(crate) const {name}: std::ffi::c_int = {value};\n"))
        .collect()
}

/// The constant in Rust of `#define NAME VALUE`: the largest value of a type, or a small number.
pub fn defined(header: &str, name: &str) -> String {
    let begin = format!("#define {name} ");
    let value = header.lines().find_map(|line| line.strip_prefix(&begin)).and_then(|rest| rest.split(' ').next());
    let (kind, value) = match value.unwrap_or_else(|| panic!("the header has no {name}")) {
        "UINT64_MAX" => ("u64", "u64::MAX"),
        "SIZE_MAX" => ("usize", "usize::MAX"),
        number => ("u32", number),
    };
    format!("pub(crate) const {name}: {kind} = {value};\n")
}

/// The names and types in Rust of a declaration of one field or more.
fn fields(declaration: &str) -> Vec<(String, String)> {
    if let Some((result, rest)) = declaration.split_once("(*") {
        let (name, parameters) = rest.split_once(")(").unwrap_or_else(|| panic!("no function: {declaration}"));
        let parameters = parameters.trim_end_matches(')').split(',').map(str::trim).filter(|each| *each != "void");
        let parameters: Vec<_> = parameters.map(|each| typed(each).1).collect();
        let result = match result.trim() {
            "void" => String::new(),
            result => format!(" -> {}", typed(&format!("{result} result")).1),
        };
        return vec![(name.to_owned(), format!("unsafe extern \"C\" fn({}){result}", parameters.join(", ")))];
    }
    let (first, others) = declaration.split_once(',').map_or((declaration, None), |(first, rest)| (first, Some(rest)));
    let base = first[..first.rfind([' ', '*']).expect("a type and a name") + 1].trim_end_matches('*');
    let mut declared = vec![whole(first)];
    for other in others.into_iter().flat_map(|others| others.split(',')) {
        declared.push(whole(&format!("{base}{}", other.trim())));
    }
    declared
}

/// A field with its type, also if it is an array.
fn whole(declaration: &str) -> (String, String) {
    match declaration.split_once('[') {
        None => typed(declaration),
        Some((before, count)) => {
            let (name, kind) = typed(before);
            (name, format!("[{kind}; {}]", count.trim_end_matches(']')))
        }
    }
}

/// The name and the type in Rust of a parameter or a field. An array is a pointer here, as in parameters of C.
fn typed(declaration: &str) -> (String, String) {
    let is_array = declaration.contains('[');
    let declaration = declaration.split('[').next().unwrap_or_default();
    let is_const = declaration.starts_with("const ");
    let words = declaration.trim_start_matches("const ").trim_start_matches("struct ");
    let end = words.find([' ', '*']).unwrap_or_else(|| panic!("no type and name: {declaration}"));
    let (base, name) = words.split_at(end);
    let stars = name.matches('*').count() + usize::from(is_array);
    let mut kind = rust_type(base).to_owned();
    for star in 0..stars {
        kind = format!("{} {kind}", if star == 0 && is_const { "*const" } else { "*mut" });
    }
    (name.trim_start_matches([' ', '*']).to_owned(), kind)
}

fn rust_type(name: &str) -> &str {
    match name {
        "char" => "std::ffi::c_char",
        "int" => "std::ffi::c_int",
        "void" => "std::ffi::c_void",
        "uint8_t" => "u8",
        "uint16_t" => "u16",
        "uint32_t" => "u32",
        "uint64_t" => "u64",
        "size_t" => "usize",
        of_ours if of_ours.starts_with("slowhand_") => of_ours,
        other => panic!("a type without a mirror: {other}"),
    }
}

/// A declaration on one line.
fn words(declaration: &str) -> String {
    declaration.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn without_comments(text: &str) -> String {
    let mut parts = text.split("/*");
    let mut code = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        code.push_str(part.split_once("*/").map_or("", |(_, rest)| rest));
    }
    code
}
