//! Records of all kinds, at any point of a connection: those of anybody, and those of a peer with the right keys.
#![no_main]

use lean_dtls::{Instant, Status};
use libfuzzer_sys::fuzz_target;
use slowhand_fuzz::ends::{PEER, Setup, are_established, exchange, from_client, from_server, status_at};
use slowhand_fuzz::input::{Input, seed};
use slowhand_fuzz::records;

const NOW: Instant = Instant::from_millis(0);

fuzz_target!(|octets: &[u8]| {
    let mut input = Input::new(octets);
    let setup = Setup::new(&mut input, seed(octets));
    let (mut client, of_client) = setup.client();
    let (mut server, of_server) = setup.server();
    client.connect();
    let rounds = input.below(5);
    exchange(&mut client, &mut server, NOW, rounds);
    let was_established = are_established(&client, &server);
    let mut has_keys = false;
    let mut delivered = Vec::new();
    while !input.is_empty() {
        let to_server = input.flag();
        let window = if to_server { &of_client } else { &of_server };
        let (content_type, epoch, sequence) =
            (20 + input.octet() % 8, u16::from(input.octet() % 3), input.number().into());
        let seen = window.last();
        let record = match input.below(3) {
            0 => input.string().to_vec(),
            1 => records::clear(content_type, epoch, sequence, input.string()),
            _ => match seen {
                Some(seen) => {
                    has_keys = true;
                    records::protected(&seen, content_type, epoch, sequence, input.string())
                }
                None => records::clear(content_type, 0, sequence, input.string()),
            },
        };
        let mut deliver = |_: &[u8]| {
            // Application data in the epoch with keys, each record once.
            assert!(has_keys && content_type == 23 && epoch == 1);
            let record = (to_server, seen.map(|seen| seen.key), sequence);
            assert!(!delivered.contains(&record), "a record was delivered twice");
            delivered.push(record);
        };
        let before = [Some(client.status()), status_at(&server, PEER)];
        match to_server {
            true => _ = server.receive(PEER, &mut record.clone(), &mut deliver),
            false => client.receive(&mut record.clone(), &mut deliver),
        }
        if was_established && !has_keys {
            assert!(are_established(&client, &server), "somebody without keys has ended the connection");
        }
        let after = [Some(client.status()), status_at(&server, PEER)];
        for (before, after) in before.into_iter().zip(after) {
            let is_new = after == Some(Status::Established) && before != after;
            assert!(has_keys || !is_new, "somebody without keys has opened a connection");
        }
        from_client(&mut client, NOW);
        from_server(&mut server, NOW);
    }
});
