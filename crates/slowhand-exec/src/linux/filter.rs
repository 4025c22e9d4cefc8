//! Which system calls are trapped. All others run as if nobody watched.

use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter};

/// Calls that are handled alike.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Family {
    /// They tell the time.
    Clock,
    /// They set the clock of the machine.
    Setting,
    Sleep,
    /// They wait for a signal that has a handler.
    Suspend,
    /// They wait for a signal that is blocked.
    Signal,
    Yield,
    Poll,
    /// They read or write, or take a connection.
    Transfer,
    Connect,
    /// They are answered here for sockets of TCP.
    Stream,
    Socket,
    Lock,
    Clone,
    Futex,
    /// They wait for a child.
    Child,
    /// They send a signal.
    Kill,
    Timer,
    /// Timers that are files.
    FileTimer,
    Random,
    /// Programs that use these have another way, which is trapped.
    Absent,
}

/// The calls that tell the time, wait, draw random numbers, touch a socket, send a signal or make a thread.
const TRAPPED: &[(Family, &[i64])] = &[
    (
        Family::Clock,
        &[
            libc::SYS_clock_gettime,
            libc::SYS_gettimeofday,
            libc::SYS_time,
            libc::SYS_times,
            libc::SYS_getrusage,
            libc::SYS_sysinfo,
        ],
    ),
    (Family::Setting, &[libc::SYS_adjtimex, libc::SYS_clock_adjtime, libc::SYS_clock_settime, libc::SYS_settimeofday]),
    (Family::Sleep, &[libc::SYS_nanosleep, libc::SYS_clock_nanosleep]),
    (Family::Suspend, &[libc::SYS_pause, libc::SYS_rt_sigsuspend]),
    (Family::Signal, &[libc::SYS_rt_sigtimedwait]),
    (Family::Yield, &[libc::SYS_sched_yield]),
    (
        Family::Poll,
        &[
            libc::SYS_poll,
            libc::SYS_ppoll,
            libc::SYS_select,
            libc::SYS_pselect6,
            libc::SYS_epoll_wait,
            libc::SYS_epoll_pwait,
            libc::SYS_epoll_pwait2,
        ],
    ),
    (
        Family::Transfer,
        &[
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
        ],
    ),
    (Family::Connect, &[libc::SYS_connect]),
    (
        Family::Stream,
        &[
            libc::SYS_bind,
            libc::SYS_listen,
            libc::SYS_getsockname,
            libc::SYS_getpeername,
            libc::SYS_getsockopt,
            libc::SYS_setsockopt,
        ],
    ),
    (Family::Socket, &[libc::SYS_socket]),
    (Family::Lock, &[libc::SYS_flock]),
    (Family::Clone, &[libc::SYS_clone, libc::SYS_clone3]),
    (Family::Futex, &[libc::SYS_futex]),
    (Family::Child, &[libc::SYS_wait4, libc::SYS_waitid]),
    (
        Family::Kill,
        &[
            libc::SYS_kill,
            libc::SYS_tkill,
            libc::SYS_tgkill,
            libc::SYS_rt_sigqueueinfo,
            libc::SYS_rt_tgsigqueueinfo,
            libc::SYS_pidfd_send_signal,
        ],
    ),
    (
        Family::Timer,
        &[
            libc::SYS_alarm,
            libc::SYS_getitimer,
            libc::SYS_setitimer,
            libc::SYS_timer_create,
            libc::SYS_timer_settime,
            libc::SYS_timer_gettime,
            libc::SYS_timer_getoverrun,
            libc::SYS_timer_delete,
        ],
    ),
    (Family::FileTimer, &[libc::SYS_timerfd_create, libc::SYS_timerfd_settime, libc::SYS_timerfd_gettime]),
    (Family::Random, &[libc::SYS_getrandom]),
    (
        Family::Absent,
        &[libc::SYS_io_uring_setup, libc::SYS_futex_waitv, SYS_FUTEX_WAKE, SYS_FUTEX_WAIT, SYS_FUTEX_REQUEUE],
    ),
];

/// The calls that are trapped whatever their arguments are, but for [`CHANGES`].
fn trapped() -> impl Iterator<Item = &'static i64> {
    TRAPPED.iter().flat_map(|(_, calls)| *calls)
}

/// The family of a trapped call. `None` for all others: those of [`CHANGES`] and [`TRAPPED_FOR`] have none.
pub(crate) fn family(call: i64) -> Option<Family> {
    TRAPPED.iter().find(|(_, calls)| calls.contains(&call)).map(|(family, _)| *family)
}

/// The calls that change what programs at other hosts can see: folders and the attributes of files, objects of System V and of
/// POSIX with names, keys, the name of the machine. What opens a file for writing is in [`TRAPPED_FOR`].
pub(crate) const CHANGES: &[i64] = &[
    libc::SYS_creat,
    libc::SYS_openat2,
    libc::SYS_open_by_handle_at,
    libc::SYS_mkdir,
    libc::SYS_mkdirat,
    libc::SYS_rmdir,
    libc::SYS_mknod,
    libc::SYS_mknodat,
    libc::SYS_link,
    libc::SYS_linkat,
    libc::SYS_symlink,
    libc::SYS_symlinkat,
    libc::SYS_unlink,
    libc::SYS_unlinkat,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_truncate,
    libc::SYS_chmod,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    SYS_FCHMODAT2,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    libc::SYS_shmget,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_bpf,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
];

/// Calls that are trapped for some values of an argument.
const TRAPPED_FOR: &[(i64, u32, Values)] = &[
    // Of the requests to devices, the one that makes an interface.
    (libc::SYS_ioctl, SECOND_ARGUMENT, Values::These(&[libc::TUNSETIFF as u32])),
    (libc::SYS_open, SECOND_ARGUMENT, Values::WithAny(WRITES)),
    (libc::SYS_openat, THIRD_ARGUMENT, Values::WithAny(WRITES)),
    (libc::SYS_fcntl, SECOND_ARGUMENT, Values::These(LOCKS)),
];

/// Values of an argument.
enum Values {
    These(&'static [u32]),
    /// Values with one of these bits.
    WithAny(u32),
}

/// Flags of open(2) that change a file or a folder.
const WRITES: u32 = (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) as u32;

/// Operations of fcntl(2) that other processes can see.
const LOCKS: &[u32] = &[
    libc::F_SETLK as u32,
    libc::F_SETLKW as u32,
    libc::F_OFD_SETLK as u32,
    libc::F_OFD_SETLKW as u32,
    libc::F_SETLEASE as u32,
    libc::F_NOTIFY as u32,
];

/// Linux, include/uapi/asm-generic/unistd.h.
const SYS_FCHMODAT2: i64 = 452;

/// Linux, arch/x86/entry/syscalls/syscall_64.tbl.
const SYS_FUTEX_WAKE: i64 = 454;
const SYS_FUTEX_WAIT: i64 = 455;
const SYS_FUTEX_REQUEUE: i64 = 456;

/// `AUDIT_ARCH_X86_64` (Linux, include/uapi/linux/audit.h): the machine, with the bits for 64-bit and little endian.
const ARCHITECTURE: u32 = 62 | 0x8000_0000 | 0x4000_0000;

/// `__X32_SYSCALL_BIT` (Linux, arch/x86/include/uapi/asm/unistd.h): calls of programs with 32-bit pointers.
const X32: u32 = 0x4000_0000;

/// Places in `struct seccomp_data` (Linux, include/uapi/linux/seccomp.h).
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const SECOND_ARGUMENT: u32 = 24;
const THIRD_ARGUMENT: u32 = 32;

/// The filter, as seccomp(2) takes it.
pub(crate) fn program() -> Vec<sock_filter> {
    let of_values: usize = TRAPPED_FOR.iter().map(|(_, _, values)| 2 + values.tests().len()).sum();
    let (load, answer) = (BPF_LD | BPF_W | BPF_ABS, BPF_RET | BPF_K);
    // At the end stand: let it run; trap it.
    let runs = 4 + trapped().count() + CHANGES.len() + of_values;
    let mut program = vec![statement(load, ARCH)];
    // The calls of 32-bit programs have other numbers: all of them are trapped.
    add_jump(&mut program, BPF_JEQ, ARCHITECTURE, None, Some(runs + 1));
    program.push(statement(load, NUMBER));
    add_jump(&mut program, BPF_JSET, X32, Some(runs + 1), None);
    for &call in trapped().chain(CHANGES) {
        add_jump(&mut program, BPF_JEQ, call as u32, Some(runs + 1), None);
    }
    for (call, argument, values) in TRAPPED_FOR {
        let tests = values.tests();
        let next = program.len() + 2 + tests.len();
        add_jump(&mut program, BPF_JEQ, *call as u32, None, Some(next));
        program.push(statement(load, *argument));
        for (number, (code, value)) in tests.iter().enumerate() {
            let is_last = number + 1 == tests.len();
            add_jump(&mut program, *code, *value, Some(runs + 1), is_last.then_some(runs));
        }
    }
    program.push(statement(answer, libc::SECCOMP_RET_ALLOW));
    program.push(statement(answer, libc::SECCOMP_RET_TRACE));
    program
}

fn statement(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

/// A comparison, and to which instruction the program goes if it is true, or not. `None`: to the next one.
fn add_jump(program: &mut Vec<sock_filter>, code: u32, k: u32, if_true: Option<usize>, if_false: Option<usize>) {
    let here = program.len() + 1;
    let distance = |to: Option<usize>| to.map_or(0, |to| u8::try_from(to - here).expect("the filter is short"));
    let code = (BPF_JMP | code | BPF_K) as u16;
    program.push(sock_filter { code, jt: distance(if_true), jf: distance(if_false), k });
}

impl Values {
    /// The comparisons that find them.
    fn tests(&self) -> Vec<(u32, u32)> {
        match self {
            Self::These(values) => values.iter().map(|value| (BPF_JEQ, *value)).collect(),
            Self::WithAny(bits) => vec![(BPF_JSET, *bits)],
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The decision of the filter on a call with these arguments: true if it is trapped.
    fn is_trapped(call: i64, arguments: [u32; 3]) -> bool {
        let program = program();
        let (mut place, mut value) = (0, 0);
        loop {
            let instruction = &program[place];
            place += 1;
            match u32::from(instruction.code) {
                code if code == BPF_LD | BPF_W | BPF_ABS => {
                    value = match instruction.k {
                        NUMBER => call as u32,
                        ARCH => ARCHITECTURE,
                        offset => arguments[(offset as usize - 16) / 8],
                    };
                }
                code if code == BPF_RET | BPF_K => return instruction.k == libc::SECCOMP_RET_TRACE,
                code => {
                    let is_true = match code & 0xf0 {
                        BPF_JEQ => value == instruction.k,
                        _ => value & instruction.k != 0,
                    };
                    place += usize::from(if is_true { instruction.jt } else { instruction.jf });
                }
            }
        }
    }

    #[test]
    fn the_filter_traps_what_it_says() {
        for &call in trapped().chain(CHANGES) {
            assert!(is_trapped(call, [0; 3]), "{call}");
        }
        for call in [libc::SYS_mmap, libc::SYS_close, libc::SYS_brk, libc::SYS_execve, libc::SYS_rt_sigaction] {
            assert!(!is_trapped(call, [u32::MAX; 3]), "{call}");
        }
        let (reads, writes) = (libc::O_RDONLY | libc::O_CLOEXEC, libc::O_WRONLY);
        assert!(!is_trapped(libc::SYS_openat, [u32::MAX, u32::MAX, reads as u32]));
        assert!(is_trapped(libc::SYS_openat, [0, 0, writes as u32]));
        assert!(!is_trapped(libc::SYS_open, [u32::MAX, reads as u32, u32::MAX]));
        assert!(is_trapped(libc::SYS_open, [0, (reads | libc::O_CREAT) as u32, 0]));
        assert!(!is_trapped(libc::SYS_fcntl, [0, libc::F_GETFL as u32, 0]));
        assert!(is_trapped(libc::SYS_fcntl, [0, libc::F_SETLK as u32, 0]));
        assert!(is_trapped(libc::SYS_fcntl, [0, libc::F_NOTIFY as u32, 0]));
        assert!(!is_trapped(libc::SYS_ioctl, [0, libc::TIOCGWINSZ as u32, 0]));
        assert!(is_trapped(libc::SYS_ioctl, [0, libc::TUNSETIFF as u32, 0]));
    }
}
