//! A stack of TLS or DTLS in Rust, as slowhand loads it: a library, or a protocol of your own.
//!
//! A type that implements [`Stack`] is one end of a session. [`export!`] makes it a stack, `slowhand stacks add NAME Cargo.toml`
//! compiles it, and it runs in every command beside the libraries that are built in. docs/own-stack.md of slowhand is its page; its
//! example is a whole protocol, in `stacks/toy`.
//!
//! A stack has no clock, randomness, thread, file or socket but what [`host`] gives it, and it never waits: it returns a deadline.
//! `slowhand stacks add` links a guard, so that `Instant::now`, `HashMap::new` (whose hasher is random) and the like end the session,
//! with the function in its record. Use a `BTreeMap`, and [`host::instant`] where a library asks for an `Instant`.
//!
//! A panic ends the session too: it has failed, and its words are where that was and why.
//!
//! # Example
//! A protocol of one datagram, which is not even protected:
//!
//! ```
//! use std::time::Duration;
//!
//! use slowhand_stack::{
//!     Capabilities, CredentialName, Failure, Options, Progress, Protocol, ProtocolName, Stack, State, Timer, host,
//! };
//!
//! struct Greeting {
//!     is_server: bool,
//!     is_established: bool,
//! }
//!
//! impl Greeting {
//!     fn establish(&mut self) -> Progress {
//!         self.is_established = true;
//!         host::verified();
//!         State::Established.into()
//!     }
//! }
//!
//! impl Stack for Greeting {
//!     const CAPABILITIES: Capabilities = Capabilities {
//!         protocols: &[Protocol { curves: &[], ..Protocol::new(ProtocolName::Dtls12) }],
//!         credentials: &[(CredentialName::Psk, 64)],
//!         suites: &[0xC0A8],
//!         longest_psk: 16,
//!         ..Capabilities::new(c"MIT OR Apache-2.0", Timer::doubling(Duration::from_secs(1), 64))
//!     };
//!     const VERSION: &'static std::ffi::CStr = c"1.0";
//!
//!     fn create(options: &Options<'_>) -> Result<Self, Failure> {
//!         Ok(Self { is_server: options.is_server, is_established: false })
//!     }
//!
//!     fn start(&mut self) -> Progress {
//!         host::transmit(b"hello");
//!         self.establish()
//!     }
//!
//!     fn handle_input(&mut self, input: &[u8]) -> Progress {
//!         match input {
//!             b"hello" if self.is_server => self.establish(),
//!             data if self.is_established => {
//!                 host::deliver(data);
//!                 State::Established.into()
//!             }
//!             _ => Failure::new(1, "no greeting").into(),
//!         }
//!     }
//!
//!     fn handle_timeout(&mut self) -> Progress {
//!         State::Established.into()
//!     }
//!
//!     fn write(&mut self, data: &[u8]) -> Progress {
//!         host::transmit(data);
//!         State::Established.into()
//!     }
//!
//!     fn close(&mut self) -> Progress {
//!         State::Established.into()
//!     }
//!
//!     fn max_data(&self) -> Option<usize> {
//!         Some(1200)
//!     }
//!
//!     fn suite(&self) -> u16 {
//!         0xC0A8
//!     }
//! }
//!
//! slowhand_stack::export!(Greeting);
//! ```
//!
//! # Modules
//!
//! The crate depends on no other one. Its build script makes the types of `slowhand/stack.h` with the same file as that of
//! slowhand-sessions (`build/layout.rs`).
//!
//! | modules | hold |
//! | --- | --- |
//! | `interface` | `slowhand/stack.h` in Rust, generated from it |
//! | `capabilities`, `options`, `progress` | what a stack can do, what a session is to be, how it is |
//! | `host` | the table of the host as safe functions |
//! | `adapter`, `table` | the functions that slowhand calls, over the trait; what a stack exports, made by the compiler |

mod adapter;
mod capabilities;
pub mod host;
mod interface;
mod options;
mod progress;
mod table;

use std::ffi::CStr;

pub use capabilities::{Capabilities, CredentialName, Maximum, Protocol, ProtocolName, PskMode, Timer};
pub use options::{Options, RawKeys, Resumption};
pub use progress::{Failure, Progress, State};
pub use table::{Exported, exported};

/// One end of a session.
///
/// Calls of one end come one after the other, perhaps on several threads. Other sessions run on other threads meanwhile, so a stack
/// has no variable that two of them write.
pub trait Stack: Send + Sized + 'static {
    /// The capabilities of the stack. slowhand refuses scenarios that ask for more.
    const CAPABILITIES: Capabilities;
    /// The version of the library.
    const VERSION: &'static CStr;

    /// Is called when the stack has been loaded, before anything else, in each process once: for what a library prepares for all
    /// sessions. There is no device: the clock shows 0, and what is sent goes nowhere.
    fn load() {}

    /// Makes an end. This is the boot of the device: operations take no time.
    ///
    /// # Errors
    /// A step failed. The scenario is refused with these words.
    fn create(options: &Options<'_>) -> Result<Self, Failure>;

    /// Begins the session. Only clients are asked.
    fn start(&mut self) -> Progress;

    /// One datagram, or octets of the stream; at least one octet.
    fn handle_input(&mut self, input: &[u8]) -> Progress;

    /// The deadline has come.
    fn handle_timeout(&mut self) -> Progress;

    /// Sends all of the application data, at most [`max_data`](Self::max_data) octets, in an established session.
    fn write(&mut self, data: &[u8]) -> Progress;

    /// Sends a close_notify.
    fn close(&mut self) -> Progress;

    /// The most octets of application data in one datagram. `None`: the session has no datagrams.
    fn max_data(&self) -> Option<usize>;

    /// The IANA number of the suite of an established session.
    fn suite(&self) -> u16;

    /// The length of the connection ID in the records that this end sends. `None`: none was negotiated.
    fn connection_id(&self) -> Option<u8> {
        None
    }

    /// The state that this end keeps to resume its session later: a client the session, a server the session or the key of its tickets.
    fn resumable(&mut self) -> Option<Vec<u8>> {
        None
    }
}
