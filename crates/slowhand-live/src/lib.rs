//! The world of a scenario against the wall clock: real programs talk through the emulated network.
//!
//! Nothing of the network is written here. [`slowhand_lab::live::Live`] is the world, the same as that of a run. This crate
//! makes its events happen when the wall clock says so, and puts programs at its ends: by sockets ([`Ways::Proxies`],
//! [`Ways::Clients`], [`Ways::Server`]) or by the kernel's IPv6 ([`Ways::Interfaces`]).
//!
//! One thread does all of this. Its owner has a [`Live`]: it takes [`Event`]s, asks for a [`Snapshot`], changes the network
//! and stops it.

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
