//! Sockets: which port they get. Those of TCP are [`streams`](crate::linux::streams).

use crate::linux::descriptor::set_port;
use crate::linux::firmware::Link;
use crate::linux::threads::{Call, Trial};
use crate::linux::tracee::{self, Pid, Registers};
use crate::linux::tracer::Tracer;
use std::io;

/// The ports that nobody has asked for (RFC 6335 section 6).
const FIRST_PORT: u16 = 49_152;
const PORTS: u16 = 16_384;

impl Tracer<'_> {
    pub(super) fn enter_socket(&mut self, tid: Pid, entry: Registers) {
        if ![libc::AF_INET, libc::AF_INET6].contains(&(entry.rdi as i32)) {
            return tracee::resume(tid, 0);
        }
        match self.registers_of_stream(&entry) {
            Some(registers) => self.attempt(tid, &registers, Trial::new(entry, Call::Socket, None)),
            None => self.answer(tid, entry, Err(libc::EPROTONOSUPPORT)),
        }
    }

    /// A new socket gets a port that follows from the order of sockets, if it asks for none.
    pub(super) fn leave_socket(&mut self, tid: Pid, trial: &Trial, result: i64) {
        if result >= 0
            && let Some(descriptor) = self.descriptor(tid, result as u64)
        {
            let port = self.next_port();
            if !self.note_stream(&trial.entry, &descriptor, port) {
                let _ = set_port(&descriptor, port); // a raw socket has none
            }
        }
        self.finish(tid, &trial.entry, result);
    }

    /// Firmware has made an interface of its own.
    pub(super) fn leave_interface(&mut self, tid: Pid, trial: &Trial, result: i64) {
        if result == 0
            && let Err(error) = self.open_link(tid, trial.entry.rdx)
        {
            self.note(tid, &format!("has an interface that leads nowhere: {error}"), true);
        }
        self.finish(tid, &trial.entry, result);
    }

    /// The other side of an interface, which a `struct ifreq` (netdevice(7)) names.
    fn open_link(&mut self, tid: Pid, request: u64) -> io::Result<()> {
        let Some(octets) = tracee::read_value::<[u8; libc::IFNAMSIZ + 2]>(tid, request) else { return Ok(()) };
        let (name, flags) = octets.split_at(libc::IFNAMSIZ);
        let name = name.split(|octet| *octet == 0).next().unwrap_or_default();
        let has_frames = i32::from(u16::from_ne_bytes([flags[0], flags[1]])) & libc::IFF_TAP != 0;
        self.kernel.namespace.enter()?;
        let link = Link::open(&String::from_utf8_lossy(name), has_frames, self.kernel.host.address())?;
        if self.link.replace(link).is_some() {
            self.note(tid, "has another interface at its node: only the last one leads to the network", false);
        }
        Ok(())
    }

    /// The next port that nobody has asked for.
    pub(crate) fn next_port(&mut self) -> u16 {
        let port = FIRST_PORT + self.ports % PORTS;
        self.ports = self.ports.wrapping_add(1);
        port
    }
}
