//! The known holes of the libraries whose sources come in a package: `carriers.toml`, which says what its keys mean.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::config::Stack;

/// The known holes of the version of a library that is built in. SECURITY.md has a line for each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Holes {
    /// Their CVE numbers, or the numbers of issues of the library's project.
    pub known: Vec<String>,
    /// The numbers of those that a peer, or somebody on the path, can reach here.
    pub reached: Vec<String>,
}

#[derive(Deserialize)]
struct Table {
    library: Vec<Library>,
}

#[derive(Deserialize)]
struct Library {
    name: String,
    holes: Vec<Hole>,
}

#[derive(Deserialize)]
struct Hole {
    ids: Vec<String>,
    reached: bool,
}

static TABLE: LazyLock<Table> =
    // The file is part of the program, and a test reads it.
    LazyLock::new(|| toml::from_str(include_str!("../carriers.toml")).expect("carriers.toml has its form"));

/// The known holes of a library: none if no package carries it.
pub(crate) fn holes(stack: Stack) -> Holes {
    let name = stack.to_string();
    let mut found = Holes::default();
    for hole in TABLE.library.iter().filter(|library| library.name == name).flat_map(|library| &library.holes) {
        found.known.extend_from_slice(&hole.ids);
        if hole.reached {
            found.reached.extend_from_slice(&hole.ids);
        }
    }
    found
}
