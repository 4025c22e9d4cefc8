//! An emulated low-power network in virtual time: IEEE 802.15.4, 6LoWPAN, IPv6, UDP, TCP and DCCP.
//!
//! A [`Network`](network::Network) is a mesh of nodes under one link layer, its border router, and the Internet behind
//! it. You give it IPv6 packets. It gives you the packets that arrive, the losses with their reasons, and every frame
//! on the air. All octets are real: Wireshark can read each frame.
//!
//! # Goals
//!
//! - **Virtual time.** You pass the time to each call. The crate has no thread, no socket and no wall clock.
//! - **Reproducible.** The same configuration, seed and calls give the same frames at the same microseconds, on every
//!   machine.
//! - **Fast.** The cost grows with the number of frames, not with the time that passes between them.
//! - **Visible.** An [`Observer`](observer::Observer) sees frames, radio states and buffer levels.
//!
//! # Non-goals
//!
//! - The crate does not know what packets carry. TLS, DTLS and applications live above it. There are three
//!   exceptions, which read DTLS: the border router can hold back repeated flights ([`network::gateway::suppression`]) and chains of
//!   certificates that are not valid ([`network::gateway::validation`]), and nodes can compress its headers ([`lowpan::lithe`]).
//! - There is no model of radio waves. Each direction of each link has a probability of delivery ([`link`]). Frames
//!   that overlap at a receiver collide.
//! - Routes do not change, not even if links do. A [`Routes`](route::Routes) tree is made once from the links.
//! - It is no stack for a device: one process holds the state of all nodes, and it allocates memory.
//!
//! # Modules
//!
//! From the ground floor upwards: a module imports only from earlier rows, or from its own row or folder.
//!
//! | modules | hold |
//! | --- | --- |
//! | [`clock`], [`random`], [`queue`] | virtual time, named random streams, the event queue |
//! | [`address`], [`datagram`], [`drop_reason`] | nodes, EUI-64 and IPv6 addresses; numbers of datagrams; why datagrams are lost |
//! | [`link`], [`route`] | which node hears which other node; the routing tree |
//! | `link/` | what changes with time: `alternating` (states that come and go), `course` (ratios over time), `variation` (both, and Wi-Fi); `capture`: powers, and which frame survives others |
//! | [`observer`] | what an observer sees: frames, when they were handled, radio states, buffer levels |
//! | `cursor` | reads and writes octets in order, for `radio/frame` and `lowpan` |
//! | [`radio`] | IEEE 802.15.4: the `Mac` trait (enqueue a frame, deadline, handle the deadline) |
//! | `radio/frame` | the codec of frames: header, addresses, security, information elements; every MAC writes and reads through it. `ccm` encrypts and authenticates their octets |
//! | `radio/medium` | the shared channel of MACs that contend: carrier sense, collisions, capture |
//! | `radio/processor`, `radio/queue` | how long the processor of a node is busy with frames, and how many it has handled; how many frames wait there. Every MAC has one `NodeQueue` for each node, which tells the processor of each frame |
//! | `radio/meter` | how often a radio starts and ramps up, and how long it is ready: time and counts, for the energy of the laboratory |
//! | `radio/tsch`, `radio/sixtop` | slots and cells; `tsch/formation`: nodes that scan, and nodes without keys; `tsch/scheduling` changes cells at run time, by the messages of 6P; `tsch/load`: beacons, DIOs, keep-alives, and `tsch/upkeep` their frames; `tsch/event`: what happens when; `tsch/scan`: what is known of nodes that scan |
//! | `radio/security` | what a sender does with frames that are secured: counters and CCM\*. Captures ask for it, runs do not |
//! | `radio/contention` | the engine of link layers with CSMA/CA: `Pan` has nodes, queues, tree and events, and exchanges frames; the trait `Rules` is what a MAC decides. Its `Account` adds up what each radio does, also that of X-MAC |
//! | `radio/xmac`, `radio/beacon`, `radio/csma` | preamble sampling; beacon-enabled superframes; unslotted CSMA/CA with sleepy devices |
//! | [`ip`], [`transport`] | IPv6, UDP, ICMPv6, the headers and DIOs of RPL; TCP, DCCP, and a proxy that splits TCP connections |
//! | [`lowpan`] | 6LoWPAN: compression of headers and payloads, routing headers, fragmentation, reassembly, forwarding and recovery of fragments, mesh headers |
//! | [`network`] | `Network`: carries IPv6 packets between the nodes of the mesh and hosts on the Internet |
//!
//! [`Network`](network::Network) has one type under every link layer: it holds a `Box<dyn Mac>`.
//!
//! # The path of a packet
//!
//! 1. [`Network::send`](network::Network::send) writes the IPv6 and UDP headers. The routes give the next hop.
//! 2. [`lowpan::Fragmenter`] compresses the headers (RFC 6282) and cuts the packet into frame payloads (RFC 4944).
//! 3. The link layer ([`radio::Mac`]) adds the 802.15.4 header, queues the frame, and sends it at its time. It sends
//!    the frame again if no acknowledgement comes.
//! 4. At the next hop, [`lowpan::Reassembler`] puts the packet together. The node forwards it with a hop limit that is
//!    lower by one. A packet for the Internet leaves the mesh at node 0, the border router.
//! 5. At the destination, the packet becomes an [`Event`](network::Event).
//!
//! # The run loop
//!
//! The contract between a network and its driver:
//!
//! - The `send*` methods give the network a packet. The caller numbers its datagrams, below
//!   [`ROUTER_DATAGRAMS`](datagram::ROUTER_DATAGRAMS); events name a datagram by its number.
//! - [`deadline`](network::Network::deadline) is the time at which the network has something to do next. Ask again
//!   after each call.
//! - [`handle_deadline(now)`](network::Network::handle_deadline) does everything that is due at `now` or before. A late
//!   call loses nothing: each thing still happens at its own time.
//! - Before the driver sends at `now`, it handles every deadline before `now`. Else `send*` refuses with
//!   [`SendError::Overdue`](network::SendError::Overdue).
//! - This holds also for [`begin_burst`](network::Network::begin_burst) and
//!   [`end_burst`](network::Network::end_burst). They return no error: a debug build panics, and in a release build the
//!   time of the call is the deadline.
//! - Time does not run backwards. If `now` is earlier than the latest time that was passed, the latest time counts. A
//!   call that fails does not advance the time.
//! - [`Events`](network::Events) collects what happened, in the order of time. The driver reads the events after each
//!   call, then clears them.
//!
//! A sensor two hops away sends 200 octets to a server on the Internet:
//!
//! ```
//! use slowhand_net::address::{Host, NodeId};
//! use slowhand_net::clock::{Duration, Instant};
//! use slowhand_net::ip::Endpoint;
//! use slowhand_net::link::{LinkQuality, Links};
//! use slowhand_net::network::{Event, Events, Network, NetworkConfig};
//! use slowhand_net::radio::tsch::layout::Layout;
//! use slowhand_net::radio::tsch::{Tsch, TschConfig};
//! use slowhand_net::random::Streams;
//! use slowhand_net::route::Routes;
//!
//! // Three nodes in a line: 0 is the border router. Nine of ten frames arrive.
//! let qualities: Vec<_> =
//!     [(0, 1), (1, 2)].iter().flat_map(|&(a, b)| LinkQuality::symmetric(NodeId(a), NodeId(b), 0.9)).collect();
//! let streams = Streams::new(1);
//! let links = Links::new(3, &qualities, &streams);
//! let routes = Routes::shortest(3, &qualities)?;
//! let layout = Layout { slotframe: 11, shared: 1, up: 1, down: 1, autonomous: false };
//! let mac = Tsch::new(TschConfig::openwsn(11), links, layout.cells(&routes)?, &streams);
//! let mut network = Network::new(Box::new(mac), routes, NetworkConfig::default(), &streams);
//!
//! let mut events = Events::default();
//! let sensor = Endpoint::new(Host::Node(NodeId(2)).address(), 5683);
//! let server = Endpoint::new(Host::Internet.address(), 5683);
//! network.send(Instant::ZERO, sensor, server, &[0x55; 200], 1, &mut events)?;
//!
//! let end = Instant::ZERO + Duration::from_secs(60);
//! let mut arrived = None;
//! while let Some(now) = network.deadline().filter(|&now| now < end) {
//!     network.handle_deadline(now, &mut events, &mut ()); // `()` is an observer that ignores everything
//!     for event in events.iter() {
//!         match event {
//!             Event::Delivered { at, host, payload, .. } => {
//!                 assert_eq!((host, payload.len()), (Host::Internet, 200));
//!                 arrived = Some(at);
//!             }
//!             Event::Lost { reason, .. } => println!("lost: {}", reason.name()),
//!             _ => {}
//!         }
//!     }
//!     events.clear();
//! }
//! assert!(arrived.is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The folder `examples` has complete programs: `ping` and `throughput`.

#![forbid(unsafe_code)]

/// An enum with a name for each variant.
macro_rules! named {
    ($(#[$attribute:meta])* pub enum $enum:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$attribute])*
        pub enum $enum { $($(#[$doc])* $variant),* }

        impl $enum {
            /// Its name in records, messages and timelines.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }
    };
}

/// An enum with the list of its variants. Where they have numbers, these count from 0, and are the places in the list.
macro_rules! listed {
    ($(#[$attribute:meta])* $visible:vis enum $enum:ident {
        $($(#[$doc:meta])* $variant:ident $(= $number:literal)?,)*
    }) => {
        $(#[$attribute])*
        $visible enum $enum { $($(#[$doc])* $variant $(= $number)?),* }

        impl $enum {
            /// All of them, in order.
            $visible const ALL: [Self; [$(stringify!($variant)),*].len()] = [$(Self::$variant),*];
        }

        // `ALL` is read by number.
        const _: () = {
            let mut place = 0;
            while place < $enum::ALL.len() {
                assert!($enum::ALL[place] as usize == place);
                place += 1;
            }
        };
    };
}

pub mod address;
pub mod clock;
mod cursor;
pub mod datagram;
pub mod drop_reason;
pub mod ip;
pub mod link;
pub mod lowpan;
pub mod network;
pub mod observer;
pub mod queue;
pub mod radio;
pub mod random;
pub mod route;
pub mod transport;
