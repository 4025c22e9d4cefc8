//! Applications above the sessions: what they say arrives, and each phase of a conversation has its own account.

use crate::{MBEDTLS_ECDHE, MBEDTLS_PSK, MBEDTLS_PSK_TLS, OPENSSL_ECDHE, TINYDTLS_PSK, plan};
use slowhand_lab::application::{Action, Application};
use slowhand_lab::record::{Conversation, Outcome, Phase};
use slowhand_net::address::NodeId;
use slowhand_net::clock::{Duration, Instant};
use slowhand_sessions::Role;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// What arrived at each end, in order.
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
    assert_eq!(handshake.bytes_payload, conversation.handshake.bytes_payload);
    assert_eq!(handshake.bytes_phy, conversation.handshake.bytes_phy);
    assert_eq!(handshake.energy_client, conversation.handshake.energy_client);
    assert_eq!(Some(handshake.duration_s), conversation.handshake.duration_s);

    // One datagram each way, each in one frame that is acknowledged. The server thinks for a second.
    assert_eq!((data.datagrams, data.bytes_payload), (2, 18 + 6 + 2 * RECORD));
    assert_eq!((data.frames, data.frames_ack), (2, 2));
    assert!((1.0..1.5).contains(&data.duration_s), "{}", data.duration_s);

    // close_notify is an alert of two octets (RFC 5246 section 7.2).
    assert_eq!((closing.datagrams, closing.bytes_payload), (1, 2 + RECORD));
    assert_eq!((closing.frames, closing.frames_ack), (1, 1));
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
}
