//! The requirements of a run: checked on the machine before anything else, each with a remedy.

use crate::error::ExecError;
use crate::linux::descriptor::set_port;
use crate::linux::kernel::{Kernel, checked};
use slowhand_net::address::Host;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{Ipv6Addr, UdpSocket};

/// Checks what the machine must have. A user who is not root becomes the root of a user namespace, so this must be called before
/// the process has a second thread. From then on the process dies with the thread that has started it, and so do its programs.
///
/// # Errors
/// The missing requirement, and a remedy.
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
            io::ErrorKind::PermissionDenied if user != 0 => "let users have it: sudo chmod 0666 /dev/net/tun",
            _ => "load the kernel's module with sudo modprobe tun; a container needs --device /dev/net/tun",
        };
        return Err(missing(format!("cannot open /dev/net/tun: {error}; {remedy}")));
    }
    if let Err(what) = try_machine() {
        return Err(missing(what));
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

/// The needs of a container for the calls below, in the words of Docker and Podman.
const CONTAINER: &str = "start slowhand as root; a container needs --device /dev/net/tun --cap-add SYS_ADMIN --cap-add NET_ADMIN \
    --security-opt seccomp=unconfined --security-opt systempaths=unconfined";

/// Tries all that a run needs, in a process that ends afterwards. The error is what is missing, and what to do.
fn try_machine() -> Result<(), String> {
    let (mut told, teller) = io::pipe().map_err(|error| format!("cannot make a pipe: {error}"))?;
    // SAFETY: this process has one thread, so the child may do what it could; it ends without coming back.
    let child = unsafe { libc::fork() };
    if child == 0 {
        drop(told);
        if let Err(what) = try_calls() {
            let _ = (&teller).write_all(what.as_bytes());
        }
        // SAFETY: the call takes a number.
        unsafe { libc::_exit(0) };
    }
    drop(teller);
    let mut what = String::new();
    let read = told.read_to_string(&mut what);
    let mut status = 0;
    // SAFETY: `status` is a valid place for the result; nobody else waits for the child, if there is one.
    if child < 0 || unsafe { libc::waitpid(child, &raw mut status, 0) } < 0 || read.is_err() {
        return Err("cannot start another process: let this user have more".to_owned());
    }
    match what.is_empty() {
        true if status == 0 => Ok(()),
        true => Err(format!("a system call that is needed is not allowed; {CONTAINER}")), // by a filter that kills
        false => Err(what),
    }
}

fn try_calls() -> Result<(), String> {
    let contained = |error: ExecError| format!("{error}; {CONTAINER}");
    let failed = |what: &'static str| move |error| format!("cannot {what}: {error}; {CONTAINER}");
    // SAFETY: the call takes a number.
    checked(unsafe { libc::unshare(libc::CLONE_NEWNS | libc::CLONE_NEWPID) }.into())
        .map_err(failed("make namespaces of mounts and processes"))?;
    let _kernel = Kernel::new(Host::Internet).map_err(contained)?;
    let socket = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).map_err(failed("make a socket of IPv6"))?;
    set_port(&socket, 1).map_err(|error| {
        let option = "a socket cannot have its own range of ports (IP_LOCAL_PORT_RANGE)";
        format!("{option}: {error}; Linux 6.3 or newer is needed, as Debian 13 or Ubuntu 24.04 have")
    })?;
    // Addresses by chance change what programs do: the order of a table by pointers, say.
    // SAFETY: the call takes a number.
    checked(unsafe { libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) }.into())
        .map_err(failed("give programs the same addresses each time (personality)"))?;
    // SAFETY: the request has no other arguments.
    checked(unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) }).map_err(|error| {
        format!("ptrace is not allowed: {error}; sudo sysctl kernel.yama.ptrace_scope=1 (if it is 3, at the next start); {CONTAINER}")
    })
}

/// Makes a user namespace, in which the user is root.
fn become_root(user: libc::uid_t) -> io::Result<()> {
    // SAFETY: the call has no arguments.
    let group = unsafe { libc::getegid() };
    // With a network namespace that belongs to it: nobody could come back to the one that this process has now.
    // SAFETY: the call takes a number.
    checked(unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET) }.into())?;
    fs::write("/proc/self/setgroups", "deny")?; // user_namespaces(7): else nobody may write the next one
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))
}
