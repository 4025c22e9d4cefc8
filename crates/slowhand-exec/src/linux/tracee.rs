//! Registers and memory of a stopped thread, and how it goes on: the calls of ptrace(2), each as a function.

pub(crate) use crate::report::Exit;
use std::io;

/// A number of a process or a thread, as this process sees it.
pub(crate) type Pid = libc::pid_t;

/// The registers of a thread.
pub(crate) type Registers = libc::user_regs_struct;

/// The news of waitpid(2) about a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    /// It has ended with this exit code, or by this signal.
    Ended(Exit),
    /// It has stopped, for the event of ptrace(2) or the signal.
    Stopped {
        /// `PTRACE_EVENT_...`, or 0.
        event: i32,
        /// The signal; with `SYSCALL_STOP` at the exit of a system call.
        signal: i32,
    },
}

/// The signal of a stop at a system call (`PTRACE_O_TRACESYSGOOD`).
pub(crate) const SYSCALL_STOP: i32 = libc::SIGTRAP | 0x80;

/// The largest number of an error that a system call returns (Linux, `MAX_ERRNO`).
const MOST_ERRNO: i64 = 4095;

/// Results of interrupted calls that the kernel replaces on its way back to the program (Linux, include/linux/errno.h): the call
/// begins again if the handler of the signal has `SA_RESTART`, or only where there is no handler.
pub(crate) const RESTART_SYS: i64 = -512;
pub(crate) const RESTART_NO_HANDLER: i64 = -514;

/// The next change of any child of this thread. `None` if there is none now.
///
/// # Errors
/// There is no child (`ECHILD`).
pub(crate) fn next_change() -> io::Result<Option<(Pid, Change)>> {
    wait(-1, libc::WNOHANG)
}

/// Waits for the next change of any child of this thread, or of one alone: the kernel finds that one without a look at all others.
///
/// # Errors
/// There is no such child (`ECHILD`), or a signal has come ([`Ticks`](crate::linux::ticks::Ticks)).
pub(crate) fn wait_for_change(tid: Option<Pid>) -> io::Result<(Pid, Change)> {
    wait(tid.unwrap_or(-1), 0)?.ok_or_else(|| io::ErrorKind::Interrupted.into())
}

/// Waits for the next change of this thread.
///
/// # Errors
/// It is no child.
pub(crate) fn change_of(tid: Pid) -> io::Result<Change> {
    loop {
        match wait(tid, 0) {
            Ok(Some((_, change))) => return Ok(change),
            Ok(None) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Of the children of this thread: those of others are theirs.
fn wait(tid: Pid, options: i32) -> io::Result<Option<(Pid, Change)>> {
    let mut status = 0;
    // SAFETY: `status` is a valid place for the result.
    let found = unsafe { libc::waitpid(tid, &raw mut status, libc::__WALL | libc::__WNOTHREAD | options) };
    if found < 0 {
        return Err(io::Error::last_os_error());
    }
    if found == 0 {
        return Ok(None);
    }
    let change = if libc::WIFEXITED(status) {
        Change::Ended(Exit::Code(libc::WEXITSTATUS(status)))
    } else if libc::WIFSIGNALED(status) {
        Change::Ended(Exit::Signal(libc::WTERMSIG(status)))
    } else {
        Change::Stopped { event: status >> 16, signal: libc::WSTOPSIG(status) }
    };
    Ok(Some((found, change)))
}

/// A request whose data is a number. A thread that was killed in the meantime is gone: that is seen at its end.
fn request(request: libc::c_uint, tid: Pid, data: usize) -> io::Result<()> {
    // SAFETY: these requests read no memory of this process, and write none.
    let result = unsafe { libc::ptrace(request, tid, 0, data) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Lets a thread run until it is trapped, and delivers a signal unless it is 0.
pub(crate) fn resume(tid: Pid, signal: i32) {
    let _ = request(libc::PTRACE_CONT, tid, signal as usize);
}

/// Lets a thread that stopped at the entry of a system call run to the exit of it.
pub(crate) fn resume_to_exit(tid: Pid) {
    let _ = request(libc::PTRACE_SYSCALL, tid, 0);
}

/// Lets a thread that has stopped go on, and traces it no more.
pub(crate) fn detach(tid: Pid) {
    let _ = request(libc::PTRACE_DETACH, tid, 0);
}

/// Says which events are wanted of a program's first process, and of all that it starts. All of them die with the tracer.
///
/// # Errors
/// The kernel refuses it.
pub(crate) fn set_options(tid: Pid) -> io::Result<()> {
    let options = libc::PTRACE_O_EXITKILL
        | libc::PTRACE_O_TRACESYSGOOD
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK
        | libc::PTRACE_O_TRACEVFORKDONE
        | libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEEXEC
        | libc::PTRACE_O_TRACESECCOMP;
    request(libc::PTRACE_SETOPTIONS, tid, options as usize)
}

/// The message of the last event: the number of a new thread, or the former one of the thread that began a program.
pub(crate) fn event_message(tid: Pid) -> Option<Pid> {
    let mut message: libc::c_ulong = 0;
    // SAFETY: `message` is a valid place for the result.
    let result = unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, tid, 0, &raw mut message) };
    (result >= 0).then_some(message as Pid)
}

/// The registers. `None` if the thread is gone.
pub(crate) fn registers(tid: Pid) -> Option<Registers> {
    let mut registers = std::mem::MaybeUninit::<Registers>::uninit();
    // SAFETY: `registers` is a valid place for the result.
    let result = unsafe { libc::ptrace(libc::PTRACE_GETREGS, tid, 0, registers.as_mut_ptr()) };
    // SAFETY: the kernel has written all of it if it said so.
    (result >= 0).then(|| unsafe { registers.assume_init() })
}

/// Sets the registers.
pub(crate) fn set_registers(tid: Pid, registers: &Registers) {
    // SAFETY: `registers` is a valid set of them for the kernel to read.
    unsafe { libc::ptrace(libc::PTRACE_SETREGS, tid, 0, std::ptr::from_ref(registers)) };
}

/// The error that a result of a system call stands for.
pub(crate) fn errno(result: i64) -> Option<i32> {
    (-MOST_ERRNO..0).contains(&result).then_some(-result as i32)
}

/// Reads octets of a thread's memory. False if they are not there.
pub(crate) fn read(tid: Pid, address: u64, octets: &mut [u8]) -> bool {
    let local = libc::iovec { iov_base: octets.as_mut_ptr().cast(), iov_len: octets.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: octets.len() };
    // SAFETY: `local` is memory of this function's caller; the kernel checks `remote`, which is none of this process.
    let length = unsafe { libc::process_vm_readv(tid, &raw const local, 1, &raw const remote, 1, 0) };
    length == octets.len() as isize
}

/// Writes octets into a thread's memory. False if they cannot be there.
pub(crate) fn write(tid: Pid, address: u64, octets: &[u8]) -> bool {
    let local = libc::iovec { iov_base: octets.as_ptr().cast_mut().cast(), iov_len: octets.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: octets.len() };
    // SAFETY: the kernel only reads `local`, and checks `remote`, which is none of this process.
    let length = unsafe { libc::process_vm_writev(tid, &raw const local, 1, &raw const remote, 1, 0) };
    length == octets.len() as isize
}

/// A value of a thread's memory.
pub(crate) fn read_value<T: Plain>(tid: Pid, address: u64) -> Option<T> {
    let mut octets = vec![0; size_of::<T>()];
    // SAFETY: `T` may have any octets, and `read` has filled as many as it has.
    read(tid, address, &mut octets).then(|| unsafe { octets.as_ptr().cast::<T>().read_unaligned() })
}

/// Writes a value into a thread's memory.
pub(crate) fn write_value<T: Plain>(tid: Pid, address: u64, value: &T) -> bool {
    // SAFETY: a `T` has no padding, so all of its octets are initialised.
    let octets = unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast::<u8>(), size_of::<T>()) };
    write(tid, address, octets)
}

/// A value of a thread's memory, for a call that fails if it is not there.
pub(crate) fn get<T: Plain>(tid: Pid, address: u64) -> Result<T, i32> {
    read_value(tid, address).ok_or(libc::EFAULT)
}

/// Writes the answer of a call into a thread's memory. The result of the call is 0, or an error.
pub(crate) fn put<T: Plain>(tid: Pid, address: u64, value: &T) -> Result<i64, i32> {
    if write_value(tid, address, value) { Ok(0) } else { Err(libc::EFAULT) }
}

/// As [`put`]. But a null pointer says that the thread does not want the answer, and then the result is 0.
pub(crate) fn put_if_wanted<T: Plain>(tid: Pid, address: u64, value: &T) -> Result<i64, i32> {
    if address == 0 { Ok(0) } else { put(tid, address, value) }
}

/// The value at an address. `None` if the address is null, or cannot be read.
pub(crate) fn value_at<T: Plain>(tid: Pid, address: u64) -> Option<T> {
    (address != 0).then(|| read_value(tid, address)).flatten()
}

/// A type without padding that may have any octets.
///
/// # Safety
/// It is one.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: numbers and structures of them; on x86-64 none of these has padding.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for i32 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}
// SAFETY: as above.
unsafe impl Plain for i64 {}
// SAFETY: as above.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}
