//! The device under a library: its clock, its randomness, and what the library sends and receives.
//!
//! The C libraries call the functions of `struct slowhand_host` (`host`). These have no argument that names the device. So
//! [`Device::run`] makes each library call: during the call, the device is the current one of this thread. Threads
//! share nothing, so worlds may run on any number of threads.
//!
//! A panic must not cross C. So `with_current`, through which all these functions go, catches it. The library
//! continues, and [`Device::run`] resumes the panic when the library has returned. Only a [`Processor`] is not code of
//! this crate. It may run a session of its own, so the library calls of one thread may be nested.

use std::any::Any;
use std::cell::Cell;
use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::config::{Arithmetic, Role};
use crate::heap::Counting;
use crate::operation::{Operation, Performed, Processor};
use crate::session::{Received, Transmit};

/// The latest time that a clock shows: libraries count nanoseconds in 64 bits, which is enough for 584 years. The clock
/// stops there.
const CLOCK_LIMIT: Duration = Duration::from_nanos(u64::MAX);

/// The clock of a device when its session is made.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// The calendar time, since 1970, at which the clock is zero.
    pub(crate) began: Duration,
    /// The time that it shows.
    pub(crate) now: Duration,
}

impl Clock {
    /// The clock of a device in a world that begins earlier than others, by `time`. It shows zero.
    pub fn before(time: Duration) -> Self {
        WORLD_BEGAN.saturating_sub(time).into()
    }

    /// The clock of a device in a world that has run for `now`.
    pub const fn after(now: Duration) -> Self {
        Self { began: WORLD_BEGAN, now }
    }
}

/// It shows zero.
impl From<Duration> for Clock {
    fn from(began: Duration) -> Self {
        Self { began, now: Duration::ZERO }
    }
}

/// The violation of a library that ends its session, beside what its calls return.
#[derive(Debug)]
pub(crate) enum Violation {
    /// It has called this function of the system, which no library may.
    Calls(String),
    /// It has failed in a call that returns no progress: why.
    Fails(String),
}

/// The state that the callbacks of a library use.
pub(crate) struct Device {
    /// The end that runs on it. `None`: what is allocated there is not counted.
    end: Option<Role>,
    /// `None` while the library is set up or taken down: a device does that when it boots, and it takes no time.
    processor: Option<Arc<dyn Processor>>,
    /// The calendar time, since 1970, at which the clock is zero.
    began: Duration,
    clock: Duration,
    arithmetic: Arithmetic,
    random: Xoshiro256PlusPlus,
    /// Datagrams, or writes to a stream, for the network.
    sent: Queue,
    /// The contents of the protected records of each of them ([`Transmit::contents`]).
    contents: Queue,
    /// The contents of the protected records of the next of them.
    sealed: Vec<u8>,
    /// Application data for the user of the session.
    received: Queue,
    performed: Vec<Performed>,
    verified_at: Option<Duration>,
    key_log: Vec<String>,
    /// Why the session ends after the present call, whatever the call returns.
    violation: Option<Violation>,
    /// The first panic of a function that the library has called during the present call.
    panic: Option<Box<dyn Any + Send>>,
}

impl Device {
    /// A device of an end, whose operations take no time.
    pub(crate) fn new(end: Option<Role>, seed: [u8; 32], clock: impl Into<Clock>, arithmetic: Arithmetic) -> Self {
        let Clock { began, now } = clock.into();
        Self {
            end,
            arithmetic,
            processor: None,
            began,
            clock: now.min(CLOCK_LIMIT),
            random: Xoshiro256PlusPlus::from_seed(seed),
            sent: Queue::default(),
            contents: Queue::default(),
            sealed: Vec::new(),
            received: Queue::default(),
            performed: Vec::new(),
            verified_at: None,
            key_log: Vec::new(),
            violation: None,
            panic: None,
        }
    }

    /// Makes a library call with this device as the current one of the thread.
    ///
    /// # Panics
    /// If the processor has.
    pub(crate) fn run<T>(&mut self, call: impl FnOnce() -> T) -> T {
        let reset = (Counting::of(self.end), Current::enter(self));
        let result = call();
        drop(reset);
        if let Some(panic) = self.panic.take() {
            panic::resume_unwind(panic);
        }
        result
    }

    /// From now on, `processor` says how long operations take. Forgets those before.
    pub(crate) fn begin(&mut self, processor: Arc<dyn Processor>) {
        self.processor = Some(processor);
        self.performed.clear();
    }

    /// From now on, operations take no time.
    pub(crate) fn finish(&mut self) {
        self.processor = None;
    }

    /// Sets the clock to `now`. Does nothing if the device computes for longer than that.
    pub(crate) fn advance_clock(&mut self, now: Duration) {
        self.clock = self.clock.max(now.min(CLOCK_LIMIT));
    }

    /// The device's clock: the time at which its last computation ends.
    pub(crate) fn clock(&self) -> Duration {
        self.clock
    }

    /// When the peer's Finished was last verified.
    pub(crate) fn verified_at(&self) -> Option<Duration> {
        self.verified_at
    }

    /// The lines that [`log_key`] has added.
    pub(crate) fn key_log(&self) -> &[String] {
        &self.key_log
    }

    pub(crate) fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        let (at, bytes) = self.sent.pop()?;
        let contents = self.contents.pop().map_or(&[][..], |(_, contents)| contents);
        Some(Transmit { at, bytes, contents })
    }

    pub(crate) fn poll_received(&mut self) -> Option<Received<'_>> {
        self.received.pop().map(|(at, bytes)| Received { at, bytes })
    }

    pub(crate) fn drain_operations(&mut self, receive: &mut dyn FnMut(Performed)) {
        self.performed.drain(..).for_each(receive);
    }

    fn perform(&mut self, operation: Operation) {
        // After a panic, the library only has to come to an end.
        let processor = self.processor.as_ref().filter(|_| self.panic.is_none());
        let took = processor.map_or(Duration::ZERO, |processor| processor.time(operation));
        let took = took.min(CLOCK_LIMIT - self.clock);
        let performed = Performed { operation, at: self.clock, took };
        self.clock += performed.took;
        if !self.performed.last_mut().is_some_and(|last| last.absorb(&performed)) {
            self.performed.push(performed);
        }
    }
}

/// A queue of octet strings. All of them are in one buffer, which is used again when the queue is empty.
#[derive(Default)]
struct Queue {
    octets: Vec<u8>,
    waiting: VecDeque<(Duration, Range<usize>)>,
}

impl Queue {
    fn push(&mut self, at: Duration, bytes: &[u8]) {
        if self.waiting.is_empty() {
            self.octets.clear();
        }
        let begin = self.octets.len();
        self.octets.extend_from_slice(bytes);
        self.waiting.push_back((at, begin..self.octets.len()));
    }

    fn pop(&mut self) -> Option<(Duration, &[u8])> {
        let (at, range) = self.waiting.pop_front()?;
        Some((at, &self.octets[range]))
    }
}

thread_local! {
    static CURRENT: Cell<Option<NonNull<Device>>> = const { Cell::new(None) };
}

/// Keeps a device the current one of this thread until it is dropped.
struct Current {
    previous: Option<NonNull<Device>>,
}

impl Current {
    fn enter(device: &mut Device) -> Self {
        Self { previous: CURRENT.replace(Some(NonNull::from(device))) }
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        CURRENT.set(self.previous);
    }
}

/// Calls `act` with the device of the library call that runs on this thread. If `act` panics, keeps the panic for
/// [`Device::run`] and returns the default.
fn with_current<T: Default>(act: impl FnOnce(&mut Device) -> T) -> T {
    // A stack of one's own may have a thread that it should not have. There is nobody else to tell: this ends the program.
    let mut device = CURRENT.get().expect("a stack calls its host only while the host calls it, on the same thread");
    let _uncounted = Counting::of(None);
    // SAFETY: the pointer comes from the `&mut Device` of `Device::run`, which does not use it before the library call
    // returns and removes the pointer then. While `act` runs, no other function gets this device: those of this module
    // are private, and if a `Processor` runs another session, that session's device is the current one until its call
    // returns. So this is the only reference to the device while `act` runs.
    let device = unsafe { device.as_mut() };
    // A panic leaves the device as it was before or after a step of `act`: each is a valid state.
    panic::catch_unwind(AssertUnwindSafe(|| act(device))).unwrap_or_else(|panic| {
        device.panic.get_or_insert(panic);
        T::default()
    })
}

/// The calendar time at which every world begins, since 1970: 2030-01-01T00:00:00Z. Assumed; it only has to be within
/// the validity of the certificates.
pub(crate) const WORLD_BEGAN: Duration = Duration::from_secs(1_893_456_000);

/// The device's clock as a calendar: the time since 1970.
pub(crate) fn unix_time() -> Duration {
    with_current(|device| device.began + device.clock)
}

/// The device's clock.
pub(crate) fn clock() -> Duration {
    with_current(|device| device.clock)
}

/// Who computes on secp256r1.
pub(crate) fn arithmetic() -> Arithmetic {
    with_current(|device| device.arithmetic)
}

/// The device's randomness.
pub(crate) fn fill_random(output: &mut [u8]) {
    with_current(|device| device.random.fill_bytes(output));
}

/// Random octets of the device.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut octets = [0; N];
    fill_random(&mut octets);
    octets
}

/// Sends one datagram, or writes these bytes to the stream, at the time of the device's clock.
pub(crate) fn transmit(octets: &[u8]) {
    with_current(|device| {
        device.sent.push(device.clock, octets);
        device.contents.push(device.clock, &device.sealed);
        device.sealed.clear();
    });
}

/// The next datagram has a protected record of DTLS 1.3 with this `DTLSInnerPlaintext` (RFC 9147 section 4): the content, its
/// type, and zeros as padding.
pub(crate) fn seal(inner: &[u8]) {
    let end = inner.iter().rposition(|octet| *octet != 0);
    let Some((content_type, content)) = end.and_then(|end| inner[..=end].split_last()) else { return };
    // A record has at most 2^14 octets.
    let length = (content.len() as u16).to_be_bytes();
    with_current(|device| {
        device.sealed.extend_from_slice(&[*content_type, 0xfe, 0xfd]);
        device.sealed.extend_from_slice(&[0; EPOCH_AND_NUMBER]);
        device.sealed.extend_from_slice(&length);
        device.sealed.extend_from_slice(content);
    });
}

/// Octets of the epoch and of the number of a record (RFC 9147 section 4).
const EPOCH_AND_NUMBER: usize = 2 + 6;

/// Delivers application data to the user of the session, at the time of the device's clock.
pub(crate) fn deliver(octets: &[u8]) {
    with_current(|device| device.received.push(device.clock, octets));
}

/// Advances the device's clock by the time that the operation takes.
pub(crate) fn perform(operation: Operation) {
    with_current(|device| device.perform(operation));
}

/// Adds a secret to the key log, with its label there. Does nothing if the log has it already.
pub(crate) fn log_key(label: &str, client_random: &[u8], secret: &[u8]) {
    with_current(|device| {
        let line = format!("{label} {} {}", hex(client_random), hex(secret));
        if !device.key_log.contains(&line) {
            device.key_log.push(line);
        }
    });
}

/// Reports that the library has just verified the peer's Finished.
pub(crate) fn verified() {
    with_current(|device| device.verified_at = Some(device.clock));
}

/// The library has done this. The first of a call counts.
pub(crate) fn violated(violation: Violation) {
    with_current(|device| {
        device.violation.get_or_insert(violation);
    });
}

/// Returns the violation of the library that ends its session, and forgets it.
pub(crate) fn take_violation() -> Option<Violation> {
    with_current(|device| device.violation.take())
}

/// Octets in lower-case hexadecimal.
pub(crate) fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2030-01-01T00:00:00Z is 21,915 days after the epoch: 60 years, 15 of them leap years.
    #[test]
    fn the_calendar_goes_on_with_the_clock() {
        let mut device = Device::new(None, [0; 32], WORLD_BEGAN, Arithmetic::default());
        let at = Duration::from_millis(90_500);
        device.advance_clock(at);
        assert_eq!(device.run(unix_time), Duration::from_secs((60 * 365 + 15) * 86_400) + at);
        assert_eq!(device.run(clock), at);
        // It does not go back.
        device.advance_clock(Duration::ZERO);
        assert_eq!(device.clock(), at);
    }
}
