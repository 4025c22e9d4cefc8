//! The functions that slowhand calls, over the trait.

use std::any::Any;
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::panic::{self, AssertUnwindSafe};
use std::sync::OnceLock;
use std::{mem, ptr, slice};

use crate::interface::*;
use crate::options::Options;
use crate::progress::{Failure, Progress, State};
use crate::{Stack, host};

pub(crate) const fn library<S: Stack>() -> slowhand_library {
    slowhand_library {
        create: create::<S>,
        destroy: destroy::<S>,
        start: start::<S>,
        handle_input: handle_input::<S>,
        handle_timeout: handle_timeout::<S>,
        write: write::<S>,
        close: close::<S>,
        max_data: max_data::<S>,
        suite: suite::<S>,
        connection_id: connection_id::<S>,
        resumable: resumable::<S>,
        version: version::<S>,
    }
}

/// An end, and why it can do no more: a panic has perhaps left it half changed.
struct End<S> {
    stack: S,
    panicked: OnceLock<String>,
}

unsafe extern "C" fn create<S: Stack>(
    options: *const slowhand_options,
    progress: *mut slowhand_progress,
) -> *mut c_void {
    // SAFETY: slowhand passes both, as the header says, for this call.
    let (options, progress) = unsafe { (Options::read(&*options), &mut *progress) };
    match caught(|| S::create(&options)).unwrap_or_else(|words| Err(Failure::new(0, words))) {
        Ok(stack) => Box::into_raw(Box::new(End { stack, panicked: OnceLock::new() })).cast(),
        Err(failure) => {
            report(progress, failure.into());
            ptr::null_mut()
        }
    }
}

unsafe extern "C" fn destroy<S: Stack>(session: *mut c_void) {
    // SAFETY: `create` has made it from a box of this type, and slowhand does not use it any more.
    let end = unsafe { Box::from_raw(session.cast::<End<S>>()) };
    if let Err(words) = caught(|| drop(end)) {
        host::failed(&words);
    }
}

/// Calls the stack of a session, if it has not panicked before.
///
/// # Safety
/// The session is of `create`, nobody else uses it, and `progress` can be written.
unsafe fn call<S: Stack>(
    session: *mut c_void,
    progress: *mut slowhand_progress,
    call: impl FnOnce(&mut S) -> Progress,
) {
    // SAFETY: the caller's duty.
    let (end, progress) = unsafe { (&mut *session.cast::<End<S>>(), &mut *progress) };
    if end.panicked.get().is_none() {
        match caught(|| call(&mut end.stack)) {
            Ok(done) => return report(progress, done),
            Err(words) => end.panicked = words.into(),
        }
    }
    report(progress, Failure::new(0, end.panicked.get().map_or("", String::as_str)).into());
}

/// Asks the stack of a session, if it has not panicked before. If it panics now, the session has failed.
///
/// # Safety
/// The session is of `create`, and nobody changes it.
unsafe fn ask<S: Stack, T>(session: *const c_void, otherwise: T, question: impl FnOnce(&S) -> T) -> T {
    // SAFETY: the caller's duty.
    let end = unsafe { &*session.cast::<End<S>>() };
    answer(&end.panicked, || question(&end.stack)).unwrap_or(otherwise)
}

/// The answer to a question. `None` if the stack panics, which slowhand is told, or has panicked before.
fn answer<T>(panicked: &OnceLock<String>, question: impl FnOnce() -> T) -> Option<T> {
    if panicked.get().is_some() {
        return None;
    }
    caught(question).map_err(|words| host::failed(panicked.get_or_init(|| words))).ok()
}

// SAFETY of the functions below: slowhand passes a session of `create`, whose calls come one after the other, and arguments as the
// header says.

unsafe extern "C" fn start<S: Stack>(session: *mut c_void, progress: *mut slowhand_progress) {
    // SAFETY: see above.
    unsafe { call(session, progress, S::start) }
}

unsafe extern "C" fn handle_input<S: Stack>(
    session: *mut c_void,
    input: *const u8,
    length: usize,
    progress: *mut slowhand_progress,
) {
    // SAFETY: see above.
    unsafe { call(session, progress, |stack: &mut S| stack.handle_input(slice::from_raw_parts(input, length))) }
}

unsafe extern "C" fn handle_timeout<S: Stack>(session: *mut c_void, progress: *mut slowhand_progress) {
    // SAFETY: see above.
    unsafe { call(session, progress, S::handle_timeout) }
}

unsafe extern "C" fn write<S: Stack>(
    session: *mut c_void,
    data: *const u8,
    length: usize,
    progress: *mut slowhand_progress,
) {
    // SAFETY: see above. A pointer to no data may be dangling, but is not NULL.
    unsafe { call(session, progress, |stack: &mut S| stack.write(slice::from_raw_parts(data, length))) }
}

unsafe extern "C" fn close<S: Stack>(session: *mut c_void, progress: *mut slowhand_progress) {
    // SAFETY: see above.
    unsafe { call(session, progress, S::close) }
}

unsafe extern "C" fn max_data<S: Stack>(session: *const c_void) -> usize {
    // SAFETY: see above.
    unsafe { ask(session, 0, |stack: &S| stack.max_data().unwrap_or(SLOWHAND_NO_DATAGRAMS)) }
}

unsafe extern "C" fn suite<S: Stack>(session: *const c_void) -> u16 {
    // SAFETY: see above.
    unsafe { ask(session, 0, S::suite) }
}

unsafe extern "C" fn connection_id<S: Stack>(session: *const c_void) -> c_int {
    // SAFETY: see above.
    unsafe { ask(session, -1, |stack: &S| stack.connection_id().map_or(-1, c_int::from)) }
}

unsafe extern "C" fn resumable<S: Stack>(session: *mut c_void, output: *mut u8, size: usize) -> usize {
    // SAFETY: see above.
    let end = unsafe { &mut *session.cast::<End<S>>() };
    let kept = answer(&end.panicked, || end.stack.resumable()).flatten().unwrap_or_default();
    if (1..=size).contains(&kept.len()) {
        // SAFETY: the caller passes `size` octets that can be written.
        unsafe { output.copy_from_nonoverlapping(kept.as_ptr(), kept.len()) };
    }
    kept.len()
}

/// slowhand calls it first, when it has loaded the stack.
unsafe extern "C" fn version<S: Stack>() -> *const c_char {
    if cfg!(slowhand_object) {
        note_panics();
        host::prepare();
    }
    match caught(S::load) {
        Ok(()) => S::VERSION.as_ptr(),
        Err(words) => {
            host::failed(&words);
            ptr::null()
        }
    }
}

/// Writes what a call says for slowhand.
fn report(progress: &mut slowhand_progress, done: Progress) {
    progress.deadline_ns =
        done.deadline.map_or(SLOWHAND_NO_TIMER, |at| u64::try_from(at.as_nanos()).unwrap_or(SLOWHAND_NO_TIMER));
    let (state, code, words) = match done.state {
        State::Handshaking => (SLOWHAND_HANDSHAKING, 0, String::new()),
        State::Established => (SLOWHAND_ESTABLISHED, 0, String::new()),
        State::ClosedByPeer => (SLOWHAND_CLOSED_BY_PEER, 0, String::new()),
        State::TimedOut(words) => (SLOWHAND_TIMED_OUT, 0, words),
        State::AlertReceived { description, words } => (SLOWHAND_ALERT_RECEIVED, description.into(), words),
        State::Failed(Failure { code, words }) => (SLOWHAND_FAILED, code, words),
    };
    (progress.state, progress.code) = (state, code);
    // The last place stays zero.
    let most = progress.words.len() - 1;
    for (place, octet) in progress.words[..most].iter_mut().zip(words.bytes()) {
        *place = octet as c_char;
    }
}

thread_local! {
    /// Where the last panic of this thread was.
    static PANICKED_AT: Cell<Option<String>> = const { Cell::new(None) };
}

/// Calls code of the stack. A panic does not go on into C.
///
/// # Errors
/// Where it has panicked, and why.
fn caught<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    // After a panic, the stack is only dropped: nobody else sees what it has left half changed.
    panic::catch_unwind(AssertUnwindSafe(call)).map_err(|payload| {
        let place = PANICKED_AT.take().map_or(String::new(), |place| format!(" at {place}"));
        let words = format!("panicked{place}: {}", message(&*payload));
        // The payload of its panic may be a type of the stack, which panics again when it is dropped. The next one stays.
        if let Err(next) = panic::catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            mem::forget(next);
        }
        words
    })
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("it does not say why")
}

/// Keeps where a panic was, in the place of the standard library's message: that asks the environment if a trace of the stack is
/// wanted, which depends on the computer. Only in an object of its own: its standard library is its own too.
fn note_panics() {
    panic::set_hook(Box::new(|panicked| {
        // Without the folder: the same panic has the same words on each computer.
        let place = panicked.location().map(|place| {
            let file = place.file().rsplit(['/', '\\']).next().unwrap_or_default();
            format!("{file}:{}", place.line())
        });
        PANICKED_AT.set(place);
    }));
}

#[cfg(test)]
mod tests {
    use std::ffi::{CStr, CString};
    use std::time::Duration;

    use super::*;
    use crate::capabilities::{Capabilities, CredentialName, Maximum, Protocol, ProtocolName, PskMode, Timer};
    use crate::options::Resumption;

    /// Panics when it is asked for its suite, and when it is to close.
    struct Panics;

    impl Stack for Panics {
        const CAPABILITIES: Capabilities = Capabilities {
            protocols: &[
                Protocol { resumptions: &[Resumption::Ticket], ..Protocol::new(ProtocolName::Dtls12) },
                Protocol { curves: &[23], fragment_lengths: &[512, 1024], ..Protocol::new(ProtocolName::Tls13) },
            ],
            credentials: &[(CredentialName::Certificate, 200)],
            suites: &[0x1301, 0xC0A8],
            psk_modes: &[PskMode::PskDheKe],
            connection_id: Some(8),
            ..Capabilities::new(c"MIT", Timer { maximum: Maximum::Chosen(Duration::from_secs(60)), ..TIMER })
        };
        const VERSION: &'static CStr = c"1";

        fn create(_: &Options<'_>) -> Result<Self, Failure> {
            Ok(Self)
        }

        fn start(&mut self) -> Progress {
            Progress { state: State::Handshaking, deadline: Some(Duration::from_micros(3)) }
        }

        fn handle_input(&mut self, input: &[u8]) -> Progress {
            State::AlertReceived { description: input[0], words: "x".repeat(300) }.into()
        }

        fn handle_timeout(&mut self) -> Progress {
            State::TimedOut("late".to_owned()).into()
        }

        fn write(&mut self, _: &[u8]) -> Progress {
            State::Established.into()
        }

        fn close(&mut self) -> Progress {
            panic!("closed")
        }

        fn max_data(&self) -> Option<usize> {
            None
        }

        fn suite(&self) -> u16 {
            panic!("{} suites", 0)
        }

        fn resumable(&mut self) -> Option<Vec<u8>> {
            Some(vec![1, 2, 3])
        }
    }

    const TIMER: Timer = Timer::doubling(Duration::from_secs(1), 64);

    fn end() -> *mut c_void {
        Box::into_raw(Box::new(End { stack: Panics, panicked: OnceLock::new() })).cast()
    }

    fn told(call: impl FnOnce(*mut slowhand_progress)) -> (c_int, c_int, u64, String) {
        let mut progress = slowhand_progress { state: SLOWHAND_HANDSHAKING, code: 0, deadline_ns: 0, words: [0; 256] };
        call(&mut progress);
        let words: Vec<u8> = progress.words.iter().map(|octet| *octet as u8).take_while(|octet| *octet != 0).collect();
        let words = CString::new(words).unwrap().into_string().unwrap();
        (progress.state, progress.code, progress.deadline_ns, words)
    }

    #[test]
    fn progress_is_written_as_the_header_says() {
        let end = end();
        // SAFETY: an end, and arguments, as slowhand passes them; `destroy` comes last.
        unsafe {
            assert_eq!(
                told(|progress| start::<Panics>(end, progress)),
                (SLOWHAND_HANDSHAKING, 0, 3_000, String::new())
            );
            let (state, code, deadline, words) =
                told(|progress| handle_input::<Panics>(end, [7].as_ptr(), 1, progress));
            assert_eq!((state, code, deadline, words.len()), (SLOWHAND_ALERT_RECEIVED, 7, SLOWHAND_NO_TIMER, 255));
            let late = told(|progress| handle_timeout::<Panics>(end, progress));
            assert_eq!(late, (SLOWHAND_TIMED_OUT, 0, SLOWHAND_NO_TIMER, "late".to_owned()));
            assert_eq!(max_data::<Panics>(end), SLOWHAND_NO_DATAGRAMS);
            assert_eq!(connection_id::<Panics>(end), -1);
            let mut octets = [0; 3];
            assert_eq!(resumable::<Panics>(end, octets.as_mut_ptr(), 2), 3);
            assert_eq!(octets, [0; 3]);
            assert_eq!(resumable::<Panics>(end, octets.as_mut_ptr(), 3), 3);
            assert_eq!(octets, [1, 2, 3]);
            destroy::<Panics>(end);
        }
    }

    #[test]
    fn a_panic_is_a_failure_and_the_session_is_not_called_again() {
        for is_asked in [false, true] {
            let end = end();
            // SAFETY: an end, as slowhand passes it; `destroy` comes last.
            unsafe {
                let why = if is_asked {
                    assert_eq!(suite::<Panics>(end), 0);
                    "panicked: 0 suites"
                } else {
                    told(|progress| close::<Panics>(end, progress));
                    "panicked: closed"
                };
                assert_eq!(resumable::<Panics>(end, ptr::null_mut(), 0), 0);
                assert_eq!(max_data::<Panics>(end), 0);
                let (state, _, _, words) = told(|progress| write::<Panics>(end, [0].as_ptr(), 1, progress));
                assert_eq!((state, words.as_str()), (SLOWHAND_FAILED, why));
                destroy::<Panics>(end);
            }
        }
    }

    #[test]
    fn what_a_stack_has_panicked_with_may_panic_again() {
        struct Again;

        impl Drop for Again {
            fn drop(&mut self) {
                panic::panic_any(Again);
            }
        }

        assert_eq!(caught(|| panic::panic_any(Again)), Err::<(), _>("panicked: it does not say why".to_owned()));
    }

    #[test]
    fn capabilities_are_lists_that_end() {
        let table = crate::exported::<Panics>();
        // SAFETY: a pointer to the constant, whose lists end with 0.
        unsafe {
            let stack = &*ptr::from_ref(&table).cast::<slowhand_stack>();
            assert_eq!(stack.version, SLOWHAND_STACK_VERSION);
            let of = &*stack.capabilities;
            assert_eq!(slice::from_raw_parts(of.suites, 3), [0x1301, 0xC0A8, 0]);
            let protocols = slice::from_raw_parts(of.protocols, 3);
            assert_eq!(protocols[0].resumptions, 1 << SLOWHAND_RESUMPTION_TICKET);
            assert_eq!(
                protocols.iter().map(|one| one.protocol).collect::<Vec<_>>(),
                [SLOWHAND_DTLS12, SLOWHAND_TLS13, SLOWHAND_NO_PROTOCOL]
            );
            assert_eq!(slice::from_raw_parts(protocols[1].curves, 2), [23, 0]);
            assert_eq!(slice::from_raw_parts(protocols[1].fragment_lengths, 3), [512, 1024, 0]);
            let credentials = slice::from_raw_parts(of.credentials, 2);
            assert_eq!((credentials[0].credential, credentials[0].minimum_mtu), (SLOWHAND_CERTIFICATE, 200));
            assert_eq!(credentials[1].credential, SLOWHAND_NO_CREDENTIAL);
            assert_eq!((of.connection_id, of.psk_modes), (8, 1 << SLOWHAND_PSK_DHE_KE));
            assert_eq!((of.first_timeout_ns, of.maximum_timeout_ns), (1_000_000_000, 60_000_000_000));
            assert_eq!((of.maximum_times_first, of.longest_psk), (0, 0));
            assert!(of.remark.is_null());
        }
    }
}
