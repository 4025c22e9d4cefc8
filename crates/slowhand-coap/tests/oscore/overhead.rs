//! The cost of protection in octets, as draft-ietf-iotops-security-protocol-comparison, section 4, has it; and in operations.

use coap_lite::{CoapOption, RequestType, ResponseType};
use slowhand_coap::oscore::crypto::{DIGEST, Failed, KEY, Protection, Secret, TAG};
use slowhand_coap::oscore::{Context, Crypto, Parameters, RustCrypto};

use super::{CLIENT, accepted, derived, mirrored, request, response};

/// Octets that a request and its response get longer by.
fn overhead(sender_id: &[u8], sequence_number: u64) -> (usize, usize) {
    let parameters = Parameters { sender_id, ..CLIENT };
    let mut client = derived(&parameters).after_restart(sequence_number, [0; 8]);
    let mut server = derived(&mirrored(&parameters));
    // The draft's example has six octets that are encrypted beside the code, no option before OSCORE, and no other option.
    let mut asked = request(RequestType::Post, "");
    asked.clear_option(CoapOption::UriPath);
    asked.payload = b"12345".to_vec();
    let (protected, mut exchange) = client.protect_request(&asked, &mut RustCrypto).unwrap();
    let of_request = protected.to_bytes().unwrap().len() - asked.to_bytes().unwrap().len();
    let (received, mut at_server) = accepted(server.unprotect_request(&protected, &mut RustCrypto).unwrap());
    let answer = response(&received, ResponseType::Content, b"12345");
    let protected = server.protect_response(&answer, &mut at_server, &mut RustCrypto).unwrap();
    client.unprotect_response(&protected, &mut exchange, &mut RustCrypto).unwrap();
    (of_request, protected.to_bytes().unwrap().len() - answer.to_bytes().unwrap().len())
}

/// The figures "Overhead (8 bytes ICV) in bytes as a function of sequence number" and "of Connection/Sender ID". With the figure
/// "excluding ICV", they are 5 and 3: less the tag of 8 octets.
#[test]
fn the_overhead_is_that_of_the_comparison() {
    assert_eq!([5, 0x1005, 0x10_0005].map(|sequence| overhead(&[], sequence)), [(13, 11), (14, 11), (15, 11)]);
    assert_eq!([&[][..], &[0x42], &[0x40, 0x02]].map(|id| overhead(id, 5)), [(13, 11), (14, 11), (15, 11)]);
}

/// Cryptography that writes down each operation.
#[derive(Default)]
struct Counting(Vec<String>);

impl Crypto for Counting {
    fn extract(&mut self, salt: &[u8], secret: &[u8]) -> Secret {
        self.0.push(format!("extract {}", secret.len()));
        RustCrypto.extract(salt, secret)
    }

    fn expand(&mut self, extracted: &Secret, info: &[u8]) -> Secret {
        assert_eq!(extracted.len(), DIGEST);
        self.0.push(format!("expand {}", info.len()));
        RustCrypto.expand(extracted, info)
    }

    fn seal(&mut self, with: &Protection<'_>, content: &mut [u8]) -> Result<[u8; TAG], Failed> {
        assert_eq!(with.key.len(), KEY);
        self.0.push(format!("seal {} {}", with.associated.len(), content.len()));
        RustCrypto.seal(with, content)
    }

    fn open(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &[u8; TAG]) -> Result<(), Failed> {
        self.0.push(format!("open {} {}", with.associated.len(), content.len()));
        RustCrypto.open(with, content, tag)
    }
}

/// The lengths are those of appendices C.1, C.4 and C.7.
#[test]
fn a_context_takes_four_operations_and_a_message_one() {
    let (mut at_client, mut at_server) = (Counting::default(), Counting::default());
    let mut client = Context::derive(&CLIENT, &mut at_client).unwrap();
    let mut server = Context::derive(&mirrored(&CLIENT), &mut at_server).unwrap();
    let asked = request(RequestType::Get, "tv1");
    let (protected, mut exchange) = client.protect_request(&asked, &mut at_client).unwrap();
    let (received, mut at) = accepted(server.unprotect_request(&protected, &mut at_server).unwrap());
    let answer = response(&received, ResponseType::Content, b"Hello World!");
    let protected = server.protect_response(&answer, &mut at, &mut at_server).unwrap();
    client.unprotect_response(&protected, &mut exchange, &mut at_client).unwrap();
    assert_eq!(at_client.0, ["extract 16", "expand 9", "expand 10", "expand 8", "seal 20 5", "open 20 14"]);
    assert_eq!(at_server.0, ["extract 16", "expand 10", "expand 9", "expand 8", "open 20 5", "seal 20 14"]);
    // A replayed request costs none.
    let replayed = client.protect_request(&asked, &mut RustCrypto).unwrap().0;
    accepted(server.unprotect_request(&replayed, &mut RustCrypto).unwrap());
    server.unprotect_request(&replayed, &mut at_server).unwrap_err();
    assert_eq!(at_server.0.len(), 6);
}
