//! The functions that slowhand calls, over the trait.

use std::any::Any;
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::panic::{self, AssertUnwindSafe};
use std::sync::OnceLock;
use std::{ptr, slice};

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
    // Nobody is left who could be told of a panic.
    let _ = caught(|| drop(end));
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

/// Asks the stack of a session. The next call of it fails if it panics.
///
/// # Safety
/// The session is of `create`, and nobody changes it.
unsafe fn ask<S: Stack, T>(session: *const c_void, otherwise: T, question: impl FnOnce(&S) -> T) -> T {
    // SAFETY: the caller's duty.
    let end = unsafe { &*session.cast::<End<S>>() };
    caught(|| question(&end.stack)).unwrap_or_else(|words| {
        let _ = end.panicked.set(words);
        otherwise
    })
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
    let kept = caught(|| end.stack.resumable()).unwrap_or_else(|words| {
        let _ = end.panicked.set(words);
        None
    });
    let kept = kept.unwrap_or_default();
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
    // A stack that could not prepare itself has no version.
    caught(S::load).map_or(ptr::null(), |()| S::VERSION.as_ptr())
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
    // After a panic, the stack is not called again: nobody sees what it has left half changed.
    panic::catch_unwind(AssertUnwindSafe(call)).map_err(|payload| {
        let place = PANICKED_AT.take().map_or(String::new(), |place| format!(" at {place}"));
        format!("panicked{place}: {}", message(&*payload))
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
