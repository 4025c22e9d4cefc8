//! Handshake messages that no right peer sends, in every state: those of a handshake with octets changed, added and taken out,
//! and others with any body, in clear and encrypted with the right keys.
#![no_main]

use lean_dtls::{Instant, Status};
use libfuzzer_sys::fuzz_target;
use slowhand_fuzz::ends::{PEER, Setup, TestClient, TestServer, exchange, from_client, from_server};
use slowhand_fuzz::input::{Input, seed};
use slowhand_fuzz::provider::{Slip, Window};
use slowhand_fuzz::records;

const NOW: Instant = Instant::from_millis(0);

/// Octets of the headers of a record and of a message.
const HEADERS: usize = 13 + 12;

/// The kinds of messages in TLS and DTLS, and one that nobody has.
const KINDS: [u8; 22] = [0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15, 16, 20, 21, 22, 24, 25, 99, 254];

fuzz_target!(|octets: &[u8]| {
    let mut input = Input::new(octets);
    let setup = Setup::new(&mut input, seed(octets));
    let (mut client, of_client) = setup.client();
    let (mut server, of_server) = setup.server();
    if setup.is_dtls13() {
        // Most messages of DTLS 1.3 are encrypted: who changes them has the keys.
        for window in [&of_client, &of_server] {
            let (after, place, mask) = (input.below(8), input.below(256), input.octet());
            window.let_slip(Slip { after, place, mask });
        }
    }
    client.connect();
    for _ in 0..6 {
        for datagram in from_client(&mut client, NOW) {
            pass(&mut input, &datagram, &mut |octets| _ = server.receive(PEER, octets, |_| {}));
        }
        inject(&mut input, &of_server, &mut |octets| client.receive(octets, |_| {}));
        for (_, datagram) in from_server(&mut server, NOW) {
            pass(&mut input, &datagram, &mut |octets| client.receive(octets, |_| {}));
        }
        inject(&mut input, &of_client, &mut |octets| _ = server.receive(PEER, octets, |_| {}));
    }
    finish(&mut client, &mut server);
});

/// Whatever has happened, both ends come to an end or to a connection.
fn finish(client: &mut TestClient, server: &mut TestServer) {
    for _ in 0..100 {
        // A handshake has three round trips. The wait for an answer begins when all is sent.
        exchange(client, server, NOW, 4);
        let Some(deadline) = [client.deadline(), server.deadline()].into_iter().flatten().min() else {
            assert_ne!(client.status(), Status::Handshaking, "the client waits for ever");
            return;
        };
        client.handle_timeout(deadline);
        server.handle_timeout(deadline);
    }
    panic!("there is no end");
}

/// Passes a datagram on: as it is, or with a handshake message in clear changed.
fn pass(input: &mut Input<'_>, datagram: &[u8], receive: &mut dyn FnMut(&mut [u8])) {
    let is_message = datagram.len() > HEADERS && datagram[0] == 22 && datagram[3..5] == [0, 0];
    let choice = input.below(4);
    if choice == 0 || !is_message {
        return receive(&mut datagram.to_vec());
    }
    let length = usize::from(u16::from_be_bytes([datagram[11], datagram[12]]));
    let (first, rest) = datagram.split_at(13 + length);
    let changed = changed(input, first);
    match choice {
        1 => receive(&mut [&changed, rest].concat()),
        2 => receive(&mut changed.clone()),
        _ => {
            receive(&mut changed.clone());
            receive(&mut datagram.to_vec());
        }
    }
}

/// A record of one whole message with another body, and the lengths that belong to it.
fn changed(input: &mut Input<'_>, record: &[u8]) -> Vec<u8> {
    let mut body = record[HEADERS..].to_vec();
    for _ in 0..1 + input.below(3) {
        let place = input.below(body.len() + 1);
        match input.below(4) {
            0 => body.iter_mut().skip(place).take(1).for_each(|octet| *octet = input.octet()),
            1 => body.splice(place..place, input.string().iter().copied()).for_each(drop),
            2 => body.drain(place..(place + 1 + input.below(8)).min(body.len()).max(place)).for_each(drop),
            _ => body.truncate(place),
        }
    }
    // A datagram has room for it.
    body.truncate(900);
    let sequence = u16::from_be_bytes([record[13 + 4], record[13 + 5]]);
    records::clear(22, 0, 1000, &records::message(record[13], sequence, &body))
}

/// Messages from nowhere.
fn inject(input: &mut Input<'_>, window: &Window, receive: &mut dyn FnMut(&mut [u8])) {
    for number in 0..input.below(4) as u64 {
        let (kind, sequence) = (KINDS[input.below(KINDS.len())], input.below(6) as u16);
        let body = input.string();
        let message = match input.below(4) {
            0 => records::fragment(kind, sequence, input.number().into(), input.octet().into(), body),
            _ => records::message(kind, sequence, body),
        };
        let record = match window.last().filter(|_| input.flag()) {
            Some(seen) => records::protected(&seen, 22, 1, 1000 + number, &message),
            None => records::clear(22, 0, 1000 + number, &message),
        };
        receive(&mut record.clone());
    }
}
