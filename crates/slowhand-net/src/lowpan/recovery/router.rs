//! The routers between the two ends (RFC 8931 section 6.1). The first fragment sets up the path. The other fragments
//! follow it, and acknowledgements come back along it.

use super::super::cursor::Writer;
use super::super::forwarding::{Discard, Limits, Route, emit_headers, first_octets, take_hop};
use super::super::reassembly::MAX_TIMEOUT;
use super::super::{Contexts, Error, Link, MAX_HEADERS, decompress};
use super::{Rfrag, RfragAck};
use crate::address::Eui64;
use crate::clock::Instant;

/// The next step for a recoverable fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The packet is for this node: give the fragment to the [`Receiver`](super::Receiver).
    Local,
    /// No path is known, because the first fragment has not arrived. If the receiver [knows](super::Receiver::knows)
    /// the packet, give the fragment to it. Else send back the answer, if any: it makes the sender give the packet up
    /// (RFC 8931 section 6.1.2).
    Unknown(Option<RfragAck>),
    /// Send the payload in the output buffer.
    Forward {
        /// The next hop.
        to: Eui64,
        /// The octets of the payload.
        length: usize,
    },
    /// The fragment was discarded. The answer, if any, makes the sender give the packet up.
    Discarded(Discard, Option<RfragAck>),
}

/// The paths through a node.
///
/// Call [`handle_timeout`](Self::handle_timeout) at the [`deadline`](Self::deadline).
#[derive(Clone, Debug)]
pub struct Router {
    own: Eui64,
    contexts: Contexts,
    limits: Limits,
    paths: Vec<Path>,
    peak: usize,
}

/// A virtual reassembly buffer: the previous hop and the next hop of a packet, each with its tag.
#[derive(Clone, Copy, Debug)]
struct Path {
    from: (Eui64, u8),
    to: (Eui64, u8),
    /// The most octets of payload in a frame to the next node.
    capacity: usize,
    /// The octets by which the compressed header has grown at this node; fewer than zero if it has shrunk. The offsets of later
    /// fragments grow by as
    /// much.
    growth: i16,
    used: Instant,
    /// True if the packet is complete. The path stays until another packet needs the entry: the acknowledgement may get
    /// lost, and the sender then requests it again.
    is_over: bool,
}

impl Router {
    /// A router without paths, for the node `own`. A path is deleted when it was not used for the timeout.
    pub fn new(own: Eui64, limits: Limits, contexts: Contexts) -> Self {
        let limits = Limits { timeout: limits.timeout.min(MAX_TIMEOUT), ..limits };
        Self { own, contexts, limits, paths: Vec::new(), peak: 0 }
    }

    /// Handles the payload of a frame from the neighbour `from`. Writes the payload to forward into `out`, whose length
    /// is the capacity of a frame. A node that is `congested` sets the congestion flag.
    ///
    /// It calls `route` as [`Forwarder::handle_fragment`](super::super::Forwarder::handle_fragment) does. The tag that
    /// `route` gives must fit into an octet.
    pub fn handle_fragment(
        &mut self,
        now: Instant,
        from: Eui64,
        payload: &[u8],
        congested: bool,
        route: impl FnOnce(&mut [u8], bool) -> Route,
        out: &mut [u8],
    ) -> Outcome {
        let (header, fragment) = match Rfrag::parse(payload) {
            Ok((header, fragment)) => (Rfrag { congestion: header.congestion | congested, ..header }, fragment),
            Err(error) => return Outcome::Discarded(error.into(), None),
        };
        let known = self.paths.iter().position(|path| path.from == (from, header.tag));
        if let Some(path) = known {
            self.paths[path].used = now;
        }
        let is_abort = header.fragment_offset == 0;
        let forwarded = match known {
            _ if header.sequence == 0 && !is_abort => self.first(now, known, from, header, fragment, route, out),
            Some(path) => self.later(path, header, fragment, out),
            None => return Outcome::Unknown((!is_abort).then(|| header.refusal())),
        };
        if let Some(path) = known.filter(|_| is_abort) {
            self.paths.remove(path);
        }
        forwarded.unwrap_or_else(|reason| Outcome::Discarded(reason, Some(header.refusal())))
    }

    /// Handles an acknowledgement from the neighbour `from`. Returns the previous hop and the acknowledgement to send to
    /// it; `None` if no path is known.
    pub fn handle_acknowledgement(
        &mut self,
        now: Instant,
        from: Eui64,
        acknowledgement: &RfragAck,
    ) -> Option<(Eui64, RfragAck)> {
        let index = self.paths.iter().position(|path| path.to == (from, acknowledgement.tag))?;
        let (to, tag) = self.paths[index].from;
        match acknowledgement.bitmap {
            RfragAck::NULL => drop(self.paths.remove(index)),
            bitmap => {
                self.paths[index].used = now;
                self.paths[index].is_over |= bitmap == RfragAck::FULL;
            }
        }
        Some((to, RfragAck { tag, ..*acknowledgement }))
    }

    /// The time of the next timeout.
    pub fn deadline(&self) -> Option<Instant> {
        self.paths.iter().map(|path| path.used + self.limits.timeout).min()
    }

    /// Deletes the paths whose timeout has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        let timeout = self.limits.timeout;
        self.paths.retain(|path| path.used + timeout > now);
    }

    /// True if a packet is forwarded with this tag.
    pub fn uses_tag(&self, tag: u8) -> bool {
        self.paths.iter().any(|path| path.to.1 == tag)
    }

    /// The number of paths now.
    pub fn occupancy(&self) -> usize {
        self.paths.len()
    }

    /// The largest number of paths so far.
    pub const fn peak(&self) -> usize {
        self.peak
    }

    #[allow(clippy::too_many_arguments)] // the arguments of `handle_fragment`, and the parsed header
    fn first(
        &mut self,
        now: Instant,
        known: Option<usize>,
        from: Eui64,
        header: Rfrag,
        fragment: &[u8],
        route: impl FnOnce(&mut [u8], bool) -> Route,
        out: &mut [u8],
    ) -> Result<Outcome, Discard> {
        // Nobody compresses payloads of fragments that are recovered.
        let mut headers = [0; MAX_HEADERS];
        let link = Link { source: from, destination: self.own };
        let done = decompress(fragment, link, &self.contexts, None, &mut headers)?;
        let headers = &mut headers[..done.written];
        let (to, capacity, congested) = match (known, route(headers, known.is_none())) {
            (Some(path), _) => (self.paths[path].to, self.paths[path].capacity, false),
            (None, Route::Local) => return Ok(Outcome::Local),
            (None, Route::Next { to, tag, congested, capacity }) => ((to, tag as u8), capacity, congested),
            (None, Route::None) => return Err(Discard::NoRoute),
        };
        if done.checksum_elided {
            return Err(Discard::ChecksumElided);
        }
        take_hop(headers, congested)?;
        let link = Link { source: self.own, destination: to.0 };
        let (head, body) = first_octets(out, capacity).split_at_mut_checked(Rfrag::LENGTH).ok_or(Discard::NoSlack)?;
        let mut body = Writer::new(body);
        emit_headers(headers, done.form(), link, &self.contexts, &mut body)
            .and_then(|()| body.slice(&fragment[done.consumed..]))
            .map_err(|_| Discard::NoSlack)?;
        // Both are lengths of one frame's payload.
        let growth = body.written() as i16 - fragment.len() as i16;
        if known.is_none() {
            self.open(Path { from: (from, header.tag), to, capacity, growth, used: now, is_over: false })?;
        }
        let header = Rfrag { tag: to.1, fragment_size: body.written() as u16, ..header }.moved(growth)?;
        head.copy_from_slice(&header.emit());
        Ok(Outcome::Forward { to: to.0, length: Rfrag::LENGTH + body.written() })
    }

    fn later(&mut self, path: usize, header: Rfrag, fragment: &[u8], out: &mut [u8]) -> Result<Outcome, Discard> {
        let Path { to: (to, tag), capacity, growth, .. } = self.paths[path];
        let header = Rfrag { tag, ..header };
        let header = if header.fragment_offset == 0 { header } else { header.moved(growth)? };
        let mut out = Writer::new(first_octets(out, capacity));
        out.slice(&header.emit()).and_then(|()| out.slice(fragment)).map_err(|_| Discard::NoSlack)?;
        Ok(Outcome::Forward { to, length: out.written() })
    }

    /// Adds a path. If the table is full, it replaces the oldest path whose packet is complete.
    fn open(&mut self, path: Path) -> Result<(), Discard> {
        if self.paths.len() == self.limits.entries {
            let over = self.paths.iter().position(|path| path.is_over).ok_or(Discard::Full)?;
            self.paths.remove(over);
        }
        self.paths.push(path);
        self.peak = self.peak.max(self.paths.len());
        Ok(())
    }
}

impl Rfrag {
    /// The answer that makes the sender give the packet up.
    fn refusal(&self) -> RfragAck {
        RfragAck { congestion: self.congestion, tag: self.tag, bitmap: RfragAck::NULL }
    }

    /// This header, with `growth` added to its offset or to the size of the whole packet (section 4.4).
    fn moved(self, growth: i16) -> Result<Self, Error> {
        let fragment_offset = self.fragment_offset.checked_add_signed(growth).ok_or(Error::Truncated)?;
        Ok(Self { fragment_offset, ..self })
    }
}
