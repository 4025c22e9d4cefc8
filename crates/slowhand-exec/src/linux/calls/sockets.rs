//! Sockets: which port they get, and what they may not do.

use crate::linux::descriptor::{Reach, reach, set_port};
use crate::linux::firmware::Link;
use crate::linux::threads::{Call, Trial};
use crate::linux::tracee::{self, Pid, Registers};
use crate::linux::tracer::Tracer;
use std::io;
use std::os::fd::AsRawFd;

/// The ports that nobody has asked for (RFC 6335 section 6).
const FIRST_PORT: u16 = 49_152;
const PORTS: u16 = 16_384;

/// The longest address of a socket (`struct sockaddr_storage`).
const LONGEST_ADDRESS: u64 = 128;

/// Delayed acknowledgements and retransmissions (RFC 9293, section 3.8) have the time of the machine.
const LOCAL_STREAM: &str =
    "has a connection of TCP on its own host, whose timers are the kernel's: outside of virtual time";

impl Tracer<'_> {
    pub(super) fn enter_socket(&mut self, tid: Pid, entry: Registers) {
        match entry.rdi as i32 {
            libc::AF_INET | libc::AF_INET6 => self.attempt(tid, &entry, Trial::new(entry, Call::Socket, None)),
            _ => tracee::resume(tid, 0),
        }
    }

    /// A new socket gets a port that follows from the order of sockets, if it asks for none.
    pub(super) fn leave_socket(&mut self, tid: Pid, trial: &Trial, result: i64) {
        let descriptor =
            self.threads.get_mut(tid).filter(|_| result >= 0).and_then(|thread| thread.descriptor(result as u64));
        if let (Some(descriptor), Some(thread)) = (descriptor, self.threads.get(tid)) {
            let next = &mut self.ports[self.programs[thread.program].kernel];
            let port = FIRST_PORT + *next % PORTS;
            *next = next.wrapping_add(1);
            let _ = set_port(descriptor.as_raw_fd(), port); // a raw socket has none
        }
        self.finish(tid, &trial.entry, result);
    }

    /// Firmware has made an interface of its own.
    pub(super) fn leave_interface(&mut self, tid: Pid, trial: &Trial, result: i64) {
        if let Some(thread) = self.threads.get(tid).filter(|_| result == 0) {
            let place = self.programs[thread.program].kernel;
            if let Err(error) = self.open_link(tid, place, trial.entry.rdx) {
                let program = self.name_of(tid);
                self.notes.add(&program, &format!("has an interface that leads nowhere: {error}"), true);
            }
        }
        self.finish(tid, &trial.entry, result);
    }

    /// The other side of an interface, which a `struct ifreq` (netdevice(7)) names.
    fn open_link(&mut self, tid: Pid, place: usize, request: u64) -> io::Result<()> {
        let Some(octets) = tracee::read_value::<[u8; libc::IFNAMSIZ + 2]>(tid, request) else { return Ok(()) };
        let (name, flags) = octets.split_at(libc::IFNAMSIZ);
        let name = name.split(|octet| *octet == 0).next().unwrap_or_default();
        let has_frames = i32::from(u16::from_ne_bytes([flags[0], flags[1]])) & libc::IFF_TAP != 0;
        let kernel = &self.kernels[place];
        kernel.enter()?;
        let link = Link::open(&String::from_utf8_lossy(name), has_frames, kernel.host.address())?;
        self.links[place] = Some(link);
        Ok(())
    }

    /// Streams reach programs of the same host only.
    pub(super) fn enter_stream(&mut self, tid: Pid, entry: Registers) {
        let descriptor = self.threads.get_mut(tid).and_then(|thread| thread.descriptor(entry.rdi));
        let is_stream = descriptor.is_some_and(|descriptor| descriptor.is_internet_stream());
        if !is_stream {
            return tracee::resume(tid, 0);
        }
        let program = self.name_of(tid);
        if entry.orig_rax as i64 == libc::SYS_listen {
            let what = "listens for TCP: no TCP comes from the network, only UDP and ICMPv6 do";
            self.notes.add(&program, what, false);
            return tracee::resume(tid, 0);
        }
        let mut address = vec![0; entry.rdx.min(LONGEST_ADDRESS) as usize];
        tracee::read(tid, entry.rsi, &mut address);
        if reach(&address) == Reach::Local {
            self.notes.add(&program, LOCAL_STREAM, true);
            return tracee::resume(tid, 0);
        }
        let what = "was refused a connection of TCP (ENETUNREACH): only UDP and ICMPv6 cross the network";
        self.notes.add(&program, what, false);
        self.answer(tid, entry, -i64::from(libc::ENETUNREACH));
    }

    /// accept(2) has given a socket.
    pub(super) fn note_accepted(&mut self, tid: Pid, socket: i64) {
        let descriptor = self.threads.get_mut(tid).and_then(|thread| thread.descriptor(socket as u64));
        if descriptor.is_some_and(|descriptor| descriptor.is_internet_stream()) {
            let program = self.name_of(tid);
            self.notes.add(&program, LOCAL_STREAM, true);
        }
    }
}
