//! Sockets: which port they get. Those of TCP are [`streams`](crate::linux::streams).

use crate::linux::descriptor::set_port;
use crate::linux::threads::{Call, Trial};
use crate::linux::tracee::{self, Pid, Registers};
use crate::linux::tracer::Tracer;
use std::os::fd::AsRawFd;

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
            None => self.answer(tid, entry, -i64::from(libc::EPROTONOSUPPORT)),
        }
    }

    /// A new socket gets a port that follows from the order of sockets, if it asks for none.
    pub(super) fn leave_socket(&mut self, tid: Pid, trial: &Trial, result: i64) {
        let descriptor =
            self.threads.get_mut(tid).filter(|_| result >= 0).and_then(|thread| thread.descriptor(result as u64));
        if let (Some(descriptor), Some(thread)) = (descriptor, self.threads.get(tid)) {
            let site = self.programs[thread.program].kernel;
            let port = self.next_port(site);
            if !self.note_stream(&trial.entry, &descriptor, site, port) {
                let _ = set_port(descriptor.as_raw_fd(), port); // a raw socket has none
            }
        }
        self.finish(tid, &trial.entry, result);
    }

    /// The next port of a host that nobody has asked for.
    pub(crate) fn next_port(&mut self, site: usize) -> u16 {
        let next = &mut self.ports[site];
        let port = FIRST_PORT + *next % PORTS;
        *next = next.wrapping_add(1);
        port
    }
}
