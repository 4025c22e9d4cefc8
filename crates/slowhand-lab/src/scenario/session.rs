//! `[session]`: what is spoken between the two ends, and how patiently.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::input::{Integer, PositiveSeconds};

/// The secure session, and the knobs of the libraries that open it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// The client's library; `slowhand stacks` lists them.
    pub stack: String,
    /// The server's library. Default: the client's.
    pub server_stack: Option<String>,
    /// The protocol. Default: `dtls1.2`.
    #[serde(default = "dtls12")]
    pub protocol: String,
    /// The cipher suite, by its IANA name.
    pub suite: String,
    /// Who proves who they are. Default: `psk` with a PSK suite, else `mutual`.
    pub auth: Option<Auth>,
    /// The curve of key exchange and signatures. Default: `secp256r1`.
    pub curve: Option<String>,
    /// Whether the server answers the first ClientHello with a cookie (HelloVerifyRequest, RFC 6347
    /// section 4.2.1). Default: true.
    #[serde(default = "yes")]
    pub cookie: bool,
    /// The client's first retransmission timeout. Default: the library's own (1 for mbedTLS, 2 for
    /// tinyDTLS).
    pub timeout_s: Option<PositiveSeconds>,
    /// The longest the retransmission timeout grows by doubling. Default: 60 (RFC 6347 section
    /// 4.2.4.1). tinyDTLS has no such limit.
    #[serde(default = "rfc6347_longest")]
    pub max_timeout_s: PositiveSeconds,
    /// The server's first retransmission timeout. Default: `timeout_s`.
    pub server_timeout_s: Option<PositiveSeconds>,
    /// The maximum fragment length that the client asks for (RFC 6066 section 4). Default: none.
    pub max_fragment_length: Option<u16>,
    /// The longest datagram (UDP payload) that the libraries send. Default: the library's own.
    pub mtu: Option<Integer<64, 2_047>>,
    /// The length in octets of the connection identifier that each end asks for (RFC 9146). Default:
    /// none, the extension is not sent.
    pub connection_id: Option<Integer<0, 32>>,
    /// The client's PSK identity. Default: `Client_identity`.
    pub psk_identity: Option<String>,
    /// The server's UDP port. Default: 5684 (coaps, RFC 7252 section 6.2).
    #[serde(default = "coaps")]
    pub server_port: Integer<1, 65_535>,
    /// The UDP port of a client is this number plus the number of its node. Default: 61616 (0xF0B0,
    /// where RFC 6282 section 4.3.3 begins to compress ports to 4 bits).
    #[serde(default = "compressed_ports")]
    pub client_port: Integer<1, 65_535>,
    /// A handshake that has not ended by then is recorded as `timeout`. Default: 300.
    #[serde(default = "five_minutes")]
    pub give_up_s: PositiveSeconds,
}

/// Who proves who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Auth {
    /// Both ends know the same key.
    Psk,
    /// The server alone has a certificate or raw public key.
    Server,
    /// Both ends have one.
    Mutual,
}

fn dtls12() -> String {
    "dtls1.2".to_owned()
}

fn yes() -> bool {
    true
}

fn rfc6347_longest() -> PositiveSeconds {
    PositiveSeconds::constant(60.0)
}

fn coaps() -> Integer<1, 65_535> {
    Integer::constant(5_684)
}

fn compressed_ports() -> Integer<1, 65_535> {
    Integer::constant(61_616)
}

fn five_minutes() -> PositiveSeconds {
    PositiveSeconds::constant(300.0)
}
