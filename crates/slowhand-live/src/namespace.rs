//! Network namespaces: found by name or path, made where there is none of that name, and removed at the end.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// Where `ip netns` keeps the namespaces that have a name (ip-netns(8)).
const NAMED: &str = "/run/netns";

/// A network namespace. One that was made for this value is removed with it.
#[derive(Debug)]
pub struct Namespace {
    /// As the user wrote it: a name or a path.
    name: String,
    file: File,
    /// Of a namespace that was made here; dropped with it.
    _remover: Option<Remover>,
}

/// Removes a namespace when it is dropped, or when this process ends, however it ends.
#[derive(Debug)]
struct Remover(Child);

/// Why there is no namespace to work in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NamespaceError {
    /// The name cannot be one.
    #[error(
        "{0:?} is no name of a network namespace: allowed is a name without \"/\", such as \"device\", \
         or the path of a namespace, such as /proc/123/ns/net"
    )]
    Name(String),
    /// The namespace is there and cannot be opened or entered.
    #[error("the network namespace {name} cannot be entered: {error}{}", hint(error))]
    Enter {
        /// As the user wrote it.
        name: String,
        /// The error of the kernel.
        error: io::Error,
    },
    /// There was none of this name, and none can be made.
    #[error(
        "the network namespace {name} cannot be made: {said}; start slowhand as root, or as the root of a user namespace: \
         unshare -Urnm sh -c 'mount -t tmpfs tmpfs /run && exec ./slowhand live ...'"
    )]
    Make {
        /// As the user wrote it.
        name: String,
        /// The words of `ip`.
        said: String,
    },
    /// The command `ip` did not run.
    #[error("the command ip does not run ({0}): install it with sudo apt-get install -y iproute2")]
    NoIp(io::Error),
}

/// A remedy, where the system's words do not say it.
fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "; start slowhand as root, or as the root of the namespace's user namespace",
        io::ErrorKind::NotFound => "; make it: sudo ip netns add NAME",
        _ => "; ip netns shows those that are",
    }
}

impl Namespace {
    /// The namespace of this name in `/run/netns`, which is made if it does not exist; or the one at this path, if there
    /// is a "/" in it.
    ///
    /// # Errors
    /// See [`NamespaceError`].
    pub fn open(name: &str) -> Result<Self, NamespaceError> {
        let is_path = name.contains('/');
        if !is_path && (name.is_empty() || name.starts_with(['.', '-']) || name.contains('\0')) {
            return Err(NamespaceError::Name(name.to_owned()));
        }
        let path = if is_path { PathBuf::from(name) } else { Path::new(NAMED).join(name) };
        let remover = if is_path || path.exists() { None } else { Some(make(name)?) };
        let file = File::open(path).map_err(|error| NamespaceError::Enter { name: name.to_owned(), error })?;
        Ok(Self { name: name.to_owned(), file, _remover: remover })
    }

    /// Runs `work` inside the namespace, on a thread of its own: the calling thread stays where it is.
    ///
    /// # Errors
    /// The namespace could not be entered; then `work` was not run.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, NamespaceError> {
        let inside = || {
            let entered = move_into_link_name_space(self.file.as_fd(), Some(LinkNameSpaceType::Network));
            entered.map(|()| work())
        };
        let done = std::thread::scope(|scope| scope.spawn(inside).join());
        let done = done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        done.map_err(|error| NamespaceError::Enter { name: self.name.clone(), error: error.into() })
    }
}

impl Drop for Remover {
    fn drop(&mut self) {
        if let Some(mut input) = self.0.stdin.take() {
            let _ = input.write_all(b"\n"); // it may have gone
        }
        let _ = self.0.wait(); // it fails only if somebody else has waited
    }
}

/// Makes the namespace, and starts the process that removes it. That process waits for a line, or for the end of its input,
/// which comes when this one dies, and all that it has forked: so the end alone would be too late. It keeps the privileges
/// that this one gives up, and is in a process group of its own: no Ctrl-C reaches it.
fn make(name: &str) -> Result<Remover, NamespaceError> {
    let failed = |said: String| NamespaceError::Make { name: name.to_owned(), said };
    let made = Command::new("ip").args(["netns", "add", name]).stdin(Stdio::null()).output();
    let made = made.map_err(NamespaceError::NoIp)?;
    if !made.status.success() {
        return Err(failed(one_line(&made.stderr)));
    }
    let remover = Command::new("sh")
        .args(["-c", "trap '' HUP INT TERM; read -r line; exec ip netns delete \"$1\"", "slowhand", name])
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn();
    remover.map(Remover).map_err(|error| {
        let _ = Command::new("ip").args(["netns", "delete", name]).status(); // the first error is the one to report
        failed(error.to_string())
    })
}

/// The words of a command on stderr, in one line.
fn one_line(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}
