//! LESS: any message at a client and at a server, and any datagram at the records after the handshake, of somebody without the key and of
//! somebody with it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slowhand_coap::less::{
    APPLICATION_DATA, Client, Crypto, KEY, Keys, Next, Protection, Records, Server, Software, read,
};
use slowhand_coap::message::{self, Packet};
use slowhand_coap::oscore::crypto::{DIGEST, Failed, TAG};
use slowhand_fuzz::input::Input;

/// No cryptography: blocks stay as they are, a tag of zeros is right.
struct Open;

const RIGHT: [u8; TAG] = [0; TAG];

impl Crypto for Open {
    fn fill_random(&mut self, output: &mut [u8]) {
        output.fill(0);
    }

    fn encrypt(&mut self, _key: &[u8; KEY], _blocks: &mut [[u8; KEY]]) {}

    fn decrypt(&mut self, _key: &[u8; KEY], _blocks: &mut [[u8; KEY]]) {}

    fn hmac(&mut self, _key: &[u8], _message: &[u8]) -> [u8; DIGEST] {
        [0; DIGEST]
    }

    fn seal(&mut self, _with: &Protection<'_>, _content: &mut [u8]) -> Result<[u8; TAG], Failed> {
        Ok(RIGHT)
    }

    fn open(&mut self, _with: &Protection<'_>, _content: &mut [u8], tag: &[u8; TAG]) -> Result<(), Failed> {
        if *tag == RIGHT { Ok(()) } else { Err(Failed) }
    }
}

fuzz_target!(|octets: &[u8]| {
    let mut input = Input::new(octets);
    // With the software the key is not known; without, whoever sends zeros has it.
    if input.flag() {
        run(&mut Software(|output: &mut [u8]| output.fill(7)), [1; KEY], &mut input);
    } else {
        run(&mut Open, [0; KEY], &mut input);
    }
});

fn run(crypto: &mut impl Crypto, key: [u8; KEY], input: &mut Input<'_>) {
    let mut server = Server::new(key, b"node");
    let (mut client, mut last) = Client::start(key, b"node");
    let mut ends: [Option<Records>; 2] = [None, None];
    let mut told: Option<Packet> = None;
    while !input.is_empty() {
        match input.below(5) {
            // The last message of the other end, perhaps changed, or anything.
            0 => {
                let mut request = last.clone();
                change(&mut request, input);
                _ = read(&request);
                let (answer, keys) = server.receive(&request, crypto);
                keep(&mut ends, false, keys, crypto);
                told = Some(answer);
            }
            1 => {
                let Some(mut answer) = told.clone() else { continue };
                change(&mut answer, input);
                match client.receive(&answer, crypto) {
                    Ok(Next::Request(request)) => last = request,
                    Ok(Next::Established(keys)) => keep(&mut ends, true, Some(keys), crypto),
                    Err(_) => {}
                }
            }
            2 => {
                if let Ok(packet) = message::decode(input.string()) {
                    _ = read(&packet);
                    let (_, keys) = server.receive(&packet, crypto);
                    keep(&mut ends, false, keys, crypto);
                }
            }
            3 => {
                let datagram = input.string();
                for end in ends.iter_mut().flatten() {
                    let found = end.open(datagram, crypto);
                    let octets: usize = found.iter().map(|(_, content)| content.len() + Records::OVERHEAD).sum();
                    assert!(octets <= datagram.len());
                    assert!(end.open(datagram, crypto).is_empty() || datagram.is_empty(), "a copy is dropped");
                }
            }
            _ => {
                let [Some(client), Some(server)] = &mut ends else { continue };
                let sent = client.seal(APPLICATION_DATA, input.string(), crypto).expect("a short record");
                _ = server.open(&sent, crypto);
            }
        }
    }
}

fn change(packet: &mut Packet, input: &mut Input<'_>) {
    if input.flag() {
        packet.payload = input.string().to_vec();
    }
}

fn keep(ends: &mut [Option<Records>; 2], is_client: bool, keys: Option<Keys>, crypto: &mut impl Crypto) {
    if let Some(keys) = keys {
        ends[usize::from(!is_client)] = Some(Records::new(&keys, is_client, crypto));
    }
}
