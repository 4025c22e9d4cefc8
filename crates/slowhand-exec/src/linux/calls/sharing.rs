//! Things that programs at other hosts can see without the network: files, sockets in folders, objects of System V.
//!
//! Hosts run side by side as long as each of them only reads these. One that is about to change them waits until the others
//! rest, and from then on runs while no other host does. So what a program reads does not depend on which thread of slowhand was
//! faster.

use crate::linux::filter::CHANGES;
use crate::linux::tracee::{self, Pid, Registers};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

/// Files that may be opened for writing, and through which nobody meets anybody: devices that keep nothing, the clone device
/// of interfaces, and what each program has of its own from its start.
const PRIVATE: &[&[u8]] = &[
    b"/dev/null",
    b"/dev/zero",
    b"/dev/full",
    b"/dev/random",
    b"/dev/urandom",
    b"/dev/tty",
    b"/dev/net/tun",
    b"/dev/stdout",
    b"/dev/stderr",
    b"/proc/self/fd/1",
    b"/proc/self/fd/2",
    b"/proc/self/fd/3",
];

/// The longest path that is read: those of [`PRIVATE`] are shorter, and one of a socket has no more (unix(7)).
const LONGEST: usize = 108;

/// Octets of a page of memory.
const PAGE: usize = 4096;

/// True if a call that is about to be made may change what programs at other hosts can see.
pub(super) fn is_seen_by_others(tid: Pid, entry: &Registers) -> bool {
    match entry.orig_rax as i64 {
        libc::SYS_open => !is_private(tid, entry.rdi),
        libc::SYS_openat => !is_private(tid, entry.rsi),
        // The kernel has locks, leases and notices of fcntl(2) for all that have the file.
        libc::SYS_fcntl | libc::SYS_flock => true,
        // One of datagrams may send to any path, as to the log of the system.
        libc::SYS_socket => entry.rdi as i32 == libc::AF_UNIX && entry.rsi as i32 & 0xf == libc::SOCK_DGRAM,
        libc::SYS_bind => path_of_socket(tid, entry).is_some(),
        // Where nothing is, nothing happens: the C library asks for the daemon of names in this way.
        libc::SYS_connect => path_of_socket(tid, entry).is_some_and(|path| is_there(tid, &path)),
        number => CHANGES.contains(&number),
    }
}

fn is_private(tid: Pid, address: u64) -> bool {
    PRIVATE.contains(&&text_at(tid, address)[..])
}

/// A text of the memory of a thread, up to its zero.
fn text_at(tid: Pid, address: u64) -> Vec<u8> {
    let mut text = Vec::new();
    while text.len() < LONGEST {
        let place = address.wrapping_add(text.len() as u64);
        let mut part = vec![0; (LONGEST - text.len()).min(PAGE - place as usize % PAGE)]; // the next page may not be there
        if !tracee::read(tid, place, &mut part) {
            break;
        }
        let end = part.iter().position(|octet| *octet == 0);
        text.extend(&part[..end.unwrap_or(part.len())]);
        if end.is_some() {
            break;
        }
    }
    text
}

/// The path that is the address of a socket (unix(7)). `None`: the address is another one, such as an abstract one, which belongs
/// to the network namespace of the host.
fn path_of_socket(tid: Pid, entry: &Registers) -> Option<Vec<u8>> {
    let family = tracee::read_value::<[u8; 2]>(tid, entry.rsi)?;
    if i32::from(u16::from_ne_bytes(family)) != libc::AF_UNIX || entry.rdx <= 2 {
        return None;
    }
    Some(text_at(tid, entry.rsi.wrapping_add(2))).filter(|path| !path.is_empty())
}

/// True if something has this path, as a thread sees it.
fn is_there(tid: Pid, path: &[u8]) -> bool {
    let begin = if path.first() == Some(&b'/') { "root" } else { "cwd/" };
    let path = OsString::from_vec([format!("/proc/{tid}/{begin}").as_bytes(), path].concat());
    Path::new(&path).try_exists().unwrap_or(true)
}
