//! Starts a program: in namespaces of its own, trapped from its first call on.
//!
//! The first process of the new process namespace is a small one of ours. It starts the program, and waits for all that the
//! program leaves behind, as an init does. When it is killed, all of the namespace die.

use crate::error::ExecError;
use crate::linux::filter;
use crate::linux::kernel::{checked, made};
use crate::linux::tracee::{self, Change, Pid};
use crate::setup::Program;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The most octets of one file that a program may write, its output among them. *Assumed*: more than anyone reads.
const LONGEST_FILE: u64 = 64 << 20;

/// The exit code of a program that could not be started, as that of shells.
pub(crate) const NOT_STARTED: i32 = 127;

/// The most folders above the root of a chroot. *Assumed*: a path of 4,096 octets could name 2,048.
const MOST_FOLDERS: usize = 2_048;

/// The streams that a program reads and writes.
#[derive(Debug)]
pub(crate) struct Streams {
    /// Its end of the pipe that is its standard input, until it has it itself.
    input: Option<OwnedFd>,
    /// Ours. While it is open, the input does not end.
    pub(crate) feed: Option<File>,
    /// The files for stdout, stderr, and the secrets of its sessions.
    outputs: [File; 3],
}

impl Streams {
    pub(crate) fn new() -> io::Result<Self> {
        let (input, feed) = io::pipe()?;
        // SAFETY: the call takes numbers.
        checked(unsafe { libc::fcntl(feed.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) }.into())?;
        Ok(Self {
            input: Some(input.into()),
            feed: Some(OwnedFd::from(feed).into()),
            outputs: [memory_file()?, memory_file()?, memory_file()?],
        })
    }

    /// The program has its end: with it, the input can be seen to be closed.
    pub(crate) fn begin(&mut self) {
        self.input = None;
    }

    /// The octets that the program has written to stdout and stderr, and the secrets of its sessions.
    pub(crate) fn output(&mut self) -> [Vec<u8>; 3] {
        self.outputs.each_mut().map(|file| {
            let mut octets = Vec::new();
            // It is memory: nothing can fail but a seek beyond it.
            let _ = file.rewind().and_then(|()| file.read_to_end(&mut octets));
            octets
        })
    }
}

/// A file that is nowhere on a disk.
fn memory_file() -> io::Result<File> {
    // SAFETY: the name ends in a zero, and the call makes a descriptor.
    let file = unsafe { made(libc::memfd_create(c"slowhand".as_ptr(), libc::MFD_CLOEXEC).into())? };
    // SAFETY: the call takes numbers.
    checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, libc::O_APPEND) }.into())?;
    Ok(file.into())
}

/// The data that the new process needs, made before it: it must not allocate.
struct Image {
    /// The paths to try, as execvp(3) does.
    paths: Vec<CString>,
    argv: Vec<*const libc::c_char>,
    envp: Vec<*const libc::c_char>,
    /// The file that it finds as /etc/hosts.
    names: CString,
    filter: libc::sock_fprog,
    /// The descriptors of the program, from 0 on.
    descriptors: [RawFd; 4],
    /// The end of the memory that the program's process has as its stack until it is the program.
    stack: *mut libc::max_align_t,
}

/// The words of that stack. *Assumed*: ten times what is needed.
const STACK: usize = 1024;

/// Starts a program in the network namespace of this thread. Returns the number of our first process of its namespace, which
/// has stopped and is traced.
pub(crate) fn start(
    told: &Program,
    environment: &[(OsString, OsString)],
    streams: &Streams,
    names: &Path,
) -> Result<Pid, ExecError> {
    let (argv, failed) = (&told.argv, |error| not_started(told, error));
    let c_string = |text: &OsStr| CString::new(text.as_bytes()).map_err(|error| failed(error.into()));
    let words = argv.iter().map(|word| c_string(word)).collect::<Result<Vec<_>, _>>()?;
    let variables = environment
        .iter()
        .map(|(key, value)| c_string(&[key.as_os_str(), value].join(OsStr::new("="))))
        .collect::<Result<Vec<_>, _>>()?;
    let path = environment.iter().find(|(key, _)| key == "PATH").map(|(_, value)| value.as_os_str());
    let paths = candidates(&argv[0], path).iter().map(|path| c_string(path)).collect::<Result<Vec<_>, _>>()?;
    let mut filter = filter::program();
    // SAFETY: all octets of these words may be 0.
    let mut stack = vec![unsafe { std::mem::zeroed::<libc::max_align_t>() }; STACK];
    let pointers = |texts: &[CString]| -> Vec<*const libc::c_char> {
        texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let image = Image {
        paths,
        argv: pointers(&words),
        envp: pointers(&variables),
        names: c_string(names.as_os_str())?,
        filter: libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() },
        descriptors: descriptors(streams),
        stack: stack.as_mut_ptr_range().end,
    };
    let flags = libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::SIGCHLD;
    // SAFETY: without a stack this is a fork. The child calls `first_process` alone, which allocates nothing.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) } as Pid;
    if pid == 0 {
        // SAFETY: this is the child, and `image` has what it needs.
        unsafe { first_process(&image) };
    }
    checked(pid.into()).map_err(failed)?;
    match tracee::change_of(pid).map_err(failed)? {
        Change::Stopped { .. } => tracee::set_options(pid).map_err(failed)?,
        Change::Ended(_) => return Err(failed(io::Error::other("ptrace is not allowed here"))),
    }
    Ok(pid)
}

/// The error of a program that does not start.
pub(crate) fn not_started(told: &Program, error: io::Error) -> ExecError {
    let command = told.argv[0].to_string_lossy().into_owned();
    ExecError::Start { program: told.name.clone(), command, error }
}

/// The descriptors 0 to 3 of the program.
fn descriptors(streams: &Streams) -> [RawFd; 4] {
    let [stdout, stderr, keys] = streams.outputs.each_ref().map(AsRawFd::as_raw_fd);
    [streams.input.as_ref().map_or(-1, AsRawFd::as_raw_fd), stdout, stderr, keys]
}

/// Where a command may be: as it is if it has a "/", else in the folders of PATH.
fn candidates(command: &OsStr, path: Option<&OsStr>) -> Vec<OsString> {
    if command.as_bytes().contains(&b'/') {
        return vec![command.to_owned()];
    }
    let path = path.unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"));
    std::env::split_paths(path).map(|folder| folder.join(command).into_os_string()).collect()
}

/// The first process of a namespace. It calls only what is safe after a fork (signal-safety(7)).
///
/// # Safety
/// It is the only thread of a new process.
unsafe fn first_process(image: &Image) -> ! {
    // SAFETY: all arguments are numbers, or point to what lives until the end; nothing allocates.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) < 0 {
            libc::_exit(NOT_STARTED);
        }
        libc::raise(libc::SIGSTOP);
        // A /proc of its own, where this is allowed: its numbers are those of this namespace.
        if make_mounts_private() || make_mounts_private_outside() {
            libc::mount(c"proc".as_ptr(), c"/proc".as_ptr(), c"proc".as_ptr(), 0, std::ptr::null());
            libc::mount(
                image.names.as_ptr(),
                c"/etc/hosts".as_ptr(),
                std::ptr::null(),
                libc::MS_BIND,
                std::ptr::null(),
            );
        }
        // Without a copy of the memory: this process goes on when the other one has become the program.
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        libc::clone(begin, image.stack.cast(), flags, std::ptr::from_ref(image).cast_mut().cast());
        libc::close_range(0, !0, 0);
        let mut status = 0;
        loop {
            if libc::waitpid(-1, &raw mut status, 0) < 0 && *libc::__errno_location() == libc::ECHILD {
                libc::_exit(0);
            }
        }
    }
}

/// Makes mounts of this namespace invisible to others. Returns false if that is not allowed, or if the root is no mount.
///
/// # Safety
/// This is a process in a namespace of mounts of its own.
unsafe fn make_mounts_private() -> bool {
    let flags = libc::MS_REC | libc::MS_PRIVATE;
    // SAFETY: the arguments live until the end.
    unsafe { libc::mount(c"none".as_ptr(), c"/".as_ptr(), std::ptr::null(), flags, std::ptr::null()) == 0 }
}

/// Does so in a chroot whose root is no mount: leaves it, and comes back (chroot(2): a working directory above the root is allowed).
/// Ends the process if it cannot come back.
///
/// # Safety
/// This is a process in a namespace of mounts of its own, with one thread. Nothing allocates.
unsafe fn make_mounts_private_outside() -> bool {
    // SAFETY: all arguments are numbers, or point to what lives until the end.
    unsafe {
        let open = |path: &CStr| libc::open(path.as_ptr(), libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC);
        let (root, here) = (open(c"/"), open(c"."));
        if root < 0 || here < 0 {
            return false;
        }
        let has_left = libc::chdir(c"/".as_ptr()) == 0 && libc::chroot(c"/proc".as_ptr()) == 0;
        for _ in 0..MOST_FOLDERS {
            libc::chdir(c"..".as_ptr());
        }
        let private = has_left && libc::chroot(c".".as_ptr()) == 0 && make_mounts_private();
        if libc::fchdir(root) < 0 || libc::chroot(c".".as_ptr()) < 0 || libc::fchdir(here) < 0 {
            libc::_exit(NOT_STARTED);
        }
        private
    }
}

/// Becomes the program.
///
/// It is the only thread of a new process, whose memory is that of its parent, which waits.
extern "C" fn begin(image: *mut libc::c_void) -> i32 {
    // SAFETY: `image` is what `first_process` has. All other arguments are numbers, or point to what lives until the end; nothing
    // allocates.
    unsafe {
        let image = &*image.cast::<Image>();
        libc::setsid();
        for (number, &fd) in image.descriptors.iter().enumerate() {
            libc::dup2(fd, number as i32);
        }
        libc::close_range(image.descriptors.len() as u32, !0, 0);
        libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
        libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_SIGSEGV);
        for (what, most) in [(libc::RLIMIT_FSIZE, LONGEST_FILE), (libc::RLIMIT_CORE, 0)] {
            let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
            libc::setrlimit(what, &raw const limit);
        }
        for signal in 1..=libc::SIGRTMAX() {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const image.filter) == 0 {
            for path in &image.paths {
                libc::execve(path.as_ptr(), image.argv.as_ptr(), image.envp.as_ptr());
            }
        }
        libc::_exit(NOT_STARTED);
    }
}
