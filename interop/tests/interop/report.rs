//! The matrix as a document.

use std::fmt::Write as _;

use slowhand_interop::Peer;

use crate::matrix::{Cell, Cells, LESS_SHORT, Row, SHORT, Section, rows, sections};

/// The peer that only some builds have. The lines of others come from the document as it is.
const SOMETIMES: &str = "BoringSSL";

/// The document. `written` is the one that there is.
pub fn document(cells: &Cells, written: &str) -> String {
    let reasons = reasons(cells);
    let mut document = introduction();
    for (section, table) in sections().into_iter().enumerate() {
        let _ = write!(document, "\n## {}\n\n| peer |", table.title);
        table.cases.iter().for_each(|case| _ = write!(document, " {} |", case.within_section()));
        let _ = writeln!(document, "\n| --- |{}", " --- |".repeat(table.cases.len()));
        for (row, (peer, role)) in rows().into_iter().enumerate() {
            let _ = write!(document, "| {peer}, {role} |");
            for case in 0..table.cases.len() {
                let _ = write!(document, " {} |", words(&cells[&(section, row, case)], peer, &reasons));
            }
            document.push('\n');
        }
        if !has_sometimes() {
            document.push_str(&kept(written, table.title, &format!("| {SOMETIMES}, ")));
        }
        let without_peer = match has_sometimes() {
            true => without_peer(cells, section, table),
            false => kept(written, table.title, WITHOUT_PEER),
        };
        if !without_peer.is_empty() {
            let _ = write!(document, "\n{without_peer}");
        }
    }
    document.push_str("\n## Why not\n\n");
    for (peer, why) in &reasons {
        for (index, why) in why.iter().enumerate() {
            let _ = writeln!(document, "- {peer} {}: {why}", letter(index));
        }
    }
    if !has_sometimes() {
        document.push_str(&kept(written, "Why not", &format!("- {SOMETIMES} ")));
    }
    document
}

fn introduction() -> String {
    format!(
        "# Peers of lean-dtls, session by session

This page has every session that was tried between lean-dtls and another library. [interop.md](../interop.md) has the sums.
The test `interop` of the package `slowhand-interop` writes this page, and fails if it is not true:

```sh
cargo test -p slowhand-interop                       # without BoringSSL
cargo test -p slowhand-interop --features boringssl  # with it: three minutes of compilation, once
```

Each cell is a session between lean-dtls and a peer, which has the role in the first column. Both ends prove their identity, and
the server asks for a cookie. The session runs without faults; then with each datagram of the handshake lost, doubled, and so
late that others overtake it; then all of that again with datagrams of lean-dtls of at most {SHORT} octets. Each time, both ends send
application data afterwards, with heartbeats an answered heartbeat, and with short records also the most that one may have.

- **yes**: all of that works.
- **yes, but**: some faults end the session, or the peer does not keep to what was agreed. The letter says why, in the list at the
  end. If the peer takes no fragments, or none of a ClientHello, all of it runs with datagrams of {LESS_SHORT} octets too.
- **no**: the session cannot be. The test tries it all the same, and fails if it works.
"
    )
}

/// The beginning of the line about the cases that no peer has.
const WITHOUT_PEER: &str = "No peer has";

/// The line about the cases of a table that no peer has.
fn without_peer(cells: &Cells, section: usize, table: &Section) -> String {
    let is_without = |case: &usize| (0..rows().len()).all(|row| matches!(cells[&(section, row, *case)], Cell::No(_)));
    let names = (0..table.cases.len()).filter(is_without).map(|case| table.cases[case].within_section());
    let names = names.collect::<Vec<_>>().join("; nor ");
    if names.is_empty() {
        return names;
    }
    format!("{WITHOUT_PEER} {names}. lean-dtls speaks that with itself alone.\n")
}

fn has_sometimes() -> bool {
    Peer::OTHERS.iter().any(|peer| peer.to_string() == SOMETIMES)
}

/// The reasons of each peer, in the order in which the cells name them.
fn reasons(cells: &Cells) -> Vec<(Peer, Vec<&'static str>)> {
    let mut all: Vec<_> = Peer::OTHERS.iter().map(|peer| (*peer, Vec::new())).collect();
    for ((_, row, _), cell) in cells {
        let (peer, _): Row = rows()[*row];
        let Some((_, known)) = all.iter_mut().find(|(other, _)| *other == peer) else { continue };
        for reason in of(cell) {
            if !known.contains(reason) {
                known.push(*reason);
            }
        }
    }
    all
}

fn of(cell: &Cell) -> &[&'static str] {
    match cell {
        Cell::Yes(reasons) => reasons,
        Cell::No(reason) => std::slice::from_ref(reason),
        Cell::Wrong(_) => &[],
    }
}

fn words(cell: &Cell, peer: Peer, reasons: &[(Peer, Vec<&'static str>)]) -> String {
    let known = reasons.iter().find(|(other, _)| *other == peer).map_or(&[][..], |(_, known)| known);
    let places = of(cell).iter().filter_map(|reason| known.iter().position(|other| other == reason));
    let letters = places.map(|place| letter(place).to_string()).collect::<Vec<_>>().join(", ");
    match cell {
        Cell::Yes(reasons) if reasons.is_empty() => "yes".to_owned(),
        Cell::Yes(_) => format!("yes, but {letters}"),
        Cell::No(_) => format!("no: {letters}"),
        Cell::Wrong(_) => "wrong".to_owned(),
    }
}

fn letter(index: usize) -> char {
    char::from(b'a' + index as u8)
}

/// The lines of a section that begin with this, as they are written.
fn kept(written: &str, title: &str, beginning: &str) -> String {
    let section = written.split("\n## ").find(|section| section.starts_with(title)).unwrap_or_default();
    section.lines().filter(|line| line.starts_with(beginning)).map(|line| format!("{line}\n")).collect()
}
