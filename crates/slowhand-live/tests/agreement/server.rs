//! A small server: the library of a scenario, as a program with a socket of the kernel and the clock on the wall.

use slowhand_lab::scenario::Scenario;
use slowhand_sessions::{Role, Session, Weightless, build};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Serves one session, until it is dropped.
pub struct Server {
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// The period at which the server looks whether it shall stop.
const LOOK: Duration = Duration::from_millis(20);

impl Server {
    /// The scenario's library over UDP on a free port of the loopback interface.
    pub fn over_udp(scenario: &Scenario) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let (address, mut session) = (socket.local_addr().unwrap(), session(scenario));
        Self::start(address, move |stop| serve_datagrams(&socket, &mut *session, stop))
    }

    /// The scenario's library over the kernel's TCP.
    pub fn over_tcp(scenario: &Scenario, listener: TcpListener, has_nagle: bool) -> Self {
        let (address, mut session) = (listener.local_addr().unwrap(), session(scenario));
        Self::start(address, move |stop| {
            listener.set_nonblocking(true).unwrap();
            while !stop.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((stream, _)) => {
                        stream.set_nodelay(!has_nagle).unwrap();
                        stream.set_nonblocking(false).unwrap();
                        return serve_stream(&stream, &mut *session, stop);
                    }
                    Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
                }
                std::thread::sleep(Duration::from_micros(200));
            }
        })
    }

    fn start(address: SocketAddr, serve: impl FnOnce(&AtomicBool) + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        Self { address, stop, thread: Some(std::thread::spawn(move || serve(&stopped))) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || ended.is_some_and(|ended| ended.is_ok()), "the server panicked");
    }
}

/// The server's end. The computer is a real one: no time is added for what it computes.
fn session(scenario: &Scenario) -> Box<dyn Session> {
    build(&scenario.session.config(Role::Server), Arc::new(Weightless)).unwrap()
}

fn serve_datagrams(socket: &UdpSocket, session: &mut dyn Session, stop: &AtomicBool) {
    let began = Instant::now();
    let (mut buffer, mut client) = ([0; 2048], None);
    while !stop.load(Ordering::Relaxed) {
        let due = session.deadline().map_or(LOOK, |at| at.saturating_sub(began.elapsed()).min(LOOK));
        socket.set_read_timeout(Some(due.max(Duration::from_micros(1)))).unwrap();
        match socket.recv_from(&mut buffer) {
            Ok((length, from)) => {
                client = Some(from);
                session.handle_input(began.elapsed(), &buffer[..length]);
            }
            Err(error) => assert!(is_timeout(&error), "{error}"),
        }
        if session.deadline().is_some_and(|at| at <= began.elapsed()) {
            session.handle_timeout(began.elapsed());
        }
        while let Some(transmit) = session.poll_transmit() {
            socket.send_to(transmit.bytes, client.expect("it has sent something")).unwrap();
        }
    }
}

fn serve_stream(mut stream: &TcpStream, session: &mut dyn Session, stop: &AtomicBool) {
    let began = Instant::now();
    let mut buffer = [0; 4096];
    stream.set_read_timeout(Some(LOOK)).unwrap();
    while !stop.load(Ordering::Relaxed) {
        match stream.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => session.handle_input(began.elapsed(), &buffer[..length]),
            Err(error) if is_timeout(&error) => {}
            Err(_) => return, // the client has gone
        }
        while let Some(transmit) = session.poll_transmit() {
            if stream.write_all(transmit.bytes).is_err() {
                return;
            }
        }
    }
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
