//! The privileges of the thread that carries packets.

use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};
use std::io;

/// Gives up all capabilities of the calling thread, and of what it starts later. Interfaces that are open stay usable:
/// reading and writing needs none.
///
/// # Errors
/// The kernel refused, which it does for no thread that gives up its own capabilities.
pub fn give_up() -> io::Result<()> {
    set_no_new_privs(true)?;
    let none = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}

#[cfg(test)]
mod tests {
    use super::give_up;

    /// proc_pid_status(5): CapEff, CapPrm and CapInh in hexadecimal digits, NoNewPrivs 0 or 1.
    #[test]
    fn a_thread_without_privileges_has_no_capability() {
        let status = std::thread::spawn(|| {
            give_up().unwrap();
            std::fs::read_to_string("/proc/thread-self/status").unwrap()
        });
        let status = status.join().unwrap();
        for line in ["CapEff:\t0000000000000000", "CapPrm:\t0000000000000000", "CapInh:\t0000000000000000"] {
            assert!(status.lines().any(|found| found == line), "{status}");
        }
        assert!(status.contains("NoNewPrivs:\t1"), "{status}");
    }
}
