//! CoAP messages over UDP, without protection or with OSCORE, and over TCP.

use slowhand_coap::oscore::{Context, Parameters};

use super::Messages;
use super::counting::Counting;
use super::edhoc::Handshake;
use crate::coap::{Coap, MAX_BODY, OSCORE_IDS, Protection};
use crate::config::{Credential, PSK, Role, SessionConfig};
use crate::device;
use crate::library::{Library, Progress, State};
use crate::session::Failure;

/// One end of a session of CoAP without TLS or DTLS.
pub(crate) struct CoapEnd {
    /// On the heap, where what a session takes is counted.
    messages: Box<Messages>,
    has_closed: bool,
}

impl CoapEnd {
    /// An end of a checked configuration.
    ///
    /// # Errors
    /// OSCORE refuses the secret.
    pub(crate) fn new(config: &SessionConfig, coap: &Coap, protection: Protection) -> Result<Self, Failure> {
        let (context, handshake) = match protection {
            Protection::None => (None, None),
            Protection::Oscore => (Some(context(config)?), None),
            Protection::Edhoc(edhoc) => (None, Some(Handshake::new(edhoc, config.role)?)),
        };
        let messages = Messages::new(
            coap,
            config.role,
            config.mtu,
            context,
            handshake,
            |_| device::clock(),
            || u64::from_le_bytes(device::random()),
        );
        Ok(Self { messages: Box::new(messages), has_closed: false })
    }

    fn progress(&mut self) -> Progress {
        while let Some(octets) = self.messages.link.poll_transmit() {
            device::transmit(&octets);
        }
        let state = match &self.messages.failure {
            Some(failure) => State::Failed(failure.clone()),
            None if self.messages.is_released => State::ClosedByPeer,
            None if self.messages.is_established() => State::Established,
            None => State::Handshaking,
        };
        let deadline = self.messages.link.deadline().filter(|_| !self.has_closed);
        Progress { state, deadline }
    }
}

/// The context that both ends have from the beginning. Its Master Secret is the pre-shared key.
fn context(config: &SessionConfig) -> Result<Context, Failure> {
    let key = match &config.credential {
        Credential::Psk { key, .. } => &key[..],
        _ => &PSK,
    };
    let [of_client, of_server] = OSCORE_IDS;
    let (sender_id, recipient_id) = match config.role {
        Role::Client => (of_client, of_server),
        Role::Server => (of_server, of_client),
    };
    let parameters = Parameters { master_secret: key, master_salt: &[], id_context: None, sender_id, recipient_id };
    Context::derive(&parameters, &mut Counting).map_err(|error| Failure::library(0, error.to_string()))
}

impl Library for CoapEnd {
    fn start(&mut self) -> Progress {
        self.messages.start(device::clock());
        self.progress()
    }

    fn handle_input(&mut self, input: &[u8]) -> Progress {
        self.messages.handle_input(device::clock(), input, &mut device::deliver);
        self.progress()
    }

    fn handle_timeout(&mut self) -> Progress {
        self.messages.handle_timeout(device::clock(), &mut device::deliver);
        self.progress()
    }

    fn write(&mut self, data: &[u8]) -> Progress {
        self.messages.write(device::clock(), data);
        self.progress()
    }

    fn max_data(&self) -> Option<usize> {
        Some(MAX_BODY)
    }

    /// Over datagrams CoAP has no message that closes: this end only sends nothing again.
    fn close(&mut self) -> Progress {
        self.has_closed = true;
        self.messages.link.release();
        self.progress()
    }

    fn is_established_from_the_beginning(&self) -> bool {
        self.messages.is_established()
    }
}
