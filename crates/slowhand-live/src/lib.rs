//! The world of a scenario against the wall clock: real programs talk through the emulated network.
//!
//! Nothing of the network is written here. [`slowhand_lab::live::Live`] is the world, the same as that of a run. This crate
//! makes its events happen when the wall clock says so, and puts programs at its ends: by sockets ([`Ways::Proxies`],
//! [`Ways::Clients`], [`Ways::Server`]) or by the kernel's IPv6 ([`Ways::Interfaces`]).
//!
//! One thread does all of this. Its owner has a [`Live`]: it takes [`Event`]s, asks for a [`Snapshot`], changes the network
//! and stops it.
//!
//! # Modules
//!
//! From the ground floor upwards: a module imports only from earlier rows, or from its own row.
//!
//! | modules | hold |
//! | --- | --- |
//! | `clock`, `applications` | the wall clock beside the time of the network, and how late the network is; what runs above emulated ends |
//! | `handshake` | what can be seen of a session from outside: when an end is established, when the session is closed |
//! | `namespace`, `privileges` | network namespaces; the capabilities that the network's thread gives up |
//! | `link`, `tun`, `relay` | interfaces, set up by netlink; the kernel's IPv6 at one side; a session that passes everything to a program |
//! | `pieces` | a file that is written on a thread of its own |
//! | `recording`, `world`, `replay` | what came into the world, as a file; the world, which the driver changes here only; the same again in virtual time |
//! | `setup`, `programs` | what a live network is told, and why it does not start; conversations, programs at their ends, and their sockets |
//! | `event`, `event_queue`, `tally`, `recent` | what a live network tells, and how it reaches the owner; what it did so far; its last frames, while a page asks |
//! | `admission`, `control`, `capture` | which node a client gets; the socket for commands; frames as pcapng, also into FIFOs that somebody asks for |
//! | `driver` | the loop; `clients`: how clients come in; `opened`: what is open to the outside; `reports`: what is told and changed |
//! | `live` | `Live`, what the owner of a network has |

#![forbid(unsafe_code)]

mod admission;
mod applications;
mod capture;
mod clock;
mod control;
mod driver;
mod event;
mod event_queue;
pub mod handshake;
pub mod link;
mod live;
pub mod namespace;
mod pieces;
pub mod privileges;
mod programs;
mod recent;
mod recording;
mod relay;
mod replay;
mod setup;
mod tally;
pub mod tun;
mod world;

pub use clock::{FAR_BEHIND, LATENESS_LIMIT, LatenessReport};
pub use event::{
    Address, DatagramCounts, EndReason, Event, LinkState, NodeState, OpenSession, Report, SessionCounts, Snapshot,
};
pub use live::Live;
pub use recording::Header;
pub use replay::{Recording, ReplayError, Replayed, replay};
pub use setup::{LEAST_SPEED, LiveError, MOST_PROXIES, MOST_SPEED, Proxy, Setup, Transport, Ways};
pub use tun::Interface;
