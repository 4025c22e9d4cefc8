//! `[session.coap]`: the message layer of CoAP. `[session.edhoc]`: the handshake of EDHOC.

use schemars::JsonSchema;
use serde::Deserialize;
use slowhand_coap::block::BlockSize;
use slowhand_coap::timer::Transmission;
use slowhand_sessions::{Coap, Congestion, Edhoc, Security, Transfer};

use crate::input::{Document, InputError, Integer, PositiveSeconds, Spread};

/// The message layer of CoAP, where `protocol` has CoAP. A message that is not acknowledged is sent again (RFC 7252 section
/// 4.2): these are the timers of `coap`, `oscore`, `edhoc` and `less`, also of the handshakes of the last two. Below
/// `coap+dtls1.2` and `coap+dtls1.3` the handshake has the timers of DTLS, `timeout_s`, if `session.carrier` is not `coap`.
/// Over TCP and TLS nothing is sent again but by TCP, so the timers have no effect there.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CoapSettings {
    /// The shortest first wait for an acknowledgement. Default: 2 (ACK_TIMEOUT, RFC 7252 section 4.8).
    pub ack_timeout_s: PositiveSeconds,
    /// The longest first wait is this many times the shortest one; the wait is drawn between them. From 1 to 10. Default: 1.5
    /// (ACK_RANDOM_FACTOR, RFC 7252 section 4.8).
    pub ack_random_factor: Spread,
    /// The number of times that a message is sent again. Default: 4 (MAX_RETRANSMIT, RFC 7252 section 4.8).
    pub max_retransmit: Integer<0, 20>,
    /// The rule by which the waits follow each other. `default`: each is twice as long as the one before (RFC 7252 section
    /// 4.2). `cocoa`: as measured round trips have it (draft-ietf-core-cocoa-03). Default: `default`.
    pub congestion: Congestion,
    /// Octets of a block (RFC 7959): 16, 32, 64, 128, 256, 512 or 1024. Longer data of a request or a response are sent in blocks,
    /// each in a message of its own; over TCP and TLS only what does not fit into a message of 1,152 octets. Where `session.mtu` leaves
    /// less room the blocks are smaller. Default: 1024, the payload of RFC 7252 section 4.6.
    #[schemars(extend("enum" = [16, 32, 64, 128, 256, 512, 1_024]))]
    pub block_bytes: Integer<16, 1_024>,
}

impl Default for CoapSettings {
    fn default() -> Self {
        let Transmission { ack_timeout, ack_random_percent, max_retransmit } = Transmission::DEFAULT;
        Self {
            ack_timeout_s: PositiveSeconds::constant(ack_timeout.as_secs_f64()),
            ack_random_factor: Spread::constant(f64::from(ack_random_percent) / 100.0),
            max_retransmit: Integer::constant(max_retransmit),
            congestion: Congestion::Default,
            block_bytes: Integer::constant(BlockSize::LARGEST.octets() as u32),
        }
    }
}

impl CoapSettings {
    /// Checks that its keys have values that there are.
    pub(super) fn check(&self, document: &Document) -> Result<(), InputError> {
        let octets = self.block_bytes.get();
        if BlockSize::new(octets as usize).is_some() {
            return Ok(());
        }
        let allowed = "16, 32, 64, 128, 256, 512 or 1024 (RFC 7959 section 2.2)";
        Err(document.blame("session.coap.block_bytes", octets.to_string(), allowed))
    }

    /// Sets the options of CoAP.
    pub(crate) fn apply(self, coap: &mut Coap) {
        coap.congestion = self.congestion;
        // `check` has refused all others.
        coap.block = BlockSize::at_most(self.block_bytes.get() as usize);
        coap.transmission = Transmission {
            ack_timeout: std::time::Duration::from_micros(self.ack_timeout_s.micros()),
            ack_random_percent: (self.ack_random_factor.get() * 100.0).round() as u32,
            max_retransmit: self.max_retransmit.get(),
        };
    }
}

/// The handshake of EDHOC (RFC 9528), where `protocol` is `edhoc`: method 3 (both ends have static Diffie-Hellman keys), cipher suite
/// 2 (P-256, AES-CCM-16-64-128), which the library lakers has alone.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EdhocSettings {
    /// The form in which the ends send their credentials: `kid` by the key identifier, which takes an octet, if the peer has
    /// them already; `ccs` as a whole, a CWT Claims Set of about a hundred octets. Default: `kid`.
    pub credentials: Transfer,
    /// True if the server answers message_3 with message_4, from which the client knows that the server has it (RFC 9528 section
    /// 5.5). Default: false, the client learns it from the first protected response.
    pub message_4: bool,
    /// True if the client sends message_3 together with its first request (RFC 9668), which saves a round trip. So there must be
    /// one (`application.requests`), and no `message_4`. The handshake ends when the server has that request. Default: false.
    pub combined: bool,
}

impl EdhocSettings {
    /// Sets the options of EDHOC.
    pub(super) fn apply(self, coap: &mut Coap) {
        if let Security::Edhoc(edhoc) = &mut coap.security {
            *edhoc = Edhoc { transfer: self.credentials, message_4: self.message_4, combined: self.combined };
        }
    }
}
