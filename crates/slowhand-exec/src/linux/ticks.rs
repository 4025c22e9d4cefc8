//! A signal that comes to a thread again and again, so that it does not wait for a child for ever: waitpid(2) has no bound.

use crate::linux::kernel::checked;
use std::io;
use std::time::Duration;

/// The period of looks at a thread that does not stop. *Assumed*.
const TICK: Duration = Duration::from_millis(5);

/// The timer of the thread that has made it. The signal does nothing but interrupt a call that waits.
#[derive(Debug)]
pub(crate) struct Ticks(libc::timer_t);

extern "C" fn nothing(_: i32) {}

impl Ticks {
    /// For this thread.
    ///
    /// # Errors
    /// The kernel has no more timers.
    pub(crate) fn new() -> io::Result<Self> {
        let mut timer: libc::timer_t = std::ptr::null_mut();
        let period = libc::timespec { tv_sec: 0, tv_nsec: TICK.subsec_nanos().into() };
        let times = libc::itimerspec { it_interval: period, it_value: period };
        // SAFETY: all structures may be zero, are valid while the calls read them, and the handler does nothing.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = nothing as *const () as libc::sighandler_t; // without SA_RESTART
            checked(libc::sigaction(libc::SIGALRM, &raw const action, std::ptr::null_mut()).into())?;
            // Who starts slowhand may have blocked it, and threads inherit that.
            let mut own: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut own);
            libc::sigaddset(&raw mut own, libc::SIGALRM);
            let refused = libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const own, std::ptr::null_mut());
            if refused != 0 {
                return Err(io::Error::from_raw_os_error(refused));
            }
            let mut event: libc::sigevent = std::mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = libc::SIGALRM;
            event.sigev_notify_thread_id = libc::gettid();
            checked(libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer).into())?;
            let ticks = Self(timer);
            checked(libc::timer_settime(timer, 0, &raw const times, std::ptr::null_mut()).into())?;
            Ok(ticks)
        }
    }
}

impl Drop for Ticks {
    fn drop(&mut self) {
        // SAFETY: the timer is this one's. Its handler stays: a signal may still be on its way.
        unsafe { libc::timer_delete(self.0) };
    }
}
