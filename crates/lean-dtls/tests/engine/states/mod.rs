//! Every state of a handshake meets every message: what each end answers, as tables in the files beside this one.
//!
//! An end is brought to a state by the records of a handshake that was recorded, one after the other. Then it gets one more
//! message, in every form: in clear and encrypted with the peer's key, at its turn, before it and after it, malformed, forged.
//! After that it gets the rest of the recorded handshake, which shows if the message has done harm.
//!
//! `SLOWHAND_RENEW=1 cargo test -p lean-dtls states` writes the tables anew. Each change in them needs a reason.

mod dtls12;
#[cfg(feature = "dtls13")]
mod dtls13;
mod end;
mod inputs;
mod known;
mod spy;

use std::fmt::Write;
use std::path::PathBuf;

use lean_dtls::Status;
#[cfg(feature = "dtls13")]
use lean_dtls::Versions;

use dtls12::Dtls12;
#[cfg(feature = "dtls13")]
use dtls13::Dtls13;
use end::{End, Pair};
use inputs::{Answer, Input, Peer, Record};
use spy::Window;

use crate::world;

/// Walks all states of both ends, and compares the table with the file of this name.
fn walk<P: Peer>(name: &str, pair: &Pair) {
    let recorded = Recorded::<P>::new(pair);
    let mut table = String::from(LEGEND);
    for is_client in [true, false] {
        for state in recorded.states(is_client) {
            recorded.write_state(&mut table, pair, &state);
        }
    }
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/engine/states/{name}.txt"));
    if std::env::var_os("SLOWHAND_RENEW").is_some() {
        std::fs::write(&file, &table).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    println!("{table}");
    for (number, (found, expected)) in table.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "{}:{}", file.display(), number + 1);
    }
    assert_eq!(table.lines().count(), expected.lines().count(), "{}", file.display());
}

const LEGEND: &str = "\
What an end answers to one more message in each state.

.             nothing, and the handshake goes on
x             nothing, but the handshake does not complete: nobody can tell the message from the right one
CH SH ...     the messages of the datagrams that it sends: * is encrypted, AL an alert
established, closed, refuses 40 (fails with an alert that it sends), fails 40 (with the peer's alert)
data          delivers application data
";

/// A handshake as it goes without disturbance, with everything that somebody on the path sees, and the keys.
struct Recorded<P> {
    /// The records for the client, and those for the server.
    records: [Vec<Record>; 2],
    /// The server and the client: those who send to the client and to the server.
    peers: [P; 2],
}

/// A state of an end.
struct State {
    is_client: bool,
    name: String,
    /// The number of the recorded records that it has got.
    records: usize,
    /// The acts of its owner or its peer after that.
    after: After,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Nothing,
    KeyUpdate,
    Closed,
    ClosedByPeer,
}

impl<P: Peer> Recorded<P> {
    fn new(pair: &Pair) -> Self {
        let [(mut client, of_client), (mut server, of_server)] = [pair.client(), pair.server()];
        let mut datagrams = [Vec::new(), Vec::new()];
        client.start();
        let carry = |from: &mut dyn End, to: &mut dyn End, datagrams: &mut Vec<Vec<u8>>| {
            for mut datagram in from.transmit() {
                datagrams.push(datagram.clone());
                to.receive(&mut datagram);
            }
        };
        for _ in 0..6 {
            carry(&mut *client, &mut *server, &mut datagrams[1]);
            carry(&mut *server, &mut *client, &mut datagrams[0]);
        }
        assert_eq!([client.status(), server.status()], [Some(Status::Established); 2]);
        // Each end shows its last key.
        client.send(b"22.5 C");
        server.send(b"22.5 C");
        let [to_client, to_server] = &datagrams;
        let (from_server, to_client) = P::new(to_client, &of_server.borrow());
        let (from_client, to_server) = P::new(to_server, &of_client.borrow());
        Self { records: [to_client, to_server], peers: [from_server, from_client] }
    }

    /// All states of an end: after each record, and after the end of the connection.
    fn states(&self, is_client: bool) -> Vec<State> {
        let records = &self.records[usize::from(!is_client)];
        let role = if is_client { "client" } else { "server" };
        let mut states = Vec::new();
        for count in 0..=records.len() {
            let after = match count.checked_sub(1) {
                None => "at the beginning".to_owned(),
                Some(last) => format!("after {}", records[last].name),
            };
            states.push(State { is_client, name: format!("{role} {after}"), records: count, after: After::Nothing });
        }
        let ends = [(After::Closed, "after it has closed"), (After::ClosedByPeer, "after the peer has closed")];
        let update = P::UPDATES_KEYS.then_some((After::KeyUpdate, "after it has asked for new keys"));
        for (after, words) in update.into_iter().chain(ends) {
            states.push(State { is_client, name: format!("{role} {words}"), records: records.len(), after });
        }
        states
    }

    /// An end in this state, and what it encrypts.
    fn reach(&self, pair: &Pair, state: &State) -> (Box<dyn End>, Window) {
        let (mut end, window) = if state.is_client { pair.client() } else { pair.server() };
        end.start();
        end.transmit();
        let side = usize::from(!state.is_client);
        for record in &self.records[side][..state.records] {
            end.receive(&mut record.octets.clone());
            end.transmit();
        }
        match state.after {
            After::Nothing => {}
            #[cfg(feature = "dtls13")]
            After::KeyUpdate => end.update_keys(),
            #[cfg(not(feature = "dtls13"))]
            After::KeyUpdate => {}
            After::Closed => end.close(),
            After::ClosedByPeer => end.receive(&mut self.peers[side].close_notify()),
        }
        end.transmit();
        (end, window)
    }

    fn write_state(&self, table: &mut String, pair: &Pair, state: &State) {
        let side = usize::from(!state.is_client);
        let received = &self.records[side][..state.records];
        writeln!(table, "\n== {} ==", state.name).unwrap();
        // Messages with the same answers stand together.
        let mut rows: Vec<(Vec<String>, Vec<String>)> = Vec::new();
        for (name, inputs) in self.peers[side].inputs(received) {
            let answers = group(inputs.iter().map(|input| (input.form, self.answer(pair, state, input))));
            match rows.iter_mut().find(|(_, other)| *other == answers) {
                Some((names, _)) => names.push(name),
                None => rows.push((vec![name], answers)),
            }
        }
        rows.sort_by_key(|(_, answers)| answers.len() == 1);
        for (names, answers) in rows {
            for line in names.chunks(6) {
                writeln!(table, "{}", line.join(", ")).unwrap();
            }
            for answer in answers {
                writeln!(table, "    {answer}").unwrap();
            }
        }
    }

    /// Returns the answer of the end to this input.
    fn answer(&self, pair: &Pair, state: &State, input: &Input) -> String {
        let (mut end, window) = self.reach(pair, state);
        let (before, encrypted) = (end.status(), window.borrow().len());
        let delivered = end.receive_counting(&mut input.octets.clone());
        let datagrams = end.transmit();
        let sent = P::names(&datagrams, &window.borrow()[encrypted..]);
        let after = end.status();
        let mut answer = Answer { sent, delivered, change: (before != after).then_some(after).flatten() }.to_string();
        if before == after {
            let side = usize::from(!state.is_client);
            for record in &self.records[side][state.records..] {
                end.receive(&mut record.octets.clone());
                end.transmit();
            }
            let expected = if state.after == After::Nothing { Some(Status::Established) } else { before };
            match (answer.as_str(), end.status() == expected) {
                ("", true) => answer.push('.'),
                ("", false) => answer.push('x'),
                (_, true) => {}
                (_, false) => answer.push_str(" x"),
            }
        }
        answer
    }
}

/// Lines with an answer and the forms of a message that have it. Most forms have none.
fn group<'a>(answers: impl Iterator<Item = (&'a str, String)>) -> Vec<String> {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for (form, answer) in answers {
        match groups.iter_mut().find(|(other, _)| *other == answer) {
            Some((_, forms)) => forms.push(form),
            None => groups.push((answer, vec![form])),
        }
    }
    groups.sort_by_key(|(answer, _)| answer == ".");
    let line = |(answer, forms): (String, Vec<&str>)| match &answer[..] {
        "." => ".".to_owned(),
        _ => format!("{answer:<28} {}", forms.join(", ")),
    };
    groups.into_iter().map(line).collect()
}

#[test]
fn a_pre_shared_key() {
    walk::<Dtls12>("psk", &Pair::new(|| world::config(world::KEYS, 256)));
}

/// All switches but that for a Finished without its header, to which every other message looks like a wrong Finished.
#[cfg(feature = "lean")]
#[test]
fn the_lean_profile() {
    use lean_dtls::Lean;

    let lean = Lean::ALL.without(Lean::SHORT_FINISHED);
    walk::<Dtls12>("lean", &Pair::new(move || world::config(world::KEYS, 256).with_lean(lean)));
}

#[cfg(feature = "dtls13")]
#[test]
fn a_pre_shared_key_in_dtls13() {
    walk::<Dtls13>("dtls13_psk", &Pair::new(|| world::config(world::KEYS, 256).with_versions(Versions::Dtls13)));
}

#[cfg(all(feature = "webpki", feature = "x25519"))]
mod public_keys {
    use super::known::Certificates;
    use super::{Dtls12, Pair, walk};
    #[cfg(feature = "dtls13")]
    use super::{Dtls13, Versions};
    use lean_dtls::{Config, Timeouts, X509};

    use crate::public_keys::{Any, ECDHE_PSK, ECDSA, client_x509, server_x509};
    use crate::world;

    /// Each message is in one piece.
    fn config(end: X509<'static>) -> Config<Any> {
        let end = X509 { algorithms: Certificates::ONLY, ..end };
        Config::new(Any::X509(end), 3000, Timeouts::default()).unwrap()
    }

    #[test]
    fn a_pre_shared_key_and_key_agreement() {
        walk::<Dtls12>("ecdhe_psk", &Pair::new(|| world::config(world::KEYS, 256).with_suites(ECDHE_PSK)));
    }

    #[test]
    fn certificates_at_both_ends() {
        let [client, server] = [client_x509, server_x509].map(|end| move || config(end()).with_suites(ECDSA));
        walk::<Dtls12>("certificates", &Pair::of(client, server));
    }

    /// With connection IDs at both ends.
    #[cfg(all(feature = "dtls13", feature = "connection-id"))]
    #[test]
    fn a_pre_shared_key_and_key_agreement_in_dtls13() {
        // Each message is in one piece.
        let config = || world::config(world::KEYS, 512).with_versions(Versions::Dtls13).with_psk_agreement();
        walk::<Dtls13>("dtls13_psk_dhe", &Pair::new(move || config().with_connection_id(2).unwrap()));
    }

    #[cfg(feature = "dtls13")]
    #[test]
    fn certificates_at_both_ends_in_dtls13() {
        let [client, server] =
            [client_x509, server_x509].map(|end| move || config(end()).with_versions(Versions::Dtls13));
        walk::<Dtls13>("dtls13_certificates", &Pair::of(client, server));
    }
}
