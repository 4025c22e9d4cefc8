//! The message for a stack of the user that crashes. Nothing in a process can go on after that: its memory may be broken. But the user
//! learns which stack it was.

use std::cell::Cell;

use crate::config::Stack;

thread_local! {
    /// The stack that runs on this thread.
    static RUNNING: Cell<Option<Stack>> = const { Cell::new(None) };
}

/// Says that a stack runs, until it is dropped.
pub(crate) struct Running(Option<Stack>);

impl Running {
    pub(crate) fn enter(stack: Stack) -> Self {
        Self(RUNNING.replace(Some(stack)))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.set(self.0);
    }
}

/// From now on, a crash is told. What the program did about these signals before, it does after that.
#[cfg(unix)]
pub(crate) fn watch() {
    use std::sync::Once;
    static WATCHED: Once = Once::new();
    WATCHED.call_once(unix::watch);
}

#[cfg(unix)]
mod unix {
    use std::mem::{self, MaybeUninit};
    use std::ptr;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::RUNNING;

    /// The signals of a crash.
    const SIGNALS: [(libc::c_int, &str); 5] = [
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGABRT, "SIGABRT"),
    ];

    /// The actions of the program before, for each of them.
    static BEFORE: OnceLock<[libc::sigaction; SIGNALS.len()]> = OnceLock::new();

    pub(super) fn watch() {
        // SAFETY: the structure is zeros, which is valid, and the handler is a function of this type. The calls write what they
        // point to.
        let before = SIGNALS.map(|(signal, _)| unsafe {
            let mut before = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            libc::sigaction(signal, ptr::null(), &mut before);
            before
        });
        let _ = BEFORE.set(before);
        for (signal, _) in SIGNALS {
            // SAFETY: as above.
            unsafe {
                let mut action: libc::sigaction = mem::zeroed();
                action.sa_sigaction = tell as extern "C" fn(libc::c_int) as usize;
                action.sa_flags = libc::SA_ONSTACK;
                libc::sigaction(signal, &action, ptr::null_mut());
            }
        }
    }

    /// True when a crash has been told: another thread may crash too.
    static TOLD: AtomicBool = AtomicBool::new(false);

    /// Only calls what a handler may call (signal-safety(7)). After it, the same happens again, with what was there before.
    extern "C" fn tell(signal: libc::c_int) {
        let stack = RUNNING.try_with(std::cell::Cell::get).ok().flatten();
        if let Some(stack) = stack.filter(|_| !TOLD.swap(true, Ordering::Relaxed)) {
            let name = SIGNALS.iter().find(|(number, _)| *number == signal).map_or("a signal", |(_, name)| name);
            let parts = [
                "\nslowhand: the stack ",
                stack.name(),
                " has crashed with ",
                name,
                ", so this program ends here. What it has written before is kept. To look for the error: slowhand stacks check ",
                stack.name(),
                "\n",
            ];
            let mut text = [0; 320];
            let mut length = 0;
            for octet in parts.iter().flat_map(|part| part.bytes()).take(text.len()) {
                text[length] = octet;
                length += 1;
            }
            // SAFETY: the text is readable. Nothing can be done if it cannot be written.
            unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), length) };
        }
        let at = SIGNALS.iter().position(|(number, _)| *number == signal);
        if let (Some(before), Some(at)) = (BEFORE.get(), at) {
            // SAFETY: it is what the system has given.
            unsafe { libc::sigaction(signal, &before[at], ptr::null_mut()) };
        }
    }
}
