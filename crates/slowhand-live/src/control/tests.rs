use super::{Control, MOST_CONNECTIONS, Request};
use mio::{Events, Poll, Token};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use std::io::{Read, Write};
use std::mem::MaybeUninit;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

const LISTENER: Token = Token(0);

/// A socket in a folder of its own, and what waits for its connections.
fn open(name: &str) -> (Control, Poll, PathBuf) {
    let folder = std::env::temp_dir().join(format!("slowhand-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder); // of a process with the same number
    std::fs::create_dir(&folder).unwrap();
    let (path, poll) = (folder.join("control.sock"), Poll::new().unwrap());
    let control = Control::open(&path, poll.registry(), LISTENER, 1).unwrap();
    (control, poll, path)
}

/// The commands of all connections that have some, as the driver reads them.
fn turn(control: &mut Control, poll: &mut Poll) -> Vec<Request> {
    let (mut events, mut requests) = (Events::with_capacity(256), Vec::new());
    poll.poll(&mut events, Some(Duration::from_millis(200))).unwrap();
    for event in &events {
        match event.token() {
            LISTENER => control.accept(poll.registry()),
            token => requests.extend(control.requests(token).into_iter().map(Result::unwrap)),
        }
    }
    control.accept(poll.registry());
    requests
}

/// A file that gets its mode behind its birth has had another one in between, and who is quick connects.
#[test]
fn the_socket_has_its_mode_from_the_beginning() {
    let folder = std::env::temp_dir().join(format!("slowhand-mode-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let watch = inotify::init(CreateFlags::NONBLOCK).unwrap();
    inotify::add_watch(&watch, &folder, WatchFlags::CREATE | WatchFlags::ATTRIB).unwrap();
    let (path, poll) = (folder.join("control.sock"), Poll::new().unwrap());
    let control = Control::open(&path, poll.registry(), LISTENER, 1).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut reader = inotify::Reader::new(&watch, &mut buffer);
    let mut seen = Vec::new();
    while let Ok(event) = reader.next() {
        seen.push(event.events());
    }
    assert_eq!(seen, [ReadFlags::CREATE]);
    drop(control);
    assert!(!path.exists());
}

/// Of their own user: nobody else reaches the socket.
#[test]
fn a_hundred_connections_that_send_no_command_keep_nobody_out() {
    let (mut control, mut poll, path) = open("crowd");
    let crowd: Vec<UnixStream> = (0..100)
        .map(|number| {
            let mut stream = UnixStream::connect(&path).unwrap();
            if number % 2 == 0 {
                stream.write_all(b"{\"status\": ").unwrap(); // a line without its end
            }
            let _ = turn(&mut control, &mut poll);
            stream
        })
        .collect();
    assert_eq!(control.connections.len(), MOST_CONNECTIONS);
    let mut asks = UnixStream::connect(&path).unwrap();
    asks.write_all(b"{\"status\": true}\n").unwrap();
    let requests: Vec<Request> = (0..5).flat_map(|_| turn(&mut control, &mut poll)).collect();
    assert_eq!(requests, [Request::Status { status: true }]);
    // The oldest have given way.
    let is_closed = |stream: &UnixStream| {
        stream.set_nonblocking(true).unwrap();
        matches!((&*stream).read(&mut [0]), Ok(0))
    };
    assert!(crowd[..68].iter().all(is_closed) && !crowd[70..].iter().any(is_closed));
}

#[test]
fn a_connection_that_is_silent_for_long_is_closed_and_one_that_speaks_is_not() {
    let (mut control, mut poll, path) = open("silent");
    let [_silent, mut speaks] = [(); 2].map(|()| UnixStream::connect(&path).unwrap());
    let _ = turn(&mut control, &mut poll);
    assert_eq!(control.connections.len(), 2);
    std::thread::sleep(Duration::from_secs(1));
    speaks.write_all(b"{\"status\": true}\n").unwrap();
    let requests: Vec<Request> = (0..5).flat_map(|_| turn(&mut control, &mut poll)).take(1).collect();
    assert_eq!(requests.len(), 1);
    control.close_silent(Duration::from_millis(900));
    assert_eq!(control.connections.len(), 1, "only the one that spoke is left");
    control.close_silent(Duration::ZERO);
    assert!(control.connections.is_empty());
}
