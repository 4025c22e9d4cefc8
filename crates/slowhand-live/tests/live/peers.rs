//! Real programs, as small as can be: the sessions of a scenario over sockets of the kernel, by the clock on the wall.

use slowhand_lab::scenario::Scenario;
use slowhand_sessions::{Role, Session, SessionConfig, Status, Weightless, build};
use std::collections::HashMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub fn loopback() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

pub fn octets(length: usize) -> Vec<u8> {
    (0..length).map(|number| (number * 31 % 251) as u8).collect()
}

/// A session of its own: no two have the same random numbers.
fn session(scenario: &Scenario, role: Role) -> Box<dyn Session> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    build(&SessionConfig { seed, ..scenario.session.config(role) }, Arc::new(Weightless)).unwrap()
}

/// A server that has a session with each client, and answers data with the same data. It runs as long as the process.
pub fn server(scenario: &Scenario) -> SocketAddr {
    let socket = UdpSocket::bind(loopback()).unwrap();
    let (address, scenario) = (socket.local_addr().unwrap(), scenario.clone());
    std::thread::spawn(move || serve(&socket, &scenario));
    address
}

fn serve(socket: &UdpSocket, scenario: &Scenario) {
    let began = Instant::now();
    let mut sessions: HashMap<SocketAddr, Box<dyn Session>> = HashMap::new();
    let mut buffer = [0; 65_536];
    loop {
        let deadline = sessions.values().filter_map(|session| session.deadline()).min();
        let due = deadline.map_or(Duration::from_secs(1), |at| at.saturating_sub(began.elapsed()));
        socket.set_read_timeout(Some(due.max(Duration::from_micros(1)))).unwrap();
        if let Ok((length, from)) = socket.recv_from(&mut buffer) {
            let session = sessions.entry(from).or_insert_with(|| self::session(scenario, Role::Server));
            session.handle_input(began.elapsed(), &buffer[..length]);
        }
        let now = began.elapsed();
        for (address, session) in &mut sessions {
            if session.deadline().is_some_and(|at| at <= now) {
                session.handle_timeout(now);
            }
            while let Some(data) = session.poll_received().map(|received| received.bytes.to_vec()) {
                session.write(now, &data).unwrap();
            }
            while let Some(transmit) = session.poll_transmit() {
                let _ = socket.send_to(transmit.bytes, address); // it may have gone
            }
        }
        sessions.retain(|_, session| !matches!(session.status(), Status::Closed | Status::Failed(_)));
    }
}

/// The time that a client waits for the echo before it sends its data again: DTLS does not.
const AGAIN: Duration = Duration::from_secs(1);

/// A client that opens a session with `server`, has `data` echoed, and closes. Returns how long the handshake took.
pub fn client(scenario: &Scenario, server: SocketAddr, data: &[u8], patience: Duration) -> Result<Duration, String> {
    client_that(|| (), scenario, server, data, patience)
}

/// A client as [`client`], which does something before it closes.
pub fn client_that(
    before_it_closes: impl FnOnce(),
    scenario: &Scenario,
    server: SocketAddr,
    data: &[u8],
    patience: Duration,
) -> Result<Duration, String> {
    let socket = UdpSocket::bind(loopback()).unwrap();
    socket.connect(server).unwrap();
    let (began, mut session) = (Instant::now(), session(scenario, Role::Client));
    session.start(Duration::ZERO);
    let (mut buffer, mut established, mut written) = ([0; 65_536], None, None::<Duration>);
    while began.elapsed() < patience {
        while let Some(transmit) = session.poll_transmit() {
            socket.send(transmit.bytes).map_err(|error| error.to_string())?;
        }
        match session.status() {
            Status::Established { .. } if written.is_none_or(|at| began.elapsed() >= at + AGAIN) => {
                established.get_or_insert(began.elapsed());
                written = Some(began.elapsed());
                session.write(began.elapsed(), data).unwrap();
                continue;
            }
            Status::Failed(failure) => return Err(failure.to_string()),
            _ => {}
        }
        if let Some(received) = session.poll_received().map(|received| received.bytes.to_vec()) {
            assert!(received == data, "the data came back changed");
            before_it_closes();
            session.close(began.elapsed());
            while let Some(transmit) = session.poll_transmit() {
                socket.send(transmit.bytes).map_err(|error| error.to_string())?;
            }
            return Ok(established.unwrap());
        }
        let due = session.deadline().map_or(AGAIN, |at| at.saturating_sub(began.elapsed()));
        socket.set_read_timeout(Some(due.clamp(Duration::from_micros(1), AGAIN))).unwrap();
        if let Ok(length) = socket.recv(&mut buffer) {
            session.handle_input(began.elapsed(), &buffer[..length]);
        }
        if session.deadline().is_some_and(|at| at <= began.elapsed()) {
            session.handle_timeout(began.elapsed());
        }
    }
    Err(format!("not within {patience:?}; established after {established:?}"))
}
