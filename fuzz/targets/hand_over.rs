//! The messages of a hand-over, and the session in them: what can be read is written again as it was.
#![no_main]

use lean_dtls::{MAX_SESSION, Session};
use libfuzzer_sys::fuzz_target;
use slowhand_coap::hand_over::{Answer, Request};

fuzz_target!(|octets: &[u8]| {
    if let Ok(request) = Request::decode(octets) {
        assert_eq!(request.encode(), octets, "a request has one encoding");
    }
    let session = match Answer::decode(octets) {
        Ok(answer) => {
            assert_eq!(*answer.encode(), octets, "an answer has one encoding");
            if let Answer::Session(session) = answer { session } else { &[] }
        }
        Err(_) => octets,
    };
    if let Some(read) = Session::decode(session) {
        let mut again = [0; MAX_SESSION];
        let length = read.encode(&mut again).expect("room for any session");
        assert_eq!(&again[..length], session, "a session has one encoding");
    }
});
