//! Decisions of an engineer, in the order in which the questions come up: what each answer costs, when it is right, and
//! what it means for security.
//!
//! Figures of flash, RAM and instructions are from `docs/footprint.md`: a Cortex-M3, client and server in one image,
//! with their cryptography. Octets, seconds and joules of a handshake are from `docs/reference/stacks.md` (a WiSMote over 6TiSCH)
//! and `docs/lean-profile.md`. These files are in the repository; programs measure them.
//!
//! | the question | the item | if nothing is said |
//! | --- | --- | --- |
//! | [Which credential?](#which-credential) | [`Credentials`] | there is no default |
//! | [Which version?](#which-version) | `Config::with_versions`, [`Lean`](crate::Lean) | DTLS 1.2, without the lean profile |
//! | [Which suites?](#which-suites) | `Config::with_suites`, `with_groups`, `with_aeads` | those of RFC 7925 |
//! | [Whose cryptography?](#whose-cryptography) | [`Crypto`](crate::Crypto) | there is no default |
//! | [How long is a datagram?](#how-long-is-a-datagram) | `mtu` of [`Config::new`], [`Packing`] | full datagrams |
//! | [How large are the buffers?](#how-large-are-the-buffers) | `BUFFER` of [`Client`](crate::Client) | there is no default |
//! | [How many slots, and for whom?](#how-many-slots-and-for-whom) | `SLOTS` of [`Server`](crate::Server), [`Admission`] | who comes late is refused |
//! | [A cookie?](#a-cookie) | [`Credentials::is_known`] | yes |
//! | [How long to wait?](#how-long-to-wait) | [`Timeouts`] | 9 s, doubled up to 60 s |
//! | [Data before the end?](#data-before-the-end) | `Config::with_false_start` | no |
//! | [A connection ID?](#a-connection-id) | `Config::with_connection_id` | no |
//! | [Resume?](#resume) | `Session`, `Config::with_tickets` | no |
//! | [Shorter records?](#shorter-records) | `Config::with_record_size_limit` | no |
//! | [Heartbeats?](#heartbeats) | `Config::with_heartbeats` | no |
//! | [Which switches of the lean profile?](#which-switches-of-the-lean-profile) | [`Lean`](crate::Lean) | none |
//!
//! # Which credential?
//!
//! **A pre-shared key** (RFC 4279; [`Psk`](crate::Psk)) is the smallest in every respect: 18 kB of flash, 0.9 kB of RAM,
//! 0.4 million instructions for a handshake of 485 octets. Choose it if somebody can put a key of its own into each
//! device and into the server. The key must be random, with 128 bits (RFC 9257, section 6): whoever has listened to one
//! handshake can try keys at home. Whoever gets the key later can read everything that was recorded before. The name of
//! the key is sent in clear.
//!
//! **A pre-shared key with key agreement** (RFC 5489, RFC 8442; features `ecdhe`, `x25519`) mends the last two: a
//! recording tells nothing, even to somebody who has the key. It costs the code and the time of an elliptic curve.
//!
//! **A raw public key** (RFC 7250; `RawPublicKey`) if devices shall not share secrets with the server, and few peers
//! are known beforehand: the server has a list of public keys, and nothing in it is secret. 36 kB of flash, 0.9 kB of
//! RAM and 5 kB of stack more than a pre-shared key, and 39 million instructions for each end: more than a second at 32
//! MHz.
//!
//! **X.509 certificates** (`X509`) if peers are not known beforehand, but an authority is. They need more buffer than
//! the others (the chains of one end and 300 octets), a clock that knows the date, and the code of rustls-webpki.
//! Revocation is not checked. Without `X509::server_name`, each device with a certificate of the same authority can
//! play the server.
//!
//! # Which version?
//!
//! **DTLS 1.2** (RFC 6347) if the peer is not lean-dtls, or is small: a handshake with a pre-shared key takes 485
//! octets, 1.6 s over one hop, and no public keys. The names of extensions and all handshake messages but Finished can
//! be read on the path.
//!
//! **The lean profile** if both ends are lean-dtls and have pre-shared keys: 210 to 380 octets. 3 kB of flash and 0.35
//! kB of RAM more. It is negotiated, so a peer without it gets DTLS 1.2. It is an experiment with a private number, no
//! standard.
//!
//! **DTLS 1.3** (RFC 9147) if both ends can: it hides the rest of the handshake, the type and the number of a record,
//! proves the client's key before the server answers, and sends again only what was lost. It costs 683 octets (374
//! without a cookie) and twice the hashing of 1.2: 3.0 s over one hop instead of 1.6.
//!
//! **Both** (`Versions::Both`) if the peers are not known, or change over from one to the other: the client offers 1.3 and takes
//! 1.2 from a server that has nothing else. A server that could have taken 1.3 says so in its random number, and the client
//! then sees that somebody has changed its offer (RFC 8446, section 4.1.3). The code of both is in the image in any case. One
//! pre-shared key in both versions has a price: see "One pre-shared key in both versions" in the crate's documentation.
//!
//! # Which suites?
//!
//! Leave them: RFC 7925, sections 4.1 and 4.2, makes the two of [`Suite::DEFAULT`](crate::Suite::DEFAULT) mandatory,
//! and every peer for small devices has them. `TLS_PSK_WITH_AES_128_CCM_8` (RFC 6655) has tags of 8 octets: a forger
//! needs 2^63 attempts for a record on average, each of which is a datagram. **GCM** (RFC 5288; feature `gcm`) has tags
//! of 16 octets: 8 more in each record, and more code; choose it if the peer has nothing else. **Groups**: P-256 is the
//! mandatory one (RFC 7925, section 4.4), and certificates need it in any case. X25519 in addition costs code; choose
//! it if the peer prefers it.
//!
//! # Whose cryptography?
//!
//! [`RustCrypto`](crate::RustCrypto) is software, and constant in time where the processor's multiplication is (that of
//! a Cortex-M3 is not: Arm DDI 0337, UMULL). Its AES is bit-sliced, and small with `--cfg aes_backend_soft="compact"`.
//! Implement [`Crypto`](crate::Crypto) if the device has an accelerator, or keeps its keys in one: a hash and four
//! methods are enough for pre-shared keys. **Random numbers are the one thing that only the device can have.** Whoever
//! predicts them predicts the keys of ephemeral key agreement and, with GCM and ECDSA, the private key of the
//! certificate. A timer or an uninitialised RAM is no source; the noise of a radio or a ring oscillator is one, after
//! its self-test.
//!
//! # How long is a datagram?
//!
//! `mtu` is the most octets of UDP payload. **Over 6LoWPAN, make a datagram fit one frame**:
//! [`frame_mtu`](crate::frame_mtu) computes it, 96 octets between neighbours and 78 over several hops with addresses of
//! 64 bits. 6LoWPAN loses a whole datagram with each of its fragments; DTLS then waits for its timer. With 78 octets,
//! losses of 5 % of fragments over three hops change nothing (3.3 s), while datagrams of any size take 13.8 s instead
//! of 4.8 (`docs/reference/stacks.md`). It costs headers: 25 octets for each further datagram of a message, 9 instead of 8 frames
//! in all. An exception is a link with preamble sampling over several hops: there two datagrams of a flight disturb
//! each other, and long ones are better. On other links, `mtu` is the path's, without 48 octets of IPv6 and UDP; 1,232
//! always fits (RFC 8200, section 5). [`Packing::OneRecord`] is only for peers, or comparisons, that want it:
//! [`Packing::Full`] has fewer datagrams, and each datagram has a header. Neither has consequences for security.
//!
//! # How large are the buffers?
//!
//! A connection has two of `BUFFER` octets: one keeps the flight that is sent until it is answered, the other puts the
//! peer's together. So an octet more costs two for each connection. 192 are enough for a pre-shared key with a name of
//! up to 32 octets, 512 for raw public keys, and for certificates those of one end and 300. If it is too small, the
//! handshake ends with [`Failure::BufferTooSmall`](crate::Failure::BufferTooSmall), always and not by chance: test each
//! credential once. The buffer bounds what a peer can make this end keep. Application data do not need it: they are
//! decrypted in the datagram of the owner.
//!
//! # How many slots, and for whom?
//!
//! A slot is a connection: about 1 kB with a pre-shared key, more with more features. All are there from the beginning,
//! so that no flood of clients takes memory. `slowhand capacity` says how many are needed for a number of clients and
//! their habits. What a client finds when all are taken is the [`Admission`] policy: [`Refuse`](Admission::Refuse), the
//! default, lets nobody lose a connection, but clients that have died block it.
//! [`EvictIdleLongest`](Admission::EvictIdleLongest) ends what has been idle for some time, and is what a server of
//! sensors wants; [`EvictLeastRecentlyUsed`](Admission::EvictLeastRecentlyUsed) and
//! [`EvictOldest`](Admission::EvictOldest) always find a place. A client with a valid cookie and no key can end
//! connections of others in this way, with the first of the three only those that are idle: give these policies to
//! servers that bear it. A connection ends without an alert, and its client notices at its next message.
//!
//! A handshake that is not finished keeps its slot for three times the first wait, or for as long as
//! [`with_half_open_ms`](crate::Config::with_half_open_ms) says. After that a client with a cookie may have it, under
//! every policy: the shorter the bound, the more addresses and datagrams somebody needs to keep others out. Take the
//! longest time of an honest handshake: an evicted client has to begin again. Have a slot more than clients: then a client that
//! begins again keeps its old connection until the new one has proved itself, and nobody can end it in the client's
//! name.
//!
//! # Whose data are these?
//!
//! [`Server::receive`](crate::Server::receive) says it: it returns an [`Association`](crate::Association), the name of a
//! connection. Decide by [`peer_identity`](crate::Server::peer_identity) or
//! [`peer_public_key`](crate::Server::peer_public_key) what its client may do, and answer with
//! [`send`](crate::Server::send). Never decide by the address of a datagram: with connection IDs anybody can send a
//! recorded datagram from anywhere, and behind a NAT an address is somebody else's tomorrow.
//!
//! # A cookie?
//!
//! A server answers the first ClientHello with a cookie, and keeps nothing until it returns (RFC 6347, section 4.2.1).
//! It costs a round trip, 135 octets, and 0.2 s over one hop; over three hops 1.5 s of 4.8. It keeps anybody from
//! filling the slots under false addresses, or from making the server send its flight to somebody else. Leave it out
//! with [`Credentials::is_known`] only for addresses that nobody else can send from: behind a link layer with keys of
//! its own, for example. Until such a client has proved itself, it gets at most three times the octets that it has
//! sent, and only a slot that is free. A server that somebody attacks over a long time makes other cookies now and
//! then: [`Server::rotate_cookies`](crate::Server::rotate_cookies).
//!
//! # How long to wait?
//!
//! [`Timeouts::initial_ms`] is the wait of a flight for its answer, 9 s by default (RFC 7925, section 11): right for a
//! slow link with a slow peer, where each datagram that is sent twice costs energy. Where datagrams get lost and the
//! round trip is known, take twice the round trip: over three hops with 5 % of frames lost, a handshake takes 14 s in
//! the median with 9 s, and 6 s with the 2 s of tinyDTLS. Add what the peer computes, which is a second for public
//! keys. A wait that is too short sends everything twice, and the copies delay the originals. [`Timeouts::floor_ms`]
//! lets an end measure: after the first answer, the wait follows the round trip (RFC 6298), and is never below the
//! floor. It helps a client that does not know where it is. [`Timeouts::growth`](crate::Timeouts::growth) makes waits grow
//! as in CoCoA, and dithers them: for many devices that begin at once, after a power cut. [`Timeouts::retransmissions`] times 60 s is how long a
//! server keeps a slot for a client that has gone; [`Timeouts::maximum_ms`] bounds it. Nothing of this is visible to
//! the peer, and nothing is secret.
//!
//! # Data before the end?
//!
//! With False Start (RFC 7918; feature `false-start`) a client with a raw public key or certificates sends its first data
//! behind its own Finished, a round trip before it has the server's. The server is told too, so that it does not take data
//! as a sign that its last flight has arrived; a server that does cannot mend the loss of that flight. The data are encrypted
//! before the client knows that nobody has changed the hellos: an attacker can have made both ends choose the weakest of
//! what the client offers. Offer little, and send nothing first that must not be read under the weakest. Pre-shared keys
//! are not allowed to do so (its section 5.3).
//!
//! # A connection ID?
//!
//! Choose one (RFC 9146; feature `connection-id`) if addresses change while a connection lasts: behind a NAT whose
//! entries expire in less time than a sensor sleeps. Then a record says by itself whose it is, and no new handshake is
//! needed. The server alone needs octets (`with_connection_id(n)`); the client says 0. It costs n + 1 octets in each
//! record for that end. n of 1 or 2 is enough for few clients; the IDs are random, and up to 8 octets long. An ID is in
//! clear and stays the same, so whoever watches two networks sees that it is the same device. A new address is not
//! believed unless `with_followed_addresses` says so: somebody on the path can send the client's newest record from
//! elsewhere first, and the answers then go there.
//!
//! # Resume?
//!
//! A session that is resumed needs no public keys and one round trip less (feature `resumption`). With public keys this
//! saves nearly all of 39 million instructions; with pre-shared keys a flight and some hashing, for 29 octets more (a
//! name of 32 octets in three messages). **By ID** (RFC 5246, section 7.3) the server keeps the session, in a
//! [`SessionCache`](crate::SessionCache) of fixed size or where its owner wants; **by ticket** (RFC 5077;
//! `with_tickets`) the client keeps it, 84 octets of lean-dtls and those of its identity, up to 256 of other libraries,
//! and the server has one key. Choose IDs for a server with few clients, tickets for one with many, or for several
//! servers with one key. A session is good only where its client would be let in: a server asks its credentials about
//! the identity or the raw public key again, and takes a chain of certificates for good only if
//! [`session_context`](crate::Credentials::session_context) is the same as where it was checked.
//! Whoever gets the key of the tickets can read every session in them: `Server::rotate_ticket_key` changes it. A
//! session is resumed for a day at most (section F.1.4 of RFC 5246), and only if it had the extended master secret (RFC
//! 7627, section 5.3).
//!
//! # Shorter records?
//!
//! `with_record_size_limit` (RFC 8449; feature `record-limits`) tells the peer how much this end can take: choose it if
//! the peer may send application data longer than the datagram buffer. `with_max_fragment_length` (RFC 6066) is the
//! older form, with four lengths from 512 on and for both directions; choose it only for peers that do not know the
//! other. Each is 6 or 5 octets in a hello. Handshake messages are cut by `mtu`, not by these.
//!
//! # Heartbeats?
//!
//! With them (RFC 6520; feature `heartbeat`), an end asks whether the other is there, and how far: a record of 52
//! octets each way in place of a handshake. Choose them for connections that are idle for hours, whose server may have
//! lost its memory: without one a client notices it when its data get no answer. An application that acknowledges
//! (CoAP) needs none. A request has the least padding that RFC 6520 allows, and answers are bounded by the datagram.
//!
//! # Which switches of the lean profile?
//!
//! `docs/reference/lean-profile.md` has each, what it protects, and why nothing is lost. In the order of what they gain
//! in a handshake over one hop (735 octets, 8 frames and 1.58 s without any):
//!
//! | switch | gains | costs |
//! | --- | --- | --- |
//! | [`OMIT_MESSAGES`](crate::Lean::OMIT_MESSAGES) | 91 octets, a frame, 0.24 s; on slow processors both ends derive keys at the same time | the name of the key is in the first message |
//! | [`SHORT_NONCE`](crate::Lean::SHORT_NONCE) | 8 octets in each record | nothing |
//! | [`SHORT_HEADER`](crate::Lean::SHORT_HEADER) | 10 octets in each record | no connection IDs; not more than 2^15 records lost in a row |
//! | [`SHORT_FINISHED`](crate::Lean::SHORT_FINISHED) | 24 octets | nothing |
//! | [`ACKNOWLEDGE`](crate::Lean::ACKNOWLEDGE) | only what is lost is sent again | a record of 14 octets, if it is needed |
//! | [`KNOWN_ADDRESS`](crate::Lean::KNOWN_ADDRESS) | the name of the key, twice | the server must know its clients by address |
//! | [`SERVER_FINISHED_FIRST`](crate::Lean::SERVER_FINISHED_FIRST) | the client may send data a round trip earlier | see there |

use crate::{Admission, Config, Credentials, Packing, Timeouts};
