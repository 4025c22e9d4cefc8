//! The figures of RFC 7252 appendix A. The octets follow from the fields that the figures have.

use std::time::Duration;

use slowhand_coap::endpoint::Delivery::{Confirmable, NonConfirmable};
use slowhand_coap::message;

use crate::harness::{NOW, content, endpoint, events, get_temperature, receive, request, response, sent};

/// Uri-Path: option 11 with 11 octets, "temperature".
const PATH: &str = "bb74656d7065726174757265";
/// The payload marker and "22.3 C".
const PAYLOAD: &str = "ff32322e332043";

#[test]
fn figures_16_and_17_have_the_response_in_the_acknowledgement() {
    for (id, token, asked, answered) in
        [(0x7d34, &[][..], "40017d34", "60457d34"), (0x7d35, &[0x20][..], "41017d3520", "61457d3520")]
    {
        let (mut client, mut server) = (endpoint(id, token), endpoint(0, &[]));
        get_temperature(&mut client, Confirmable);
        let asked = format!("{asked}{PATH}");
        assert_eq!(sent(&mut client).concat(), asked);
        let asks = receive(&mut server, &asked);
        let (from, packet) = request(&asks);
        assert_eq!(message::path(packet), "temperature");
        server.respond(NOW, from, content("22.3 C")).unwrap();
        let answered = format!("{answered}{PAYLOAD}");
        assert_eq!(sent(&mut server).concat(), answered);
        assert_eq!(response(&receive(&mut client, &answered)), b"22.3 C");
        assert_eq!(sent(&mut client), [""; 0]);
        assert_eq!((client.deadline(), server.deadline()), (None, None));
    }
}

#[test]
fn figures_18_and_19_send_what_was_lost_again() {
    let (mut client, mut server) = (endpoint(0x7d36, &[0x31]), endpoint(0, &[]));
    get_temperature(&mut client, Confirmable);
    let asked = format!("41017d3631{PATH}");
    assert_eq!(sent(&mut client).concat(), asked);
    let deadline = client.deadline().unwrap();
    assert_eq!(deadline.as_millis(), 2_000);
    client.handle_timeout(deadline);
    assert_eq!(sent(&mut client).concat(), asked, "figure 18: the request was lost");
    let (from, _) = request(&receive(&mut server, &asked));
    server.respond(NOW, from, content("22.3 C")).unwrap();
    let answered = format!("61457d3631{PAYLOAD}");
    assert_eq!(sent(&mut server).concat(), answered);
    assert_eq!(receive(&mut server, &asked), [], "figure 19: the response was lost");
    assert_eq!(sent(&mut server).concat(), answered);
    assert_eq!(response(&receive(&mut client, &answered)), b"22.3 C");
    assert_eq!(receive(&mut client, &answered), []);
}

#[test]
fn figure_20_has_a_separate_response() {
    let (mut client, mut server) = (endpoint(0x7d38, &[0x53]), endpoint(0xad7b, &[]));
    get_temperature(&mut client, Confirmable);
    sent(&mut client);
    let (from, _) = request(&receive(&mut server, &format!("41017d3853{PATH}")));
    // Nobody answers until the server's timer expires.
    assert_eq!(server.deadline(), Some(Duration::from_secs(1)));
    server.handle_timeout(Duration::from_secs(1));
    assert_eq!(sent(&mut server), ["60007d38"]);
    assert_eq!(receive(&mut client, "60007d38"), []);
    server.respond(NOW, from, content("22.3 C")).unwrap();
    let answered = format!("4145ad7b53{PAYLOAD}");
    assert_eq!(sent(&mut server).concat(), answered);
    assert_eq!(response(&receive(&mut client, &answered)), b"22.3 C");
    assert_eq!(sent(&mut client), ["6000ad7b"]);
    assert_eq!(receive(&mut server, "6000ad7b"), []);
    assert_eq!((client.deadline(), server.deadline()), (None, None));
    assert_eq!(receive(&mut client, &answered), [], "a copy gets the same answer");
    assert_eq!(sent(&mut client), ["6000ad7b"]);
}

#[test]
fn figure_21_rejects_a_response_that_nobody_expects() {
    let mut client = endpoint(0, &[]);
    assert_eq!(receive(&mut client, &format!("4145ad7c64{PAYLOAD}")), []);
    assert_eq!(sent(&mut client), ["7000ad7c"]);
}

#[test]
fn figure_22_has_no_acknowledgements() {
    let (mut client, mut server) = (endpoint(0x7d40, &[0x75]), endpoint(0xad7d, &[]));
    get_temperature(&mut client, NonConfirmable);
    let asked = format!("51017d4075{PATH}");
    assert_eq!(sent(&mut client).concat(), asked);
    let (from, _) = request(&receive(&mut server, &asked));
    server.respond(NOW, from, content("22.3 C")).unwrap();
    let answered = format!("5145ad7d75{PAYLOAD}");
    assert_eq!(sent(&mut server).concat(), answered);
    assert_eq!(response(&receive(&mut client, &answered)), b"22.3 C");
    assert_eq!((sent(&mut client), events(&mut client)), (vec![], vec![]));
}
