//! Applications above the sessions: what they say arrives, and each phase of a conversation has its own account.

use crate::{MBEDTLS_ECDHE, MBEDTLS_PSK, MBEDTLS_PSK_TLS, OPENSSL_ECDHE, TINYDTLS_PSK, plan};
use slowhand_lab::application::{Action, Application, OpenAndStop};
use slowhand_lab::record::{Conversation, Outcome, Phase};
use slowhand_net::address::NodeId;
use slowhand_net::clock::{Duration, Instant};
use slowhand_sessions::Role;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// The data that arrived at each end, in order.
type Heard = Arc<Mutex<Vec<(Role, Vec<u8>)>>>;

/// Sends a request when its session is open, and closes when the whole answer is there.
struct Client {
    request: Vec<u8>,
    answer: usize,
    heard: Heard,
    actions: VecDeque<Action>,
    closed: bool,
}

impl Application for Client {
    fn handle_established(&mut self, _now: Instant) {
        self.actions.push_back(Action::Write(self.request.clone()));
    }

    fn handle_data(&mut self, _now: Instant, data: &[u8]) {
        self.heard.lock().unwrap().push((Role::Client, data.to_vec()));
        self.answer -= data.len();
        if self.answer == 0 {
            self.actions.push_back(Action::Close);
        }
    }

    fn poll_action(&mut self) -> Option<Action> {
        let action = self.actions.pop_front();
        self.closed |= action == Some(Action::Close);
        action
    }

    fn is_finished(&self) -> bool {
        self.closed
    }
}

/// Answers when the whole request is there, a second later.
struct Server {
    request: usize,
    answer: Vec<u8>,
    heard: Heard,
    answer_at: Option<Instant>,
    action: Option<Action>,
}

impl Application for Server {
    fn handle_data(&mut self, now: Instant, data: &[u8]) {
        self.heard.lock().unwrap().push((Role::Server, data.to_vec()));
        self.request -= data.len();
        self.answer_at = (self.request == 0).then_some(now + Duration::from_secs(1));
    }

    fn handle_timeout(&mut self, _now: Instant) {
        self.answer_at = None;
        self.action = Some(Action::Write(self.answer.clone()));
    }

    fn deadline(&self) -> Option<Instant> {
        self.answer_at
    }

    fn poll_action(&mut self) -> Option<Action> {
        self.action.take()
    }

    fn is_finished(&self) -> bool {
        true
    }
}

/// A request and an answer of these lengths, over a session with these changes to the scenario.
fn converse(changes: &[&str], request: usize, answer: usize) -> (Conversation, Vec<(Role, Vec<u8>)>) {
    let heard = Heard::default();
    let applications = |_: NodeId, role: Role| -> Box<dyn Application> {
        let heard = Arc::clone(&heard);
        match role {
            Role::Client => {
                let actions = VecDeque::new();
                Box::new(Client { request: octets(request), answer, heard, actions, closed: false })
            }
            Role::Server => Box::new(Server { request, answer: octets(answer), heard, answer_at: None, action: None }),
        }
    };
    let conversation = plan(changes).run_applications(1, &applications, &mut ()).remove(0);
    let heard = std::mem::take(&mut *heard.lock().unwrap());
    (conversation, heard)
}

fn octets(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 7 % 251) as u8).collect()
}

fn said_to(role: Role, heard: &[(Role, Vec<u8>)]) -> Vec<u8> {
    heard.iter().filter(|(to, _)| *to == role).flat_map(|(_, data)| data.clone()).collect()
}

#[test]
fn what_is_said_arrives_over_every_library() {
    for changes in [TINYDTLS_PSK, MBEDTLS_PSK, MBEDTLS_ECDHE, OPENSSL_ECDHE, MBEDTLS_PSK_TLS] {
        let (conversation, heard) = converse(changes, 300, 200);
        assert_eq!(conversation.outcome, Outcome::Completed, "{changes:?}");
        assert_eq!(said_to(Role::Server, &heard), octets(300), "{changes:?}");
        assert_eq!(said_to(Role::Client, &heard), octets(200), "{changes:?}");
        let phases: Vec<Phase> = conversation.phases.iter().map(|report| report.phase).collect();
        assert_eq!(phases, Phase::ALL, "{changes:?}");
    }
}

#[test]
fn an_application_changes_nothing_in_the_handshake() {
    for changes in [TINYDTLS_PSK, MBEDTLS_ECDHE, MBEDTLS_PSK_TLS] {
        let alone = plan(changes).run(1, &mut ()).remove(0);
        let (conversation, _) = converse(changes, 40, 40);
        assert_eq!(conversation.handshake.duration_s, alone.duration_s, "{changes:?}");
        assert_eq!(conversation.handshake.energy_client, alone.energy_client, "{changes:?}");
        assert_eq!(conversation.handshake.bytes_payload, alone.bytes_payload, "{changes:?}");
        assert_eq!(conversation.handshake.bytes_phy, alone.bytes_phy, "{changes:?}");
    }
}

/// A record of TLS_PSK_WITH_AES_128_CCM_8 in DTLS 1.2: header 13, explicit nonce 8, tag 8 (RFC 6347, RFC 6655).
const RECORD: u64 = 13 + 8 + 8;

#[test]
fn each_phase_has_its_own_account() {
    let (conversation, _) = converse(MBEDTLS_PSK, 18, 6);
    let [handshake, data, closing] = &conversation.phases[..] else { panic!("three phases") };
    assert_eq!(handshake.costs.bytes_payload, conversation.handshake.bytes_payload);
    assert_eq!(handshake.costs.bytes_phy, conversation.handshake.bytes_phy);
    assert_eq!(handshake.energy_client, conversation.handshake.energy_client);
    assert_eq!(Some(handshake.duration_s), conversation.handshake.duration_s);

    // One datagram each way, each in one frame that is acknowledged. The server thinks for a second.
    assert_eq!((data.costs.datagrams, data.costs.bytes_payload), (2, 18 + 6 + 2 * RECORD));
    assert_eq!((data.costs.frames, data.costs.frames_ack), (2, 2));
    assert!((1.0..1.5).contains(&data.duration_s), "{}", data.duration_s);

    // close_notify is an alert of two octets (RFC 5246 section 7.2).
    assert_eq!((closing.costs.datagrams, closing.costs.bytes_payload), (1, 2 + RECORD));
    assert_eq!((closing.costs.frames, closing.costs.frames_ack), (1, 1));
    assert!(closing.duration_s > 0.0, "it ends when the alert has arrived");
}

#[test]
fn a_lost_request_does_not_undo_the_handshake() {
    // The frames of the handshake are 1 to n, so the next one carries the request, and DTLS does not repeat data.
    let frames = plan(MBEDTLS_PSK).run(1, &mut ()).remove(0).frames;
    let dropped = format!("lowpan.dropped_frames=[{}]", frames + 1);
    let changes = [MBEDTLS_PSK, &[dropped.as_str(), "session.give_up_s=20"]].concat();
    let (conversation, heard) = converse(&changes, 18, 6);
    assert_eq!(conversation.outcome, Outcome::GaveUp);
    assert_eq!(conversation.handshake.outcome, Outcome::Completed);
    assert_eq!(heard, []);
    // Nobody closed the session: there is no third phase.
    let phases: Vec<Phase> = conversation.phases.iter().map(|report| report.phase).collect();
    assert_eq!(phases, [Phase::Handshake, Phase::Data]);
}

/// The events that the applications of a conversation saw and when their sessions were closed, in order.
type Seen = Arc<Mutex<Vec<(Role, &'static str)>>>;

/// A client that writes, closes, and waits for nothing. A server that needs the session to be closed.
struct OneWay {
    role: Role,
    actions: VecDeque<Action>,
    needs: usize,
    seen: Seen,
}

impl OneWay {
    fn see(&mut self, event: &'static str) {
        self.seen.lock().unwrap().push((self.role, event));
        self.needs = self.needs.saturating_sub(1);
    }
}

impl Application for OneWay {
    fn handle_established(&mut self, _now: Instant) {
        if self.role == Role::Client {
            self.actions.extend([Action::Write(octets(20)), Action::Close]);
        }
        self.see("established");
    }

    fn handle_data(&mut self, _now: Instant, _data: &[u8]) {
        self.see("data");
    }

    fn handle_closed(&mut self, _now: Instant) {
        // Without effect: the session is closed.
        self.actions.push_back(Action::Write(octets(1)));
        self.see("closed");
    }

    fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    fn is_finished(&self) -> bool {
        self.needs == 0
    }
}

/// One datagram from the client to the server, which is finished when it has seen so many events.
fn one_way(changes: &[&str], needs_of_server: usize) -> (Conversation, Vec<(Role, &'static str)>) {
    let seen = Seen::default();
    let applications = |_: NodeId, role: Role| -> Box<dyn Application> {
        let needs = if role == Role::Client { 1 } else { needs_of_server };
        Box::new(OneWay { role, actions: VecDeque::new(), needs, seen: Arc::clone(&seen) })
    };
    let conversation = plan(changes).run_applications(1, &applications, &mut ()).remove(0);
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    (conversation, seen)
}

/// The client is the first to verify the peer's Finished in an abbreviated handshake (RFC 5246 section 7.3) and in TLS 1.3
/// (RFC 8446 section 2): it sends data before the server has verified its own.
const CLIENT_FIRST: [&[&str]; 3] = [
    &["session.stack=mbedtls", "session.resumption=id"],
    &["session.stack=openssl", "session.protocol=tls1.3", "session.suite=TLS_AES_128_GCM_SHA256"],
    &["session.stack=rustls", "session.protocol=tls1.3", "session.suite=TLS_AES_128_GCM_SHA256"],
];

#[test]
fn data_that_is_sent_before_the_server_is_established_arrives() {
    for changes in CLIENT_FIRST {
        let (conversation, seen) = one_way(changes, 0);
        assert_eq!(conversation.outcome, Outcome::Completed, "{changes:?}");
        let server: Vec<&str> =
            seen.iter().filter(|(role, _)| *role == Role::Server).map(|(_, event)| *event).collect();
        assert_eq!(server, ["established", "data", "closed"], "{changes:?}");
    }
}

#[test]
fn data_that_is_sent_before_the_server_is_established_is_not_on_the_account_of_the_handshake() {
    let changes = CLIENT_FIRST[0];
    let alone = plan(changes).run(1, &mut ()).remove(0);
    let (conversation, _) = one_way(changes, 0);
    assert_eq!(conversation.handshake.datagrams, alone.datagrams);
    assert_eq!(conversation.handshake.bytes_payload, alone.bytes_payload);
    let phases: Vec<(Phase, u64)> =
        conversation.phases.iter().map(|report| (report.phase, report.costs.datagrams)).collect();
    assert_eq!(phases, [(Phase::Handshake, alone.datagrams), (Phase::Data, 1), (Phase::Closing, 1)]);
}

#[test]
fn an_application_learns_that_the_peer_has_closed() {
    for changes in [TINYDTLS_PSK, MBEDTLS_PSK, OPENSSL_ECDHE, MBEDTLS_PSK_TLS] {
        let (conversation, seen) = one_way(changes, 3);
        assert_eq!(conversation.outcome, Outcome::Completed, "{changes:?}");
        let events = [
            (Role::Client, "established"),
            (Role::Server, "established"),
            (Role::Server, "data"),
            (Role::Server, "closed"),
        ];
        assert_eq!(seen.len(), events.len(), "{changes:?}: {seen:?}");
        assert!(events.iter().all(|event| seen.contains(event)), "{changes:?}: {seen:?}");
    }
}

/// When the timer of [`Hasty`] was due.
type Ticks = Arc<Mutex<Vec<Instant>>>;

/// An application that never clears its timer, which was due in the past. It is finished after three timeouts.
struct Hasty(Ticks);

impl Application for Hasty {
    fn handle_timeout(&mut self, now: Instant) {
        self.0.lock().unwrap().push(now);
    }

    fn deadline(&self) -> Option<Instant> {
        Some(Instant::ZERO)
    }

    fn is_finished(&self) -> bool {
        self.0.lock().unwrap().len() >= 3
    }
}

#[test]
fn a_timer_that_is_not_cleared_does_not_stop_the_clock() {
    let ticks: [Ticks; 2] = Default::default();
    let applications =
        |_: NodeId, role: Role| -> Box<dyn Application> { Box::new(Hasty(Arc::clone(&ticks[role as usize]))) };
    let conversation = plan(MBEDTLS_PSK).run_applications(1, &applications, &mut ()).remove(0);
    assert_eq!(conversation.outcome, Outcome::Completed);
    for ticks in ticks {
        let ticks = ticks.lock().unwrap();
        assert!(ticks.len() >= 3 && ticks.is_sorted_by(|a, b| a < b), "{ticks:?}");
    }
}

/// A client that writes, with a timer that is due while its device encrypts. It notes when it wrote and when the timer came.
#[derive(Clone, Default)]
struct Writing {
    times: Ticks,
    action: Option<Action>,
}

impl Application for Writing {
    fn handle_established(&mut self, now: Instant) {
        self.times.lock().unwrap().push(now);
        self.action = Some(Action::Write(octets(18)));
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.times.lock().unwrap().push(now);
    }

    fn deadline(&self) -> Option<Instant> {
        let times = self.times.lock().unwrap();
        (times.len() == 1).then(|| times[0] + Duration::from_micros(100))
    }

    fn poll_action(&mut self) -> Option<Action> {
        self.action.take()
    }

    fn is_finished(&self) -> bool {
        self.times.lock().unwrap().len() == 2
    }
}

#[test]
fn an_applications_timer_waits_while_the_device_computes() {
    let writing = Writing::default();
    let applications = |_: NodeId, role: Role| -> Box<dyn Application> {
        match role {
            Role::Client => Box::new(writing.clone()),
            Role::Server => Box::new(OpenAndStop),
        }
    };
    let changes = [MBEDTLS_PSK, &["client.device=stm32wb55"]].concat();
    let conversation = plan(&changes).run_applications(1, &applications, &mut ()).remove(0);
    assert_eq!(conversation.outcome, Outcome::Completed);
    // CCM: B0, one block of additional data, two of plaintext twice, the tag's (RFC 3610): 7 blocks of 26.6 us.
    let times = writing.times.lock().unwrap();
    assert_eq!(times[1].since(times[0]), Duration::from_micros(187), "186.2 us, rounded up");
}
