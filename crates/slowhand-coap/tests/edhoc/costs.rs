//! Costs of a session: octets, as draft-ietf-iotops-security-protocol-comparison has them, and operations.

use slowhand_coap::edhoc::crypto::{ELEMENT, KeyPair, Scalar};
use slowhand_coap::edhoc::{Crypto, Initiator, Responder, Transfer};
use slowhand_coap::oscore;
use slowhand_coap::oscore::crypto::{DIGEST, Failed, Protection, Secret, TAG};

use super::{CRED_I, CRED_R, X, Y, credential, id, initiator, responder, session, with_key};

/// Cryptography that writes down each operation.
struct Counting<C>(C, Vec<String>);

impl<C: Crypto> oscore::Crypto for Counting<C> {
    fn extract(&mut self, salt: &[u8], secret: &[u8]) -> Secret {
        self.1.push(format!("extract {} {}", salt.len(), secret.len()));
        self.0.extract(salt, secret)
    }

    fn expand(&mut self, extracted: &Secret, info: &[u8]) -> Secret {
        self.1.push(format!("expand {} 32", info.len()));
        self.0.expand(extracted, info)
    }

    fn seal(&mut self, with: &Protection<'_>, content: &mut [u8]) -> Result<[u8; TAG], Failed> {
        self.1.push(format!("seal {} {}", with.associated.len(), content.len()));
        self.0.seal(with, content)
    }

    fn open(&mut self, with: &Protection<'_>, content: &mut [u8], tag: &[u8; TAG]) -> Result<(), Failed> {
        self.1.push(format!("open {} {}", with.associated.len(), content.len()));
        self.0.open(with, content, tag)
    }
}

impl<C: Crypto> Crypto for Counting<C> {
    fn generate(&mut self) -> KeyPair {
        self.1.push("generate".to_owned());
        self.0.generate()
    }

    fn agree(&mut self, private: &Scalar, public: &[u8; ELEMENT]) -> Result<Scalar, Failed> {
        self.1.push("agree".to_owned());
        self.0.agree(private, public)
    }

    fn hash(&mut self, message: &[u8]) -> [u8; DIGEST] {
        self.1.push(format!("hash {}", message.len()));
        self.0.hash(message)
    }

    fn expand_to(&mut self, extracted: &Secret, info: &[u8], output: &mut [u8]) {
        self.1.push(format!("expand {} {}", info.len(), output.len()));
        self.0.expand_to(extracted, info, output);
    }
}

impl<C> Counting<C> {
    fn taken(&mut self) -> Vec<String> {
        std::mem::take(&mut self.1)
    }
}

/// The comparison, "EDHOC - Static DH RPKs, kid, ECDHE": 37, 45 and 19 octets; message_4: RFC 9529, section 3.6. By value, by hand: in
/// message_2 and 3 the map {14: CCS} takes 2 octets and those of the CCS (95 and 107) in the place of the `kid` (1). From 24 octets on
/// the head of the string takes one more, which message_2 has already.
#[test]
fn sizes_are_those_of_the_comparison() {
    let lengths = |transfer| session(transfer, &[2]).unwrap().messages.map(|message| message.len());
    assert_eq!(lengths(Transfer::Reference), [37, 45, 19, 9]);
    let by_value = [37, 45 + 2 + 95 - 1, 19 + 2 + 107 - 1 + 1, 9];
    assert_eq!(by_value, [37, 141, 128, 9]);
    assert_eq!(lengths(Transfer::Value), by_value);
}

/// By hand, from sections 4 and 5 of RFC 9528, with the lengths that RFC 9529, chapter 3, prints: each HKDF-Expand with the octets of
/// its info and its output, each AES-CCM with those of its associated data and its content.
#[test]
fn operations_are_those_of_the_standard() {
    let (mut x, mut y) = (Counting(with_key(X), Vec::new()), Counting(with_key(Y), Vec::new()));
    let (waiting, message_1) = Initiator::start(id("37"), &[6, 2], &mut x).unwrap();
    assert_eq!(x.taken(), ["generate", "hash 39"]);

    let (answering, message_2) =
        Responder::start(&message_1, &[id("27")], &responder(Transfer::Reference), &mut y).unwrap();
    let mac_2 = ["expand 37 32", "agree", "extract 32 32", "expand 138 8"];
    let expected = ["generate", "hash 39", "hash 68", "agree", "extract 32 32"].iter().chain(&mac_2);
    assert_eq!(y.taken(), expected.chain(&["hash 140", "expand 36 11"]).copied().collect::<Vec<_>>());

    let known = [credential(CRED_I), credential(CRED_R)];
    let (at_initiator, message_3) =
        waiting.receive(&message_2, &initiator(Transfer::Reference), &known, &mut x).unwrap();
    let salt_4e3m = ["expand 37 32", "agree", "extract 32 32"];
    let expected = ["hash 68", "agree", "extract 32 32", "expand 36 11"].iter().chain(&mac_2).chain(&["hash 140"]);
    let last =
        ["expand 149 8", "expand 36 16", "expand 36 13", "seal 45 10", "hash 151", "expand 37 32", "expand 4 32"];
    assert_eq!(x.taken(), expected.chain(&salt_4e3m).chain(&last).copied().collect::<Vec<_>>());

    let at_responder = answering.receive(&message_3, &known, &mut y).unwrap();
    let expected = ["expand 36 16", "expand 36 13", "open 45 10"].iter().chain(&salt_4e3m);
    let last = ["expand 149 8", "hash 151", "expand 37 32", "expand 4 32"];
    assert_eq!(y.taken(), expected.chain(&last).copied().collect::<Vec<_>>());

    let message_4 = at_responder.message_4(&mut y).unwrap();
    assert_eq!(y.taken(), ["expand 36 16", "expand 36 13", "seal 45 0"]);
    at_initiator.verify_message_4(&message_4, &mut x).unwrap();
    assert_eq!(x.taken(), ["expand 36 16", "expand 36 13", "open 45 0"]);

    at_initiator.oscore(&mut x).unwrap();
    // info of OSCORE (RFC 8613, section 3.2.1): [id, null, 10, "Key", 16] has 10 octets with an ID of one; "IV" and 13 have 8.
    let derived = ["extract 8 16", "expand 10 32", "expand 10 32", "expand 8 32"];
    assert_eq!(x.taken(), ["expand 3 16", "expand 3 8"].iter().chain(&derived).copied().collect::<Vec<_>>());
}
