//! The stacks of the user: shared objects in a folder, which `slowhand stacks add` makes.
//!
//! `FOLDER/NAME/stack.so` exports one symbol, `slowhand_stack` (`csrc/slowhand/stack.h`). It is loaded when something first asks for
//! the stack, with its symbols for itself alone, so that two builds of one library can be in one process. It is never unloaded:
//! what it says of itself stays valid.

use std::path::PathBuf;
use std::{env, fs};

use crate::capabilities::Capabilities;
use crate::interface::slowhand_library;

/// The variable that names the folder.
pub const STACKS_FOLDER: &str = "SLOWHAND_STACKS";

/// Why a stack of the user cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stack {name} cannot be used: {}: {problem}", file.display())]
pub struct StackError {
    /// Its name.
    pub name: String,
    /// Its shared object.
    pub file: PathBuf,
    /// The problem with it.
    pub problem: StackProblem,
}

/// A problem with a shared object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StackProblem {
    /// The system cannot load it.
    #[error("{0} (`slowhand stacks add` makes it again)")]
    Loading(String),
    /// It exports no stack.
    #[error(
        "it does not export the symbol slowhand_stack: write SLOWHAND_STACK(capabilities, library); in one of its files"
    )]
    NoSymbol,
    /// It has another version of the interface.
    #[error(
        "it has version {found} of slowhand/stack.h, this slowhand has {allowed}: `slowhand stacks add` makes it again"
    )]
    Version {
        /// That of the object.
        found: u32,
        /// That of this program.
        allowed: u32,
    },
    /// Something that it must have is NULL.
    #[error("{0} is NULL")]
    Missing(String),
    /// It has called a function that no stack may call, or has failed.
    #[error("{0}")]
    Violation(String),
    /// It says of itself what slowhand does not know.
    #[error("its capabilities are wrong: {0}")]
    Capabilities(String),
}

/// A stack that was loaded.
pub(crate) struct Own {
    pub(crate) capabilities: Capabilities,
    pub(crate) library: &'static slowhand_library,
    /// The digest of the build, as `slowhand stacks add` writes it, or that of the object.
    pub(crate) digest: String,
}

/// The folder of the user's stacks: `SLOWHAND_STACKS`, or the one below the folder of the user's data (XDG Base Directory
/// Specification). `None` if the system has neither.
pub fn stacks_folder() -> Option<PathBuf> {
    let set = |variable| env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = || set("XDG_DATA_HOME").or_else(|| Some(set("HOME")?.join(".local/share")));
    set(STACKS_FOLDER).or_else(|| Some(data()?.join("slowhand/stacks")))
}

/// The names of the user's stacks, in order. Each has a shared object, which perhaps cannot be used.
pub fn own_names() -> Vec<String> {
    if !cfg!(unix) {
        return Vec::new();
    }
    let entries = stacks_folder().and_then(|folder| fs::read_dir(folder).ok());
    let names = entries.into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<_> = names.filter(|name| stack_file(name).is_some_and(|file| file.exists())).collect();
    names.sort();
    names
}

/// Where the shared object of a stack of the user is, or would be. `None` if no stack may have such a name: it has small letters,
/// digits, hyphens, points and underscores, at most 40, and begins with a letter. A scenario can choose each of them: none is
/// another value of TOML, or the name of what stands alone.
pub fn stack_file(name: &str) -> Option<PathBuf> {
    let is_usual = |octet: u8| octet.is_ascii_lowercase() || octet.is_ascii_digit() || b"-_.".contains(&octet);
    let is_usual = name.bytes().all(is_usual) && name.starts_with(|first: char| first.is_ascii_lowercase());
    let is_taken = VALUES.contains(&name) || OF_MESSAGES.contains(&name);
    (is_usual && name.len() <= LONGEST_NAME && !is_taken).then(|| Some(stacks_folder()?.join(name).join("stack.so")))?
}

/// The names of what speaks protocols that have one implementation each.
pub(crate) const OF_MESSAGES: [&str; 2] = ["lakers", "slowhand-coap"];

/// Values that would be no name without quotes (TOML 1.0).
const VALUES: [&str; 4] = ["true", "false", "inf", "nan"];

/// Octets of the longest name of a stack: *assumed*, so that tables have room for it.
const LONGEST_NAME: usize = 40;

/// Loads a stack of the user. `None` if there is none of this name.
///
/// # Errors
/// It cannot be used.
#[cfg(unix)]
pub(crate) fn load(name: &'static str) -> Result<Option<Own>, StackError> {
    let Some(file) = stack_file(name).filter(|file| file.exists()) else { return Ok(None) };
    let own = object::open(name, &file);
    own.map(Some).map_err(|problem| StackError { name: name.to_owned(), file, problem })
}

/// A page, and another system, loads nothing.
#[cfg(not(unix))]
pub(crate) fn load(_name: &'static str) -> Result<Option<Own>, StackError> {
    Ok(None)
}

#[cfg(unix)]
mod object {
    use std::fs;
    use std::mem;
    use std::path::Path;

    use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

    use sha2::{Digest, Sha256};

    use super::{Own, StackProblem};
    use crate::config::{Arithmetic, Stack};
    use crate::crash::Running;
    use crate::device::{self, Device, WORLD_BEGAN};
    use crate::interface::{SLOWHAND_STACK_VERSION, slowhand_library, slowhand_stack};
    use crate::{c_library, crash, declared, host};

    pub(super) fn open(name: &'static str, file: &Path) -> Result<Own, StackProblem> {
        let failed = |error: libloading::Error| StackProblem::Loading(error.to_string());
        crash::watch();
        let _running = Running::enter(Stack(name));
        // SAFETY: the user has put the object there to be run: its constructors may do what any program of the user may.
        let object = unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL) }.map_err(failed)?;
        // SAFETY: only the address of the symbol is asked for.
        let symbol = unsafe { object.get::<*const slowhand_stack>(b"slowhand_stack\0") };
        let stack = symbol.map_err(|_| StackProblem::NoSymbol)?.as_raw_ptr().cast::<slowhand_stack>();
        // The object stays as long as the program.
        mem::forget(object);
        // SAFETY: the symbol is a constant that the header has made. Whatever the version of the header was, it comes first.
        let found = unsafe { (*stack).version };
        if found != SLOWHAND_STACK_VERSION {
            return Err(StackProblem::Version { found, allowed: SLOWHAND_STACK_VERSION });
        }
        // SAFETY: an object of this version has the constant as the header says.
        unsafe { read(name, &*stack, file) }
    }

    /// # Safety
    /// The stack is a constant of an object that is never unloaded, and its pointers are NULL or as the header says.
    unsafe fn read(name: &'static str, stack: &'static slowhand_stack, file: &Path) -> Result<Own, StackProblem> {
        const FUNCTIONS: usize = size_of::<slowhand_library>() / size_of::<usize>();
        let pointers = [
            ("host", stack.host.is_null()),
            ("capabilities", stack.capabilities.is_null()),
            ("library", stack.library.is_null()),
        ];
        if let Some((missing, _)) = pointers.iter().find(|(_, is_null)| *is_null) {
            return Err(StackProblem::Missing(format!("slowhand_stack.{missing}")));
        }
        // SAFETY: the table has nothing but pointers to functions, and an address may be 0 where such a pointer must not.
        let addresses = unsafe { &*stack.library.cast::<[usize; FUNCTIONS]>() };
        if let Some(at) = addresses.iter().position(|address| *address == 0) {
            return Err(StackProblem::Missing(format!("function {} of slowhand_stack.library", at + 1)));
        }
        host::attach(stack);
        // SAFETY: none of the pointers is NULL, and they are as the header says.
        let (library, declared) = unsafe { (&*stack.library, &*stack.capabilities) };
        let mut device = Device::new(None, [0; 32], WORLD_BEGAN, Arithmetic::default());
        // SAFETY: the caller's duty.
        let capabilities = device.run(|| unsafe { declared::read(Stack(name), declared, Some(library)) });
        if let Some(violation) = device.run(device::take_violation) {
            return Err(StackProblem::Violation(c_library::words(Stack(name), &violation)));
        }
        let capabilities = capabilities.map_err(StackProblem::Capabilities)?;
        Ok(Own { capabilities, library, digest: digest(file)? })
    }

    /// The digest that `slowhand stacks add` has written beside the object, if it was for this object; else that of the object.
    fn digest(file: &Path) -> Result<String, StackProblem> {
        let object = fs::read(file).map_err(|error| StackProblem::Loading(error.to_string()))?;
        let hash = device::hex(&Sha256::digest(object));
        let written = fs::read_to_string(file.with_file_name("digest")).unwrap_or_default();
        Ok(match written.split_once(char::is_whitespace) {
            Some((digest, of)) if of.trim() == hash => digest.to_owned(),
            _ => hash[..DIGITS].to_owned(),
        })
    }

    /// Hexadecimal digits that name an object: as many as `slowhand stacks add` writes.
    const DIGITS: usize = 16;
}
