//! The exports of a stack: constants that the compiler makes, because slowhand reads them before it gives the stack a host.

use std::ffi::{CStr, c_int};
use std::marker::PhantomData;
use std::ptr;
use std::time::Duration;

use crate::capabilities::{Maximum, Protocol, PskMode};
use crate::interface::*;
use crate::options::Resumption;
use crate::{Stack, adapter, host};

/// The constant that a stack exports, of the type `struct slowhand_stack`.
#[repr(transparent)]
pub struct Exported(slowhand_stack);

// SAFETY: it points to constants, and to the place of the host, which is an atomic variable.
unsafe impl Sync for Exported {}

impl Exported {
    /// Its address, of the type `const struct slowhand_stack *`, for a program that links the stack as a crate.
    pub const fn as_ptr(&'static self) -> *const std::ffi::c_void {
        ptr::from_ref(&self.0).cast()
    }
}

/// The value that [`export!`](crate::export!) exports.
pub const fn exported<S: Stack>() -> Exported {
    Exported(slowhand_stack {
        version: SLOWHAND_STACK_VERSION,
        host: host::place(),
        capabilities: Table::<S>::CAPABILITIES,
        library: Table::<S>::LIBRARY,
    })
}

/// Exports a type that implements [`Stack`] as the stack of this crate, under the name `slowhand_stack`. Once in each crate.
#[macro_export]
macro_rules! export {
    ($stack:ty) => {
        /// The stack of this crate.
        // SAFETY: the name is that of the one symbol of a stack, and nothing else in its object has it.
        #[unsafe(export_name = "slowhand_stack")]
        pub static SLOWHAND_STACK: $crate::Exported = $crate::exported::<$stack>();
    };
}

/// The most numbers in a list, without the 0 at its end: more than slowhand knows.
const MOST: usize = 63;

/// A list for C, which ends with 0.
type List = [u16; MOST + 1];

/// More protocols and credentials than there are.
const MOST_NAMES: usize = 7;

struct Table<S>(PhantomData<S>);

impl<S: Stack> Table<S> {
    const SUITES: &'static List = &list(S::CAPABILITIES.suites);
    const RSA_BITS: &'static List = &list(S::CAPABILITIES.rsa_bits);
    const CURVES: &'static [List; MOST_NAMES] = &lists::<S>(true);
    const FRAGMENT_LENGTHS: &'static [List; MOST_NAMES] = &lists::<S>(false);
    const PROTOCOLS: &'static [slowhand_protocol; MOST_NAMES + 1] = &Self::protocols();
    const CREDENTIALS: &'static [slowhand_credential; MOST_NAMES + 1] = &Self::credentials();
    const CAPABILITIES: &'static slowhand_capabilities = &Self::capabilities();
    const LIBRARY: &'static slowhand_library = &adapter::library::<S>();

    const fn protocols() -> [slowhand_protocol; MOST_NAMES + 1] {
        const NONE: slowhand_protocol = slowhand_protocol {
            protocol: SLOWHAND_NO_PROTOCOL,
            resumptions: 0,
            curves: ptr::null(),
            fragment_lengths: ptr::null(),
        };
        let mut protocols = [NONE; MOST_NAMES + 1];
        let mut at = 0;
        while at < S::CAPABILITIES.protocols.len() {
            let protocol = &S::CAPABILITIES.protocols[at];
            protocols[at] = slowhand_protocol {
                protocol: protocol.name as c_int,
                resumptions: resumptions(protocol),
                curves: Self::CURVES[at].as_ptr(),
                fragment_lengths: Self::FRAGMENT_LENGTHS[at].as_ptr(),
            };
            at += 1;
        }
        protocols
    }

    const fn credentials() -> [slowhand_credential; MOST_NAMES + 1] {
        const NONE: slowhand_credential = slowhand_credential { credential: SLOWHAND_NO_CREDENTIAL, minimum_mtu: 0 };
        let mut credentials = [NONE; MOST_NAMES + 1];
        let mut at = 0;
        while at < S::CAPABILITIES.credentials.len() {
            let (name, minimum_mtu) = S::CAPABILITIES.credentials[at];
            credentials[at] = slowhand_credential { credential: name as c_int, minimum_mtu };
            at += 1;
        }
        credentials
    }

    const fn capabilities() -> slowhand_capabilities {
        let of = S::CAPABILITIES;
        let (maximum_timeout_ns, maximum_times_first) = match of.timer.maximum {
            Maximum::Chosen(maximum) => (nanoseconds(maximum), 0),
            Maximum::TimesFirst(times) => (0, times),
        };
        slowhand_capabilities {
            licence: of.licence.as_ptr(),
            protocols: Self::PROTOCOLS.as_ptr(),
            credentials: Self::CREDENTIALS.as_ptr(),
            suites: Self::SUITES.as_ptr(),
            rsa_bits: Self::RSA_BITS.as_ptr(),
            minimum_mtu_reason: text(of.minimum_mtu_reason),
            fragments: of.fragments as c_int,
            without_cookie: of.without_cookie as c_int,
            cookieless: of.cookieless as c_int,
            identity_with_nul: of.identity_with_nul as c_int,
            connection_id: match of.connection_id {
                Some(longest) => longest as c_int,
                None => -1,
            },
            longest_psk: of.longest_psk,
            psk_modes: psk_modes(of.psk_modes),
            imports_psk: of.imports_psk as c_int,
            record_size_limit: of.record_size_limit as c_int,
            takes_any_chain: of.takes_any_chain as c_int,
            forgets_flight_on_data: of.forgets_flight_on_data as c_int,
            first_timeout_ns: nanoseconds(of.timer.first),
            maximum_timeout_ns,
            least_timeout_ns: nanoseconds(of.timer.least),
            most_timeout_ns: nanoseconds(of.timer.most),
            maximum_times_first,
            remark: text(of.remark),
        }
    }
}

const fn lists<S: Stack>(are_curves: bool) -> [List; MOST_NAMES] {
    let mut lists = [[0; MOST + 1]; MOST_NAMES];
    let mut at = 0;
    while at < S::CAPABILITIES.protocols.len() {
        let protocol = &S::CAPABILITIES.protocols[at];
        lists[at] = list(if are_curves { protocol.curves } else { protocol.fragment_lengths });
        at += 1;
    }
    lists
}

const fn list(numbers: &[u16]) -> List {
    assert!(numbers.len() <= MOST, "a list of a stack has at most 63 numbers");
    let mut list = [0; MOST + 1];
    let mut at = 0;
    while at < numbers.len() {
        list[at] = numbers[at];
        at += 1;
    }
    list
}

const fn resumptions(protocol: &Protocol) -> u32 {
    let (mut bits, mut at) = (0, 0);
    while at < protocol.resumptions.len() {
        bits |= match protocol.resumptions[at] {
            Resumption::None => 0,
            Resumption::Id => 1 << SLOWHAND_RESUMPTION_ID,
            Resumption::Ticket => 1 << SLOWHAND_RESUMPTION_TICKET,
        };
        at += 1;
    }
    bits
}

const fn psk_modes(modes: &[PskMode]) -> u32 {
    let (mut bits, mut at) = (0, 0);
    while at < modes.len() {
        bits |= 1 << modes[at] as c_int;
        at += 1;
    }
    bits
}

const fn text(text: Option<&'static CStr>) -> *const std::ffi::c_char {
    match text {
        Some(text) => text.as_ptr(),
        None => ptr::null(),
    }
}

/// Of five centuries at most.
const fn nanoseconds(duration: Duration) -> u64 {
    let nanoseconds = duration.as_nanos();
    assert!(nanoseconds < u64::MAX as u128, "a timeout has at most 2^64 nanoseconds");
    nanoseconds as u64
}
