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
//! From the ground floor upwards: a module imports only from earlier rows, or from its own row.
//!
//! | modules | hold |
//! | --- | --- |
//! | [`input`] | reads TOML; its errors name file, line and key. `input/files` reads files, or texts in their place |
//! | [`record`], [`estimate`] | one row for each handshake; means with intervals. `record/table`: columns, their meaning, and the schema of a row |
//! | `ids` | the numbers of conversations, of their ends, of computers and of flows, and tables with a row for each |
//! | [`interrupt`] | the wish that a world stops before its end |
//! | [`retry`], [`requests`] | what a client does after a handshake that failed; what it asks for over a long time |
//! | `admission` | what a server with few session slots does with one more client: the policies, and who has a slot |
//! | [`device`], `energy` | currents, start-up and computing times of a device; time in each state, and what the radio and the CPU did, become energy. `device/constant`: a number and its source |
//! | `calendar` | times of days and years |
//! | [`traffic`] | flows of datagrams beside the sessions |
//! | [`application`], `exchange` | what runs above a session; the requests and responses of a run (`application.requests`), or one request and what is observed |
//! | [`scenario`] | one module for each section of a scenario file: its keys, their defaults, and the configuration of the layer |
//! | `scenario/mac` | one module for each kind of link layer, with its implementation of the trait `LinkLayer`; `security`, which all of them have |
//! | `scenario/handling` | how long the processors of the nodes take for a frame |
//! | `scenario/profile` | the software of the nodes; `profile_numbers` has all its numbers, with their sources |
//! | `scenario/nodes` | the numbers of nodes |
//! | `scenario/variation`, `scenario/courses`, `scenario/trace` | what of `[network]` changes with time; the same worked out and checked; the file of a trace |
//! | `scenario/settings` | how each end of the session is configured, with all defaults, for `slowhand settings` |
//! | `scenario/running` | which keys can change while a network runs, and what they change in it |
//! | `scenario/sources` | the texts that a scenario was made from, which make it again |
//! | `scenario/losses` | which key changes how many datagrams are lost, and what to do with it |
//! | `distribution`, [`summary`] | one quantity over many handshakes, exact or as a sketch; the statistics of a run |
//! | [`plan`] | a scenario made ready to run. `Plan::network` builds its network without any session. `plan/delegation`: who opens sessions in the name of nodes |
//! | `warnings` | what is allowed in a scenario, and rarely what its author wants |
//! | `world` | one network with its sessions, run to the end |
//! | [`runner`] | many worlds on many threads; their records in the order of seeds |
//! | `threads` | the same where all results are kept: lives, and networks that form |
//! | `comparison` | the difference of two configurations in the same worlds |
//! | `about` | a scenario in a few words |
//! | [`explanation`] | where the time of one handshake went: its critical path in words, a timeline of every layer, comments on frames |
//! | [`inspect`], [`capture`], `pcapng`, `sniffer` | one world in detail: nodes, radios, buffers; its frames as pcapng |
//! | `playback` | all of it for a picture that moves; `dissection`: a frame in words |
//! | [`life`] | what a device uses in months or years of requests |
//! | [`battery`] | batteries, and how long one lasts |
//! | [`joining`] | how a TSCH network forms: each node from its first scan to its first datagram at the root, with `cojp` of slowhand-coap. It needs no `world` |
//! | [`readers`] | many readers of one node's value: sessions of each, or objects, over `Plan::network` with a driver of its own. `readers/ends`: ends of CoAP with a session below or none, and their computers; `readers/world`: its events, `paths` who is connected to whom, `programs` what each does |
//! | [`capacity`] | session slots of a server apart from the network: Engset's formula, and a simulation of the policies of `admission` |
//! | `live` | a world that its caller drives, with conversations that come and go |
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
mod ids;
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
mod warnings;
mod world;

pub use about::about;
pub use slowhand_sessions::{CountingAllocator, StackInfo};
pub use slowhand_sessions::{Stack, implementations, own_names, stack_file, stack_named, stacks, stacks_folder, trial};
pub use sniffer::{CaptureRunError, LiveCapture, capture_octets, capture_run, wireshark_arguments};
pub use warnings::warnings;
