//! Signs of a secure session that are visible from outside: when an end has verified the peer's Finished, and when the session
//! is closed.
//!
//! A program outside does not say how its session is. A [`Watcher`] sees the octets that one end sends and receives, and has
//! no keys. Most of what it says is exact; where it is not, this page says how it errs. An end is established:
//!
//! | protocol | client | server |
//! | --- | --- | --- |
//! | 1.2 | a Finished has come, and one was sent | the same |
//! | DTLS 1.3 | it sends a record of epoch 2 that is not an ACK | after such a record: it sends in epoch 3, or gets that |
//! | TLS 1.3 | it sends its first protected record | a Finished has come, or it sends next |
//!
//! **1.2.** A Finished is a handshake record that is protected: of epoch 1 in DTLS, behind ChangeCipherSpec in TLS. The end
//! that sends the second Finished has verified the first one: this instant is exact. The other end is established when the
//! second one comes, and a ChangeCipherSpec if it has sent one itself (ends with the lean profile have none), or when it
//! sends data. It errs if another message of that last flight is lost, a ticket for example, and Finished is not: then the
//! library waits, and the watcher does not. Libraries differ about a Finished whose ChangeCipherSpec is late or lost:
//! tinyDTLS does not keep it, and lean-dtls does not need a ChangeCipherSpec. A record with a connection ID hides its type:
//! the first protected one counts as Finished.
//!
//! **DTLS 1.3.** Types are encrypted. A client sends its flight in epoch 2 when it has verified the server's Finished.
//! Before that, it sends only ACKs in epoch 2. An ACK is told apart by its length (RFC 9147 section 7): 2 octets and 16 for
//! each of the records that have come, the type, the tag. A Finished never has such a length. A record with Certificate and
//! Finished together can, if many records have come; then the end is established at its next record of epoch 3. The server acknowledges the client's flight in epoch 3. It
//! errs if records are padded, if a server sends data before the client's Finished, and at a client whose ACKs have a
//! connection ID: its length is not known, so they look like a flight. A record of an alert's length says nothing.
//!
//! **TLS 1.3.** Types are encrypted too. A client sends its flight when it has verified the server's Finished. A server has
//! verified the client's when a record comes that has the length of a Finished: all other messages of that flight are
//! shorter or longer. If the client puts its whole flight into one record, the server's next record (a ticket, or data)
//! says it. The first record of an alert's length says nothing, and a Finished behind one that the server has sent neither.
//! It errs with early data (RFC 8446 section 2.3), and if a server refuses the client's certificate and the client's
//! Finished came with it: then the end is called established before the alert is there.
//!
//! **Closed.** An alert after the handshake, in either direction, in 1.2. An alert of 1.3, or with a connection ID, looks
//! like any other record: it cannot be seen. An alert in the clear, before the handshake is complete, can be read
//! ([`Watcher::alert`]).
//!
//! The watcher verifies nothing: who forges records can mislead it, also where the library is not misled. A session that
//! begins inside another protocol (STARTTLS) is not seen.

mod datagrams;
mod stream;

use datagrams::Datagrams;
use slowhand_sessions::{Failure, FailureKind, Role};
use stream::Stream;

/// Watches one end of a conversation.
///
/// ```
/// use slowhand_live::handshake::Watcher;
/// use slowhand_sessions::Role;
///
/// let mut watcher = Watcher::of_datagrams(Role::Client);
/// watcher.sent(&[0x40, 0x01, 0x12, 0x34]); // a request of CoAP
/// assert!(!watcher.is_secure() && !watcher.is_established());
/// ```
#[derive(Debug)]
pub struct Watcher {
    form: Form,
    seen: Seen,
}

#[derive(Debug)]
enum Form {
    Datagrams(Datagrams),
    Stream(Stream),
}

/// The state of the session, as far as it is known.
#[derive(Debug, Default)]
struct Seen {
    is_secure: bool,
    is_established: bool,
    is_closed: bool,
    alert: Option<Alert>,
}

/// A fatal alert before the handshake was complete, with its description (RFC 8446 section 6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alert {
    /// The end that is watched has sent it.
    Sent(u8),
    /// It has received it.
    Received(u8),
}

impl Alert {
    /// The failure of the end that is watched. `None` if it has sent the alert itself: who receives it fails.
    pub fn failure(self) -> Option<Failure> {
        let Self::Received(description) = self else { return None };
        let reason = format!("the peer sent the fatal alert {description}");
        Some(Failure { kind: FailureKind::AlertReceived { description }, reason })
    }
}

/// Where octets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Sent,
    Received,
}

impl Watcher {
    /// Watches an end of DTLS.
    pub fn of_datagrams(role: Role) -> Self {
        Self { form: Form::Datagrams(Datagrams::new(role)), seen: Seen::default() }
    }

    /// Watches an end of TLS.
    pub fn of_stream(role: Role) -> Self {
        Self { form: Form::Stream(Stream::new(role)), seen: Seen::default() }
    }

    /// The end sends a datagram, or a piece of its stream, of any length.
    pub fn sent(&mut self, octets: &[u8]) {
        self.observe(Way::Sent, octets);
    }

    /// A datagram, or a piece of the peer's stream, has come.
    pub fn received(&mut self, octets: &[u8]) {
        self.observe(Way::Received, octets);
    }

    fn observe(&mut self, way: Way, octets: &[u8]) {
        match &mut self.form {
            Form::Datagrams(datagrams) => datagrams.observe(way, octets, &mut self.seen),
            Form::Stream(stream) => stream.observe(way, octets, &mut self.seen),
        }
    }

    /// True if the client has sent a ClientHello. Otherwise this is another protocol.
    pub fn is_secure(&self) -> bool {
        self.seen.is_secure
    }

    /// True if the end has verified the peer's Finished.
    pub fn is_established(&self) -> bool {
        self.seen.is_established
    }

    /// True if one of the ends has closed the session.
    pub fn is_closed(&self) -> bool {
        self.seen.is_closed
    }

    /// The first fatal alert in the clear, if the end is not established.
    pub fn alert(&self) -> Option<Alert> {
        self.seen.alert.filter(|_| !self.seen.is_established)
    }
}

/// One value for what was sent, one for what was received.
#[derive(Debug, Default)]
struct Both<D> {
    sent: D,
    received: D,
}

impl<D> Both<D> {
    fn of(&mut self, way: Way) -> &mut D {
        match way {
            Way::Sent => &mut self.sent,
            Way::Received => &mut self.received,
        }
    }
}

impl Way {
    /// True if this is the way from the client to the server, where `role` is that of the end that is watched.
    fn is_of_client(self, role: Role) -> bool {
        (self == Self::Sent) == (role == Role::Client)
    }
}

impl Seen {
    /// An alert that is not protected: its level and description (RFC 8446 section 6).
    fn alert(&mut self, way: Way, content: [u8; 2]) {
        const FATAL: u8 = 2;
        if let [FATAL, description] = content {
            self.alert.get_or_insert(match way {
                Way::Sent => Alert::Sent(description),
                Way::Received => Alert::Received(description),
            });
        }
    }

    /// An alert that is protected.
    fn protected_alert(&mut self) {
        self.is_closed |= self.is_established;
    }
}
