//! Which system calls are trapped. All others run as if nobody watched.

use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter};

/// The calls that tell the time, wait, draw random numbers, touch a socket, send a signal or make a thread.
const TRAPPED: &[i64] = &[
    // Clocks.
    libc::SYS_clock_gettime,
    libc::SYS_gettimeofday,
    libc::SYS_time,
    libc::SYS_times,
    libc::SYS_getrusage,
    libc::SYS_sysinfo,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_settimeofday,
    // Sleeping.
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_pause,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_sched_yield,
    // Polling.
    libc::SYS_poll,
    libc::SYS_ppoll,
    libc::SYS_select,
    libc::SYS_pselect6,
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    // Files and sockets.
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_sendfile,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_socket,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_getsockopt,
    libc::SYS_setsockopt,
    libc::SYS_flock,
    libc::SYS_io_uring_setup,
    // Threads and processes.
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_futex,
    libc::SYS_futex_waitv,
    SYS_FUTEX_WAKE,
    SYS_FUTEX_WAIT,
    SYS_FUTEX_REQUEUE,
    libc::SYS_wait4,
    libc::SYS_waitid,
    // Signals and timers.
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
    libc::SYS_alarm,
    libc::SYS_getitimer,
    libc::SYS_setitimer,
    libc::SYS_timer_create,
    libc::SYS_timer_settime,
    libc::SYS_timer_gettime,
    libc::SYS_timer_getoverrun,
    libc::SYS_timer_delete,
    libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime,
    libc::SYS_timerfd_gettime,
    // Randomness.
    libc::SYS_getrandom,
];

/// Linux, arch/x86/entry/syscalls/syscall_64.tbl.
pub(crate) const SYS_FUTEX_WAKE: i64 = 454;
pub(crate) const SYS_FUTEX_WAIT: i64 = 455;
pub(crate) const SYS_FUTEX_REQUEUE: i64 = 456;

/// `AUDIT_ARCH_X86_64` (Linux, include/uapi/linux/audit.h): the machine, with the bits for 64-bit and little endian.
const ARCHITECTURE: u32 = 62 | 0x8000_0000 | 0x4000_0000;

/// `__X32_SYSCALL_BIT` (Linux, arch/x86/include/uapi/asm/unistd.h): calls of programs with 32-bit pointers.
const X32: u32 = 0x4000_0000;

/// Places in `struct seccomp_data` (Linux, include/uapi/linux/seccomp.h).
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const SECOND_ARGUMENT: u32 = 24;

/// How many instructions stand between the calls and the answers.
const IOCTL: usize = 3;

/// The filter, as seccomp(2) takes it.
pub(crate) fn program() -> Vec<sock_filter> {
    let statement = |code: u32, k: u32| sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let jump = |code: u32, k: u32, jt: usize, jf: usize| sock_filter {
        code: (BPF_JMP | code | BPF_K) as u16,
        jt: jt as u8, // there are fewer than 200 calls
        jf: jf as u8,
        k,
    };
    let calls = TRAPPED.len();
    // After the calls stand: let it run; trap it. The calls of 32-bit programs have other numbers: all of them are trapped.
    let mut program = vec![
        statement(BPF_LD | BPF_W | BPF_ABS, ARCH),
        jump(BPF_JEQ, ARCHITECTURE, 0, calls + IOCTL + 3),
        statement(BPF_LD | BPF_W | BPF_ABS, NUMBER),
        jump(BPF_JSET, X32, calls + IOCTL + 1, 0),
    ];
    for (place, &call) in TRAPPED.iter().enumerate() {
        program.push(jump(BPF_JEQ, call as u32, calls + IOCTL - place, 0));
    }
    // Of the requests to devices, the one that makes an interface.
    program.push(jump(BPF_JEQ, libc::SYS_ioctl as u32, 0, 2));
    program.push(statement(BPF_LD | BPF_W | BPF_ABS, SECOND_ARGUMENT));
    program.push(jump(BPF_JEQ, libc::TUNSETIFF as u32, 1, 0));
    program.push(statement(BPF_RET | BPF_K, libc::SECCOMP_RET_ALLOW));
    program.push(statement(BPF_RET | BPF_K, libc::SECCOMP_RET_TRACE));
    program
}

/// The name of a call, for messages.
pub(crate) fn name(call: i64) -> String {
    const NAMES: &[(i64, &str)] = &[
        (libc::SYS_read, "read"),
        (libc::SYS_write, "write"),
        (libc::SYS_open, "open"),
        (libc::SYS_openat, "openat"),
        (libc::SYS_ioctl, "ioctl"),
        (libc::SYS_connect, "connect"),
        (libc::SYS_fcntl, "fcntl"),
        (libc::SYS_flock, "flock"),
        (libc::SYS_futex, "futex"),
        (libc::SYS_futex_waitv, "futex_waitv"),
        (libc::SYS_splice, "splice"),
        (libc::SYS_tee, "tee"),
        (libc::SYS_sendfile, "sendfile"),
        (libc::SYS_copy_file_range, "copy_file_range"),
        (libc::SYS_preadv, "preadv"),
        (libc::SYS_pwritev, "pwritev"),
        (libc::SYS_preadv2, "preadv2"),
        (libc::SYS_pwritev2, "pwritev2"),
        (libc::SYS_msgrcv, "msgrcv"),
        (libc::SYS_msgsnd, "msgsnd"),
        (libc::SYS_semop, "semop"),
        (libc::SYS_semtimedop, "semtimedop"),
        (libc::SYS_mq_timedreceive, "mq_timedreceive"),
        (libc::SYS_mq_timedsend, "mq_timedsend"),
        (libc::SYS_io_getevents, "io_getevents"),
    ];
    NAMES
        .iter()
        .find(|(number, _)| *number == call)
        .map_or_else(|| format!("call {call}"), |(_, name)| (*name).to_owned())
}
