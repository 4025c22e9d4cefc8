use super::*;
use crate::oscore::RustCrypto;

const PRIVATE: [u8; 32] = [0x55; 32];

fn secret(id: u8) -> AccessSecret {
    AccessSecret { id: vec![id], value: [id; KEY] }
}

fn ends() -> (Producer, Consumer) {
    let grant = Grant { secret: secret(1), signer: Some(public_key(&PRIVATE).unwrap()) };
    (Producer::new(b"p", &PRIVATE, secret(1), 0), Consumer::new(b"p", grant).unwrap())
}

fn made(producer: &mut Producer, value: &[u8]) -> Vec<u8> {
    producer.protect("t", value, &mut RustCrypto).unwrap()
}

fn open(consumer: &mut Consumer, object: &[u8]) -> Result<Vec<u8>, Error> {
    consumer.open("t", object, &mut RustCrypto)
}

#[test]
fn an_object_has_so_many_octets_more_than_its_value() {
    let (mut producer, _) = ends();
    assert_eq!(made(&mut producer, &[0; 2]).len(), 2 + OVERHEAD);
    // From 24 octets on the head of the value has one more.
    assert_eq!(made(&mut producer, &[0; 24]).len(), 24 + OVERHEAD + 1);
    for (value, id, number) in
        [(0, 1, 1), (23, 1, 1), (24, 8, 2), (174, 1, 1), (175, 1, 1), (512, 23, 8), (MAX_VALUE, 0, 3)]
    {
        producer.change(AccessSecret { id: vec![1; id], value: [1; KEY] });
        producer.next = 1 << (8 * (number - 1));
        assert_eq!(made(&mut producer, &vec![0; value]).len(), length(value, id, number), "{value} {id} {number}");
    }
}

#[test]
fn whoever_lacks_a_key_opens_nothing() {
    let (mut producer, consumer) = ends();
    let object = made(&mut producer, b"21.5");
    let with = |grant: Grant| Consumer::new(b"p", grant).unwrap();
    let signer = Some(public_key(&PRIVATE).unwrap());
    let wrong = AccessSecret { id: vec![1], value: [9; KEY] };
    assert_eq!(open(&mut with(Grant { secret: wrong, signer }), &object), Err(Error::Decryption));
    assert_eq!(open(&mut with(Grant { secret: secret(2), signer }), &object), Err(Error::UnknownSecret));
    let other = Some(public_key(&[0x56; 32]).unwrap());
    assert_eq!(open(&mut with(Grant { secret: secret(1), signer: other }), &object), Err(Error::Signature));
    let named = Consumer::new(b"q", Grant { secret: secret(1), signer }).unwrap();
    assert_eq!(open(&mut { named }, &object), Err(Error::Decryption), "another producer has other keys");
    assert_eq!(Consumer::new(b"p", Grant { secret: secret(1), signer: None }).unwrap_err(), Error::Key);
    assert_eq!(open(&mut { consumer }, &object).unwrap(), b"21.5");
}

/// One who may read knows the access secret, but cannot make objects.
#[test]
fn a_reader_cannot_make_an_old_value_a_new_one() {
    let (mut producer, mut consumer) = ends();
    let object = made(&mut producer, b"21.5");
    let Cose { number, ciphertext, .. } = cose::read_encrypt0(&object).unwrap();
    let key = |number| cose::key(&secret(1).value, &[], &cose::context(b"p", number), &mut RustCrypto);
    let signed = cose::decrypt0(&key(number), number, ciphertext, &mut RustCrypto).unwrap();
    let later = Number(7);
    let forged = cose::encrypt0(&key(later), later, &[1], signed, &mut RustCrypto).unwrap();
    assert_eq!(open(&mut consumer, &forged), Err(Error::Signature));
}

#[test]
fn the_same_object_may_come_again_and_no_older_one() {
    let (mut producer, mut consumer) = ends();
    let [first, second] = [b"1", b"2"].map(|value| made(&mut producer, value));
    assert_eq!(open(&mut consumer, &second).unwrap(), b"2");
    assert_eq!(open(&mut consumer, &second).unwrap(), b"2");
    assert_eq!(open(&mut consumer, &first), Err(Error::Old));
}

#[test]
fn a_new_secret_shuts_out_who_does_not_get_it() {
    let (mut producer, mut consumer) = ends();
    producer.change(secret(2));
    let object = made(&mut producer, b"21.5");
    assert_eq!(open(&mut consumer, &object), Err(Error::UnknownSecret));
    consumer.change(secret(2));
    assert_eq!(open(&mut consumer, &object).unwrap(), b"21.5");
}

/// Who knows both secrets cannot pass on a value that was made with the old one as one of the new.
#[test]
fn a_value_stays_with_its_secret() {
    let (mut producer, mut consumer) = ends();
    let object = made(&mut producer, b"21.5");
    let Cose { number, ciphertext, .. } = cose::read_encrypt0(&object).unwrap();
    let key = |id| cose::key(&secret(id).value, &[], &cose::context(b"p", number), &mut RustCrypto);
    let signed = cose::decrypt0(&key(1), number, ciphertext, &mut RustCrypto).unwrap();
    let forged = cose::encrypt0(&key(2), number, &[2], signed, &mut RustCrypto).unwrap();
    consumer.change(secret(2));
    assert_eq!(open(&mut consumer, &forged), Err(Error::Signature));
}

/// A key and a nonce are used once, also after a restart.
#[test]
fn a_producer_goes_on_with_the_number_that_it_has_stored() {
    let (mut producer, mut consumer) = ends();
    let before = made(&mut producer, b"1");
    let mut again = Producer::new(b"p", &PRIVATE, secret(1), producer.next_number());
    let after = made(&mut again, b"2");
    let numbers = [&before, &after].map(|object| cose::read_encrypt0(object).unwrap().number);
    assert_eq!(numbers, [Number(0), Number(1)]);
    assert_eq!(open(&mut consumer, &after).unwrap(), b"2");
    assert_eq!(open(&mut consumer, &before), Err(Error::Old));
}

/// No octet is without meaning, and none may be missing.
#[test]
fn an_object_that_is_changed_or_cut_is_refused() {
    let (mut producer, mut consumer) = ends();
    let object = made(&mut producer, b"21.5");
    for place in 0..object.len() {
        for bit in [0x01, 0x20, 0x80] {
            let mut changed = object.clone();
            changed[place] ^= bit;
            open(&mut consumer, &changed).unwrap_err();
        }
        assert_eq!(open(&mut consumer, &object[..place]), Err(Error::Malformed));
    }
    assert_eq!(open(&mut consumer, &[&object[..], &[0]].concat()), Err(Error::Malformed));
}

#[test]
fn what_cannot_be_made_is_refused() {
    let (mut producer, _) = ends();
    assert_eq!(producer.protect("t", &[0; MAX_VALUE + 1], &mut RustCrypto), Err(Error::TooLong));
    producer.protect("t", &[0; MAX_VALUE], &mut RustCrypto).unwrap();
    producer.next = u64::MAX;
    assert_eq!(producer.protect("t", b"", &mut RustCrypto), Err(Error::Exhausted));
    let mut no_key = Producer::new(b"p", &[0; 32], secret(1), 0);
    assert_eq!(no_key.protect("t", b"", &mut RustCrypto), Err(Error::Key));
}
