//! LESS (draft-bhattacharyya-dice-less-on-coap-01): the ends of a pre-shared key open a session by two exchanges of CoAP, and then protect
//! datagrams with the records of DTLS 1.2 and `TLS_PSK_WITH_AES_128_CCM_8`.
//!
//! Each end shows that it has the key by what it can decrypt: `Y` is the pre-shared key, `k` the key of the session.
//!
//! ```text
//! client                                                   server
//!   POST /authorize, AUTH_MSG_TYPE 0: identity       ----->
//!                      2.01: AES{Y, Y xor k | nonce_1} <-----   16 + 16 octets
//!   POST /authorize, 1: AES{k, nonce_1 xor Y | nonce_2} --->    16 + 16 octets
//!                      2.04: AES{Y, nonce_2 xor k}     <-----   16 octets
//! ```
//!
//! Of the draft only the abstract could be read: a challenge and a response in payloads of CoAP, from a pre-shared key, and then the records
//! of DTLS-PSK. *Assumed*, in the manner of "Auth-Lite" (Ukil et al. 2014) of the same authors: the messages, their lengths, that AES
//! runs in CBC mode from zeros on, the path, the numbers of the two options, the last answer, and that the key block
//! is that of RFC 5246 section 6.3 with `k` as master secret, `nonce_1` as random value of the server and `nonce_2` as that of the client.
//!
//! Properties that it does not have: forward secrecy, since who learns `Y` reads all sessions that he has recorded; integrity of
//! the handshake, in which nothing but the nonces is compared; a choice of suites; a name of the server. The server works and keeps
//! state for whoever knows an identity; but its challenge stays good until it is answered rightly, so nobody without the key keeps
//! the client out.

mod crypto;
mod handshake;
mod record;

pub use crypto::{Crypto, NONCE, Protection, Software};
pub use handshake::{Client, Error, LONGEST_IDENTITY, Message, Next, OPTIONS, Server, read};
pub use record::{ALERT, APPLICATION_DATA, Records};

/// Octets of a key, of a nonce and of a block of AES-128.
pub const KEY: usize = 16;

/// A key, or what is as long.
pub type Key = zeroize::Zeroizing<[u8; KEY]>;

/// The keys that both ends have after the handshake.
pub struct Keys {
    session: Key,
    of_server: [u8; KEY],
    of_client: [u8; KEY],
}
