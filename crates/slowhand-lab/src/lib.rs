//! A laboratory for secure sessions over low-power networks: from a scenario in TOML to records.
//!
//! # Goal
//!
//! A scenario names a network, the devices at the two ends, and a library of TLS or DTLS with its settings. The
//! laboratory runs the real library over the emulated network in virtual time. It says how long each handshake took,
//! what it cost in frames, octets and energy, and why it failed. The same scenario and seed give the same record on
//! every machine.
//!
//! # What it does not do
//!
//! It opens no socket and waits for no real clock. It has no network and no library of its own: the network is
//! [`slowhand_net`], and the libraries are behind [`slowhand_sessions::Session`].
//!
//! # Modules
//!
//! | module | what it has |
//! | --- | --- |
//! | [`input`] | reads TOML; its errors name file, line and key |
//! | [`scenario`] | what a scenario may say: one type for each section |
//! | [`device`] | what a device draws and how fast it computes |
//! | [`plan`] | a scenario that is ready to run, and its network |
//! | [`traffic`] | flows of datagrams beside the sessions |
//! | [`application`] | the programs above the sessions of a conversation |
//! | [`requests`] | what a client asks for over a long time |
//! | [`retry`] | what a client does after a handshake that failed |
//! | [`record`] | the result of one handshake, and of one conversation with its phases |
//! | [`interrupt`] | stops worlds before their end |
//! | [`runner`] | runs many seeds on many threads |
//! | [`summary`], [`estimate`] | means with confidence intervals, percentiles |
//! | [`inspect`] | one world in detail: each node's time, energy and buffers |
//! | [`explanation`] | where the time of one handshake went |
//! | [`capture`] | frames as pcapng, with the keys for Wireshark |
//! | [`battery`] | batteries, and how long one lasts |
//! | [`joining`] | how a TSCH network forms: each node from its first scan to its first datagram at the root |
//! | [`readers`] | what it costs that many readers read one node's value: DTLS to each, or an object that is signed once |
//! | [`life`] | what a device uses in months or years of requests |
//! | [`capacity`] | how many session slots a server needs |
//!
//! # From a file to records
//!
//! 1. [`Scenario::load`](scenario::Scenario::load) reads a file and checks it. A text is read with [`str::parse`].
//! 2. [`Plan::new`](plan::Plan::new) does once what is the same for all seeds: the routes, the schedule, the devices.
//! 3. [`Plan::run`](plan::Plan::run) makes the world of one seed and runs it: one [`Record`](record::Record) for each
//!    client. [`Runner`](runner::Runner) does that for many seeds.
//! 4. [`summarise`](summary::summarise) makes the summary of many records.
//!
//! ```
//! use slowhand_lab::plan::Plan;
//! use slowhand_lab::scenario::Scenario;
//! use slowhand_lab::summary::summarise;
//!
//! let scenario: Scenario = r#"
//!     network = { topology = { kind = "line", hops = 2 } }
//!     mac = { kind = "tsch", slotframe = 11 }
//!     client = { device = "openmote-cc2538" }
//!     session = { stack = "mbedtls", suite = "TLS_PSK_WITH_AES_128_CCM_8" }
//! "#
//! .parse()?;
//! let plan = Plan::new(&scenario)?;
//! let records: Vec<_> = (1..=3).flat_map(|seed| plan.run(seed, &mut ())).collect();
//! let summary = summarise(&scenario, &records);
//! assert_eq!(summary.completed, 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # An application above the session
//!
//! [`Plan::run_applications`](plan::Plan::run_applications) runs a program of yours at each end of each session. Here
//! the client sends one reading and stops. `examples/request.rs` has a server that answers.
//!
//! ```
//! use slowhand_lab::application::{Action, Application, OpenAndStop};
//! use slowhand_lab::plan::Plan;
//! use slowhand_lab::record::Outcome;
//! use slowhand_lab::scenario::Scenario;
//! use slowhand_net::address::NodeId;
//! use slowhand_net::clock::Instant;
//! use slowhand_sessions::Role;
//!
//! #[derive(Default)]
//! struct Sensor {
//!     next: Option<Action>,
//!     has_sent: bool,
//! }
//!
//! impl Application for Sensor {
//!     fn handle_established(&mut self, _now: Instant) {
//!         self.next = Some(Action::Write(b"21.5".to_vec()));
//!     }
//!
//!     fn poll_action(&mut self) -> Option<Action> {
//!         self.has_sent |= self.next.is_some();
//!         self.next.take()
//!     }
//!
//!     fn is_finished(&self) -> bool {
//!         self.has_sent
//!     }
//! }
//!
//! # let scenario: Scenario = r#"
//! #     network = { topology = { kind = "line", hops = 2 } }
//! #     mac = { kind = "tsch", slotframe = 11 }
//! #     client = { device = "openmote-cc2538" }
//! #     session = { stack = "mbedtls", suite = "TLS_PSK_WITH_AES_128_CCM_8", timeout_s = 9 }
//! # "#
//! # .parse()?;
//! let applications = |_client: NodeId, role: Role| -> Box<dyn Application> {
//!     match role {
//!         Role::Client => Box::new(Sensor::default()),
//!         Role::Server => Box::new(OpenAndStop),
//!     }
//! };
//! let conversations = Plan::new(&scenario)?.run_applications(1, &applications, &mut ());
//! assert_eq!(conversations[0].outcome, Outcome::Completed);
//! let data = &conversations[0].phases[1];
//! assert_eq!((data.phase.name(), data.costs.datagrams), ("data", 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod about;
mod admission;
pub mod application;
pub mod battery;
mod calendar;
pub mod capacity;
pub mod capture;
pub mod comparison;
pub mod device;
mod distribution;
mod energy;
pub mod estimate;
pub mod exchange;
pub mod explanation;
#[cfg(test)]
mod fixtures;
pub mod input;
pub mod inspect;
pub mod interrupt;
pub mod joining;
pub mod life;
pub mod live;
mod pcapng;
pub mod plan;
pub mod playback;
pub mod readers;
pub mod record;
pub mod requests;
pub mod retry;
pub mod runner;
pub mod scenario;
mod sniffer;
pub mod summary;
mod threads;
pub mod traffic;
mod world;

pub use about::about;
pub use slowhand_sessions::{CountingAllocator, StackInfo};
pub use slowhand_sessions::{Stack, implementations, own_names, stack_file, stack_named, stacks, stacks_folder, trial};
pub use sniffer::{CaptureRunError, LiveCapture, capture_octets, capture_run, wireshark_arguments};
