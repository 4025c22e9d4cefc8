//! The lean profile: what two ends leave out of DTLS 1.2 if both agree. `docs/reference/lean-profile.md` has its wire
//! format, and why nothing is lost.

use crate::codec::{Full, Writer};
use crate::features::{Feature, LEAN, Slot, Switch};

/// Switches of the lean profile, as a set.
///
/// A client offers its switches in an extension of its ClientHello, a server answers with those that it takes, and both
/// Finished messages cover offer and answer. A peer that does not know the extension gets plain DTLS 1.2. See [Which
/// switches of the lean profile?](crate::decisions#which-switches-of-the-lean-profile) and, for the security of each,
/// `docs/reference/lean-profile.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lean {
    #[cfg(feature = "lean")]
    bits: u8,
}

/// The number of the extension: one of those for private use (RFC 8446, section 11), which nobody registers.
pub(crate) const EXTENSION: u16 = 0xff4c;

impl Lean {
    /// Plain DTLS 1.2: the default.
    pub const NONE: Self = Self::new(0);
    /// No ServerHelloDone, ClientKeyExchange and ChangeCipherSpec. The client's identity is in its extension.
    ///
    /// The switch that gains most: 91 octets on the air and a frame, and both ends compute their keys at the same time.
    /// A connection of two ATmega128RFA1 takes 26 % less time (`papers/pittoli2016`). What is left out says nothing
    /// that the rest does not say.
    pub const OMIT_MESSAGES: Self = Self::new(1);
    /// No copy of epoch and sequence number in an encrypted record: 8 octets less.
    ///
    /// The nonce stays as it is (RFC 6655, section 3, lets the sender choose it): both ends have the number from the
    /// header. There is no reason against it.
    pub const SHORT_NONCE: Self = Self::new(2);
    /// The server's Finished travels with its ServerHello. Only with [`OMIT_MESSAGES`](Self::OMIT_MESSAGES).
    ///
    /// The client may send data a round trip earlier. Three things speak against it. The server has to compute its keys
    /// before it answers, while the client waits: on two ATmega128RFA1 a connection takes 543 ms instead of 406
    /// (`papers/pittoli2016`). The answer is longer, so that where a frame is short it becomes two, and is lost with
    /// either. And the server proves its key to somebody who has proved nothing, so that weak keys can be tried
    /// offline. Choose it on fast processors, for clients that send data at once over links with long round trips, with
    /// keys of 128 random bits.
    pub const SERVER_FINISHED_FIRST: Self = Self::new(4);
    /// Encrypted records have a header of 3 octets instead of 13.
    ///
    /// The rest follows from what both ends know, and is still covered by the tag. Not together with connection IDs. If
    /// 2^15 records in a row are lost, the connection has to be opened anew.
    pub const SHORT_HEADER: Self = Self::new(8);
    /// Records that have arrived are acknowledged, encrypted: only what is missing is sent again. With
    /// [`SERVER_FINISHED_FIRST`](Self::SERVER_FINISHED_FIRST) the server acknowledges the client's Finished, and the
    /// client's timer alone sees to losses.
    ///
    /// An acknowledgement has 14 octets, and is sent only if something is missing, or in place of the flight that would
    /// say the same. It helps where flights have several datagrams. Nobody can forge one, as all are encrypted.
    pub const ACKNOWLEDGE: Self = Self::new(0x10);
    /// The identity is not sent: the server finds the key by the client's address. Only with
    /// [`OMIT_MESSAGES`](Self::OMIT_MESSAGES); a server that does not know the address takes neither.
    ///
    /// It saves the identity in both ClientHellos, and nobody on the path learns it. The server has to implement
    /// [`find_psk_by_address`](crate::Credentials::find_psk_by_address). A false address finds a key that the client
    /// does not have.
    pub const KNOWN_ADDRESS: Self = Self::new(0x20);
    /// A Finished message is its verify data alone: no message header of 12 octets.
    ///
    /// Twice 12 octets less. The transcript has the header, so it is covered as before. There is no reason against it.
    pub const SHORT_FINISHED: Self = Self::new(0x40);

    /// The messages and the nonce of Pittoli, David and Noël, "DTLS improvements for constrained networks" (2016).
    /// Their identities are known, too: add [`KNOWN_ADDRESS`](Self::KNOWN_ADDRESS) if the server finds keys by address.
    #[cfg(feature = "lean")]
    pub const SLIDES: Self = Self::OMIT_MESSAGES.with(Self::SHORT_NONCE);
    /// Every switch that a server can take without knowing the client's address: 225 octets in four datagrams
    /// with an identity of 15 octets and without a cookie.
    ///
    /// It is all of them, also [`SERVER_FINISHED_FIRST`](Self::SERVER_FINISHED_FIRST), which costs more time than it
    /// saves on slow processors and on lossy links whose frames are short: take
    /// `Lean::ALL.without(Lean::SERVER_FINISHED_FIRST)` there.
    #[cfg(feature = "lean")]
    pub const ALL: Self = Self::SLIDES
        .with(Self::SERVER_FINISHED_FIRST)
        .with(Self::SHORT_HEADER)
        .with(Self::ACKNOWLEDGE)
        .with(Self::SHORT_FINISHED);

    /// All bits, also those that have no meaning yet.
    pub(crate) const EVERY: Self = Self::new(!0);

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self::new(self.octet() | other.octet())
    }

    /// This set without the other.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self::new(self.octet() & !other.octet())
    }

    /// True if it has all switches of the other set. Without the feature `lean` it has none, and the compiler leaves
    /// out what asks for them.
    pub const fn has(self, other: Self) -> bool {
        LEAN && self.octet() & other.octet() == other.octet()
    }

    /// True if there is no switch in it.
    pub const fn is_empty(self) -> bool {
        self.octet() == 0
    }

    /// The switches that both sets have.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self::new(self.octet() & other.octet())
    }

    /// Without the switches that need another one that is not there.
    pub(crate) const fn consistent(self) -> Self {
        match self.has(Self::OMIT_MESSAGES) {
            true => self,
            false => self.without(Self::SERVER_FINISHED_FIRST).without(Self::KNOWN_ADDRESS),
        }
    }

    /// True if the client's extension has its identity after the switches.
    pub(crate) const fn has_identity(self) -> bool {
        self.has(Self::OMIT_MESSAGES) && !self.has(Self::KNOWN_ADDRESS)
    }

    const fn new(_bits: u8) -> Self {
        Self {
            #[cfg(feature = "lean")]
            bits: _bits,
        }
    }

    /// The switches as they are on the wire.
    pub(crate) const fn octet(self) -> u8 {
        #[cfg(feature = "lean")]
        return self.bits;
        #[cfg(not(feature = "lean"))]
        0
    }
}

/// The number of records of a flight that an acknowledgement can name. (Assumed: a lean flight of two messages in datagrams of 64
/// octets has four.)
const RECORDS: usize = 4;

/// Octets of the name of a record in an acknowledgement: its epoch, and the lower 16 bits of its sequence number.
pub(crate) const RECORD_NAME: usize = 3;

/// The records that have brought the peer's flight so far, and whether they are to be acknowledged now. Nothing without the
/// feature `lean`.
pub(crate) struct Received(Slot<LEAN, Names>);

#[derive(Default)]
struct Names {
    names: [[u8; RECORD_NAME]; RECORDS],
    count: u8,
    is_due: bool,
}

impl Received {
    pub(crate) fn new() -> Self {
        Self(Feature::<LEAN>::slot(Names::default))
    }

    /// Forgets the records.
    pub(crate) const fn clear(&mut self) {
        if let Some(names) = self.0.first_mut() {
            names.count = 0;
        }
    }

    /// Notes a record. Beyond the first few, records are sent again though they have arrived.
    pub(crate) fn note(&mut self, epoch: u16, sequence: u64) {
        let Some(Names { names, count, .. }) = self.0.first_mut() else { return };
        let [upper, lower] = (sequence as u16).to_be_bytes();
        if let Some(free) = names.get_mut(usize::from(*count)) {
            *free = [epoch as u8, upper, lower];
            *count += 1;
        }
    }

    /// The content of an acknowledgement.
    pub(crate) fn names(&self) -> &[u8] {
        let Some(Names { names, count, .. }) = self.0.first() else { return &[] };
        names.as_flattened().get(..usize::from(*count) * RECORD_NAME).unwrap_or(&[])
    }

    /// The records are to be acknowledged.
    pub(crate) const fn acknowledge(&mut self) {
        if let Some(names) = self.0.first_mut() {
            names.is_due = true;
        }
    }

    /// True once after [`acknowledge`](Self::acknowledge).
    pub(crate) const fn take_due(&mut self) -> bool {
        match self.0.first_mut() {
            Some(names) => core::mem::replace(&mut names.is_due, false),
            None => false,
        }
    }
}

/// The content of a client's extension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer<'a> {
    /// The switches, also those that the server does not know.
    pub(crate) switches: Lean,
    pub(crate) identity: &'a [u8],
}

impl<'a> Offer<'a> {
    /// Reads the extension of a ClientHello. `None` if it is malformed.
    pub(crate) fn read(content: &'a [u8]) -> Option<Self> {
        let (&switches, identity) = content.split_first()?;
        let switches = Lean::new(switches);
        (switches.has_identity() || identity.is_empty()).then_some(Self { switches, identity })
    }

    pub(crate) fn write(&self, writer: &mut Writer<'_>) -> Result<(), Full> {
        writer.put(&[self.switches.octet()])?;
        writer.put(self.identity)
    }
}

/// Reads the extension of a ServerHello. `None` if it is malformed, empty, or not of what was offered.
pub(crate) fn read_answer(content: &[u8], offered: Lean) -> Option<Lean> {
    let &[switches] = content else { return None };
    let is_possible = |answer: &Lean| !answer.is_empty() && offered.has(*answer) && answer.consistent() == *answer;
    Some(Lean::new(switches)).filter(is_possible)
}
