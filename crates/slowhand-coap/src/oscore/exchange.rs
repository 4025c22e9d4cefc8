//! The facts that both ends remember of a request until its last response (section 8).

use super::Error;
use super::cose::Binding;
use super::option::PartialIv;

/// The facts that a server remembers. They belong to the context that has verified the request.
#[derive(Debug)]
pub struct ServerExchange {
    pub(super) request: Binding,
    /// The nonce of the request is still to be used: by one response at most, which says no sequence number.
    is_nonce_left: bool,
}

impl ServerExchange {
    pub(super) const fn new(request: Binding) -> Self {
        Self { request, is_nonce_left: true }
    }

    /// The next response gets a sequence number of the server, which costs two octets or more, as all after the first one do
    /// anyway (sections 4.1.3.5.2 and 8.3).
    pub const fn use_own_sequence_number(&mut self) {
        self.is_nonce_left = false;
    }

    /// True if the next response uses the nonce of the request.
    pub(super) const fn is_nonce_left(&self) -> bool {
        self.is_nonce_left
    }
}

/// The facts that a client remembers. They belong to the context that has protected the request.
#[derive(Debug)]
pub struct ClientExchange {
    pub(super) request: Binding,
    /// The request registers for notifications.
    is_registration: bool,
    /// The order of the latest notification: 0 without a Partial IV, otherwise one more than it (section 7.4.1).
    latest: Option<u64>,
    is_finished: bool,
}

impl ClientExchange {
    pub(super) const fn new(request: Binding, is_registration: bool) -> Self {
        Self { request, is_registration, latest: None, is_finished: false }
    }

    /// True after the last response: one that is not a notification.
    pub const fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Takes a response that was verified. A notification must be later than all others: one that comes late is refused, as
    /// section 7.4.1 allows it.
    pub(super) fn receive(&mut self, is_notification: bool, partial_iv: Option<PartialIv>) -> Result<(), Error> {
        if !is_notification {
            self.is_finished = true;
            return Ok(());
        }
        if !self.is_registration {
            return Err(Error::Notification);
        }
        let order = Some(partial_iv.map_or(0, |partial_iv| partial_iv.sequence() + 1));
        if order <= self.latest {
            return Err(Error::Replayed);
        }
        self.latest = order;
        Ok(())
    }
}
