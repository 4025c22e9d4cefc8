//! What a machine must have, looked at before anything else, with what to do.

use crate::error::ExecError;
use std::fs::{self, File, OpenOptions};
use std::io;

/// Checks what the machine must have. A user who is not root becomes the root of a user namespace, so this must be called before
/// the process has a second thread. From then on the process dies with the thread that has started it, and so do its programs.
///
/// # Errors
/// What is missing, and what to do.
pub fn prepare() -> Result<(), ExecError> {
    let missing = |what: String| ExecError::Requirement(what);
    // SAFETY: the call takes numbers.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    // SAFETY: the call has no arguments.
    let user = unsafe { libc::geteuid() };
    if user != 0 {
        become_root(user).map_err(|error| {
            missing(format!(
                "cannot make a user namespace: {error}; start slowhand as root, or let users make them: \
                 sudo sysctl kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0"
            ))
        })?;
    }
    if let Err(error) = OpenOptions::new().read(true).write(true).open("/dev/net/tun") {
        let remedy = match error.kind() {
            io::ErrorKind::NotFound => {
                "load the kernel's module with sudo modprobe tun; a container needs --device /dev/net/tun"
            }
            _ => "let users have it: sudo chmod 0666 /dev/net/tun",
        };
        return Err(missing(format!("cannot open /dev/net/tun: {error}; {remedy}")));
    }
    if File::open("/proc/thread-self/ns/net").is_err() {
        return Err(missing("there is no /proc: mount it, or start the container with it".to_owned()));
    }
    if fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").is_ok_and(|scope| scope.trim() == "3") {
        return Err(missing(
            "ptrace is switched off (kernel.yama.ptrace_scope is 3): it can be switched on at the next start of the machine"
                .to_owned(),
        ));
    }
    // A run has some descriptors for each host and thread.
    // SAFETY: `limit` is a valid place for the result, and is then read.
    unsafe {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
    Ok(())
}

/// Makes a user namespace, in which the user is root.
fn become_root(user: libc::uid_t) -> io::Result<()> {
    // SAFETY: the call has no arguments.
    let group = unsafe { libc::getegid() };
    // With a network namespace that belongs to it: nobody could come back to the one that this process has now.
    // SAFETY: the call takes a number.
    crate::kernel::checked(unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET) }.into())?;
    fs::write("/proc/self/setgroups", "deny")?; // user_namespaces(7): else nobody may write the next one
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))
}
