//! Messages for an end, and what it answers, in words.

use std::fmt;

use lean_dtls::{Failure, Status};

use super::spy::Seen;

/// One datagram for an end.
pub struct Input {
    /// The form in which it comes, in words.
    pub form: &'static str,
    pub octets: Vec<u8>,
}

/// A record of a recorded handshake.
pub struct Record {
    /// Its content, in short.
    pub name: String,
    /// True if that is a handshake message.
    pub is_message: bool,
    pub octets: Vec<u8>,
}

/// The end that sends to the one under test, as it was recorded; in one of the versions.
pub trait Peer: Sized {
    /// An end can change its key after the handshake.
    const UPDATES_KEYS: bool;

    /// An end, from the datagrams of its handshake and all that it has encrypted. Also returns its records, each with one
    /// message.
    fn new(datagrams: &[Vec<u8>], seen: &[Seen]) -> (Self, Vec<Record>);

    /// Every message, by name, in all its forms. `received` are the records that the end has got.
    fn inputs(&self, received: &[Record]) -> Vec<(String, Vec<Input>)>;

    /// A record that closes the connection.
    fn close_notify(&self) -> Vec<u8>;

    /// Names the content of the datagrams that an end has sent, in short. `seen` is what it has encrypted for them.
    fn names(datagrams: &[Vec<u8>], seen: &[Seen]) -> Vec<String>;
}

/// A record in clear, or one that says to be of another epoch.
pub fn record(content_type: u8, epoch: u16, sequence: u64, content: &[u8]) -> Vec<u8> {
    let mut octets = vec![content_type, 0xfe, 0xfd];
    octets.extend((u64::from(epoch) << 48 | sequence).to_be_bytes());
    octets.extend((content.len() as u16).to_be_bytes());
    octets.extend_from_slice(content);
    octets
}

/// A whole handshake message.
pub fn handshake(kind: u8, sequence: u16, body: &[u8]) -> Vec<u8> {
    let length = &(body.len() as u32).to_be_bytes()[1..];
    [&[kind][..], length, &sequence.to_be_bytes(), &[0; 3], length, body].concat()
}

/// The immediate answer of an end.
pub struct Answer {
    pub sent: Vec<String>,
    pub delivered: usize,
    pub change: Option<Status>,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Vec::new();
        if !self.sent.is_empty() {
            words.push(self.sent.join(" "));
        }
        words.extend((self.delivered > 0).then(|| "data".to_owned()));
        words.extend(self.change.map(|status| match status {
            Status::Handshaking => "a connection".to_owned(),
            Status::Established => "established".to_owned(),
            Status::Closing => "closing".to_owned(),
            Status::Closed => "closed".to_owned(),
            Status::Failed(Failure::AlertSent(alert)) => format!("refuses {alert}"),
            Status::Failed(Failure::AlertReceived(alert)) => format!("fails {alert}"),
            Status::Failed(other) => format!("{other:?}"),
        }));
        write!(f, "{}", words.join(", "))
    }
}
