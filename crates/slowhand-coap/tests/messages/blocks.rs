//! The examples of RFC 7959 section 3: which blocks each message has, written as there.

use std::time::Duration;

use slowhand_coap::block::{Block, BlockError, BlockSize, Client, Incoming, Server, Step, ask_for};
use slowhand_coap::message::{self, CoapOption, Packet, RequestType, ResponseType};
use slowhand_coap::observe::register;

use crate::harness::{NOW, get};

fn size(octets: usize) -> BlockSize {
    BlockSize::new(octets).unwrap()
}

fn body(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8).collect()
}

fn with_body(method: RequestType, path: &str, length: usize) -> Packet {
    let mut packet = message::request(method, path);
    packet.payload = body(length);
    packet
}

/// The options of a message as in the examples: `1:NUM/M/SIZE`, then `2:NUM/M/SIZE`.
fn shown(packet: &Packet) -> String {
    let show = |(kind, option)| {
        let block = Block::of(packet, option).unwrap()?;
        Some(format!("{kind}:{}/{}/{}", block.number, u8::from(block.more), block.size.octets()))
    };
    [(1, CoapOption::Block1), (2, CoapOption::Block2)].into_iter().filter_map(show).collect::<Vec<_>>().join(", ")
}

/// The client and the server exchange messages, which stand in the result as in the examples, and the body of the response. The handler
/// is called once.
fn exchanged(
    client: (Client, Packet),
    server: &mut Server,
    code: ResponseType,
    length: usize,
) -> (Vec<String>, Vec<u8>) {
    let (mut client, mut packet) = client;
    let mut lines = Vec::new();
    let mut calls = 0;
    loop {
        let answer = match server.receive(NOW, packet.clone()) {
            Incoming::Part(answer) => answer,
            Incoming::Whole(whole) => {
                calls += 1;
                server.send(NOW, &whole, message::response(code, body(length)))
            }
        };
        lines.push(format!("{} -> {} {}", shown(&packet), answer.header.get_code(), shown(&answer)).trim().to_owned());
        match client.handle_response(answer) {
            Step::Next(next) => packet = next,
            Step::Done(response) => {
                assert_eq!((calls, shown(&response)), (1, String::new()));
                return (lines, response.payload);
            }
            Step::Failed(error) => panic!("{error}"),
        }
    }
}

/// Section 3: 33 is 2/0/32 and 59 is 3/1/128.
#[test]
fn values_are_those_of_the_text() {
    for (value, number, more, octets) in [(33, 2, false, 32), (59, 3, true, 128), (0x00ff_fffe, 0xf_ffff, true, 1_024)]
    {
        let block = Block { number, more, size: size(octets) };
        assert_eq!((block.value(), Block::from_value(value)), (value, Some(block)));
    }
    assert_eq!((Block::from_value(7), Block::from_value(1 << 24)), (None, None));
    assert_eq!((BlockSize::new(2_048), BlockSize::new(100)), (None, None));
}

/// Figures 2 and 3: the server chooses the size of blocks, or the client.
#[test]
fn a_get_in_blocks() {
    let get_status = || get("status");
    let simple = exchanged(
        Client::new(get_status(), BlockSize::LARGEST, 400).unwrap(),
        &mut Server::new(size(128), 0),
        ResponseType::Content,
        300,
    );
    assert_eq!(
        simple,
        (
            vec![
                "-> 2.05 2:0/1/128".into(),
                "2:1/0/128 -> 2.05 2:1/1/128".into(),
                "2:2/0/128 -> 2.05 2:2/0/128".into()
            ],
            body(300)
        )
    );
    let early = exchanged(
        Client::new(ask_for(get_status(), size(64)), BlockSize::LARGEST, 400).unwrap(),
        &mut Server::new(size(128), 0),
        ResponseType::Content,
        360,
    );
    let lines: Vec<_> = (0..6).map(|n| format!("2:{n}/0/64 -> 2.05 2:{n}/{}/64", u8::from(n < 5))).collect();
    assert_eq!(early, (lines, body(360)));
}

/// Figure 4: the client wants smaller blocks after the first one.
#[test]
fn a_server_follows_a_client_that_wants_smaller_blocks_later() {
    let mut server = Server::new(size(128), 0);
    let Incoming::Whole(whole) = server.receive(NOW, get("status")) else { panic!("it is whole") };
    let first = server.send(NOW, &whole, message::response(ResponseType::Content, body(360)));
    assert_eq!((shown(&first), message::number(&first, CoapOption::Size2)), ("2:0/1/128".into(), Some(360)));
    let mut have = first.payload;
    for number in 2..6 {
        let mut packet = get("status");
        message::set_number(&mut packet, CoapOption::Block2, Block { number, more: false, size: size(64) }.value());
        let Incoming::Part(mut answer) = server.receive(NOW, packet) else { panic!("it is kept") };
        assert_eq!(shown(&answer), format!("2:{number}/{}/64", u8::from(number < 5)));
        have.append(&mut answer.payload);
    }
    assert_eq!(have, body(360));
}

/// Sections 2.6 and 3.4: a notification has the first block, and GETs without Observe get the others.
#[test]
fn a_notification_in_blocks() {
    let mut server = Server::new(size(128), 0);
    let asked = register(get("status"));
    let Incoming::Whole(whole) = server.receive(NOW, asked.clone()) else { panic!("it is whole") };
    let (mut client, _) = Client::new(asked, BlockSize::LARGEST, 200).unwrap();
    let notification = server.send(NOW, &whole, message::response(ResponseType::Content, body(200)));
    let Step::Next(next) = client.handle_response(notification) else { panic!("there is more") };
    assert_eq!((shown(&next), message::number(&next, CoapOption::Observe)), ("2:1/0/128".into(), None));
    let forgotten = server.clone().receive(Duration::from_secs(247), next.clone());
    assert!(matches!(forgotten, Incoming::Whole(_)), "it is not kept for ever");
    let Incoming::Part(last) = server.receive(NOW, next) else { panic!("it is kept") };
    let Step::Done(response) = client.handle_response(last) else { panic!("it was the last one") };
    assert_eq!(response.payload, body(200));
}

/// Figures 7 and 8: a PUT as a whole; the server wants smaller blocks.
#[test]
fn a_put_in_blocks() {
    let put = |length| Client::new(with_body(RequestType::Put, "options", length), size(128), 0).unwrap();
    let (lines, _) = exchanged(put(300), &mut Server::new(size(128), 300), ResponseType::Changed, 0);
    assert_eq!(lines, ["1:0/1/128 -> 2.31 1:0/1/128", "1:1/1/128 -> 2.31 1:1/1/128", "1:2/0/128 -> 2.04 1:2/0/128"]);
    let (lines, _) = exchanged(put(220), &mut Server::new(size(32), 300), ResponseType::Changed, 0);
    assert_eq!(
        lines,
        [
            "1:0/1/128 -> 2.31 1:0/1/32",
            "1:4/1/32 -> 2.31 1:4/1/32",
            "1:5/1/32 -> 2.31 1:5/1/32",
            "1:6/0/32 -> 2.04 1:6/0/32"
        ]
    );
}

/// Figure 6: the server handles each block on its own.
#[test]
fn a_put_whose_blocks_are_handled_one_by_one() {
    let (mut client, mut packet) = Client::new(with_body(RequestType::Put, "options", 300), size(128), 0).unwrap();
    for (number, more) in [(0, 1), (1, 1), (2, 0)] {
        assert_eq!(shown(&packet), format!("1:{number}/{more}/128"));
        let mut answer = message::response(ResponseType::Changed, []);
        let block = Block { number, more: false, size: size(128) };
        message::set_number(&mut answer, CoapOption::Block1, block.value());
        match client.handle_response(answer) {
            Step::Next(next) => packet = next,
            step => assert!(number == 2 && matches!(step, Step::Done(_)), "{step:?}"),
        }
    }
}

/// The last two examples of section 3.3: a POST with blocks both ways, and with a smaller size for those of the response.
#[test]
fn a_post_in_blocks_both_ways() {
    let post = || with_body(RequestType::Post, "soap", 300);
    let simple = Client::new(post(), size(128), 500).unwrap();
    let (lines, response) = exchanged(simple, &mut Server::new(size(128), 300), ResponseType::Changed, 500);
    assert_eq!(
        lines,
        [
            "1:0/1/128 -> 2.31 1:0/1/128",
            "1:1/1/128 -> 2.31 1:1/1/128",
            "1:2/0/128 -> 2.04 1:2/0/128, 2:0/1/128",
            "2:1/0/128 -> 2.04 2:1/1/128",
            "2:2/0/128 -> 2.04 2:2/1/128",
            "2:3/0/128 -> 2.04 2:3/0/128"
        ]
    );
    assert_eq!(response, body(500));
    let early = Client::new(ask_for(post(), size(64)), size(128), 500).unwrap();
    let (lines, response) = exchanged(early, &mut Server::new(size(128), 300), ResponseType::Changed, 300);
    assert_eq!(
        lines[2..],
        [
            "1:2/0/128, 2:0/0/64 -> 2.04 1:2/0/128, 2:0/1/64",
            "2:1/0/64 -> 2.04 2:1/1/64",
            "2:2/0/64 -> 2.04 2:2/1/64",
            "2:3/0/64 -> 2.04 2:3/1/64",
            "2:4/0/64 -> 2.04 2:4/0/64"
        ]
    );
    assert_eq!(response, body(300));
}

fn block1(number: u32, more: bool, octets: usize, length: usize) -> Packet {
    let mut packet = with_body(RequestType::Put, "options", length);
    message::set_number(&mut packet, CoapOption::Block1, Block { number, more, size: size(octets) }.value());
    packet
}

fn code(incoming: Incoming) -> String {
    match incoming {
        Incoming::Part(answer) => answer.header.get_code(),
        Incoming::Whole(_) => "whole".into(),
    }
}

/// RFC 7959 sections 2.2, 2.9.2 and 2.9.3.
#[test]
fn a_server_refuses_blocks_that_do_not_fit() {
    let mut server = Server::new(size(64), 200);
    assert_eq!(code(server.receive(NOW, block1(1, true, 64, 64))), "4.08", "the first one is missing");
    assert_eq!(code(server.receive(NOW, block1(0, true, 64, 64))), "2.31");
    assert_eq!(code(server.receive(NOW, block1(2, true, 64, 64))), "4.08", "one is missing");
    assert_eq!(code(server.receive(NOW, block1(1, true, 64, 64))), "4.08", "it has to begin again");
    assert_eq!(code(server.receive(NOW, block1(0, true, 64, 63))), "4.00", "a block is short");
    for (number, expected) in [(0, "2.31"), (1, "2.31"), (2, "2.31"), (3, "4.13")] {
        assert_eq!(code(server.receive(NOW, block1(number, true, 64, 64))), expected, "at most 200 octets");
    }
    let mut announced = block1(0, true, 64, 64);
    message::set_number(&mut announced, CoapOption::Size1, 201);
    assert_eq!(code(server.receive(NOW, announced)), "4.13");
    assert_eq!(code(server.receive(NOW, block1(0, true, 64, 64))), "2.31");
    assert_eq!(code(server.receive(NOW, block1(0, true, 64, 64))), "2.31", "the client begins again");
    assert_eq!(code(server.receive(NOW, block1(1, false, 64, 9))), "whole");
    let mut reserved = get("status");
    message::set_number(&mut reserved, CoapOption::Block2, 7);
    assert_eq!(code(server.receive(NOW, reserved)), "4.00");
    assert_eq!(code(server.receive(NOW, block1(0, true, 64, 64))), "2.31");
    assert_eq!(code(server.receive(Duration::from_secs(248), block1(1, true, 64, 64))), "4.08", "it is forgotten");
}

/// More bodies than are kept: the oldest one has to begin again.
#[test]
fn a_server_keeps_few_bodies() {
    let mut server = Server::new(size(64), 200);
    let put = |path: u32, number| {
        let mut packet = block1(number, true, 64, 64);
        packet.add_option(CoapOption::UriQuery, path.to_string().into_bytes());
        packet
    };
    for path in 0..5 {
        assert_eq!(code(server.receive(NOW, put(path, 0))), "2.31");
    }
    assert_eq!(code(server.receive(NOW, put(0, 1))), "4.08");
    assert_eq!(code(server.receive(NOW, put(4, 1))), "2.31");
}

/// RFC 7959 section 2.9.3: 4.13 with a smaller size means smaller blocks, from the beginning.
#[test]
fn a_client_begins_again_in_smaller_blocks() {
    let (mut client, _) = Client::new(with_body(RequestType::Put, "options", 300), size(128), 0).unwrap();
    let too_large = |octets| {
        let mut answer = message::response(ResponseType::RequestEntityTooLarge, []);
        let block = Block { number: 0, more: true, size: size(octets) };
        message::set_number(&mut answer, CoapOption::Block1, block.value());
        answer
    };
    let Step::Next(again) = client.handle_response(too_large(32)) else { panic!("it begins again") };
    assert_eq!((shown(&again), again.payload), ("1:0/1/32".into(), body(32)));
    assert!(matches!(client.handle_response(too_large(32)), Step::Done(_)), "it is not endless");
}

#[test]
fn a_client_refuses_blocks_that_do_not_fit() {
    let block2 = |number, more, octets, etag: u8, length| {
        let mut answer = message::response(ResponseType::Content, body(length));
        message::set_number(&mut answer, CoapOption::Block2, Block { number, more, size: size(octets) }.value());
        answer.add_option(CoapOption::ETag, vec![etag]);
        answer
    };
    let second = |answer| {
        let (mut client, _) = Client::new(get("status"), BlockSize::LARGEST, 100).unwrap();
        assert!(matches!(client.handle_response(block2(0, true, 64, 1, 64)), Step::Next(_)));
        client.handle_response(answer)
    };
    assert_eq!(second(block2(2, false, 64, 1, 3)), Step::Failed(BlockError::Sequence { expected: 64 }));
    assert_eq!(second(block2(1, true, 64, 1, 63)), Step::Failed(BlockError::Sequence { expected: 64 }));
    assert_eq!(second(block2(1, false, 64, 2, 3)), Step::Failed(BlockError::Changed));
    assert_eq!(second(block2(1, false, 64, 1, 37)), Step::Failed(BlockError::TooLong { limit: 100 }));
    assert!(matches!(second(block2(1, false, 64, 1, 36)), Step::Done(_)));
}
