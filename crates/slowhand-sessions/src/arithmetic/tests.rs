//! mbedTLS computes the same, and draws the same random numbers, with the fast arithmetic and with its own.

use std::ffi::c_int;
use std::sync::Arc;
use std::thread;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::building::build_pair;
use crate::config::{CredentialKind, Protocol, Role, SessionConfig, Stack};
use crate::device::{Device, WORLD_BEGAN};
use crate::interface::slowhand_mbedtls;
use crate::memory::{End, Path};
use crate::operation::{Curve, Operation, Processor, Weightless};
use crate::{host, stacks};

unsafe extern "C" {
    fn slowhand_mbedtls_case(
        operation: c_int,
        named_group: u16,
        number: *const u8,
        second: *const u8,
        point: *const u8,
        hash: *const u8,
        hash_len: usize,
        output: *mut u8,
    ) -> c_int;
}

/// The numbers of `enum operation` in `csrc/mbedtls/cases.c`.
#[derive(Clone, Copy, Debug)]
enum Case {
    Multiply,
    AddProducts,
    Invert,
    Generate,
    Agree,
    Sign,
    SignRandomly,
    SignForPsa,
    Verify,
}

const CASES: [Case; 9] = [
    Case::Multiply,
    Case::AddProducts,
    Case::Invert,
    Case::Generate,
    Case::Agree,
    Case::Sign,
    Case::SignRandomly,
    Case::SignForPsa,
    Case::Verify,
];

/// The operands of a case. Not each case uses all.
#[derive(Clone, Debug)]
struct Operands {
    number: Number,
    second: Number,
    point: Point,
    hash: Vec<u8>,
}

/// The result and the output of a case, and the random octets that come after those that it has drawn.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    code: c_int,
    output: [u8; 160],
    next: [u8; 16],
}

fn run(case: Case, curve: Curve, operands: &Operands, arithmetic: Arithmetic) -> Outcome {
    host::attach(&slowhand_mbedtls);
    let mut device = Device::new(None, [7; 32], WORLD_BEGAN, arithmetic);
    let mut output = [0; 160];
    let Operands { number, second, point, hash } = operands;
    let code = device.run(|| {
        // SAFETY: the numbers have 32 octets, the point 64, and the output has room for a signature (141 octets at most,
        // for the longest curve of the library).
        unsafe {
            slowhand_mbedtls_case(
                case as c_int,
                curve.named_group(),
                number.as_ptr(),
                second.as_ptr(),
                point.as_ptr(),
                hash.as_ptr(),
                hash.len(),
                output.as_mut_ptr(),
            )
        }
    });
    let mut next = [0; 16];
    device.run(|| device::fill_random(&mut next));
    Outcome { code, output, next }
}

/// Compares the ways to compute. The memo is asked twice: it computes, then it finds.
fn compare(case: Case, curve: Curve, operands: &Operands) -> c_int {
    let own = run(case, curve, operands, Arithmetic::Library);
    for arithmetic in [Arithmetic::Assembly, Arithmetic::Memo, Arithmetic::Memo] {
        let other = run(case, curve, operands, arithmetic);
        assert_eq!(other, own, "{case:?} {curve} {arithmetic:?} {operands:02x?}");
    }
    own.code
}

fn number(hex: &str) -> Number {
    let mut octets = [0; NUMBER];
    for (octet, digits) in octets.iter_mut().rev().zip(hex.as_bytes().rchunks(2)) {
        *octet = u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap();
    }
    octets
}

/// The order and the prime of secp256r1 (SEC 2, section 2.4.2), and the generator.
const ORDER: &str = "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551";
const PRIME: &str = "FFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF";
const GENERATOR: [&str; 2] = [
    "6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296",
    "4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5",
];

/// The number, plus a small one.
fn plus(mut number: Number, by: i16) -> Number {
    let mut carry = by;
    for octet in number.iter_mut().rev() {
        carry += i16::from(*octet);
        *octet = carry.rem_euclid(256) as u8;
        carry = carry.div_euclid(256);
    }
    number
}

/// The number minus another one, modulo 2^256.
fn minus(mut number: Number, other: Number) -> Number {
    let mut borrow = 0;
    for (octet, other) in number.iter_mut().zip(other).rev() {
        let difference = i16::from(*octet) - i16::from(other) - borrow;
        *octet = difference.rem_euclid(256) as u8;
        borrow = i16::from(difference < 0);
    }
    number
}

fn point(x: Number, y: Number) -> Point {
    [x, y].concat().try_into().unwrap()
}

fn generator() -> Point {
    point(number(GENERATOR[0]), number(GENERATOR[1]))
}

/// The product of the generator, computed by mbedTLS.
fn product(scalar: Number) -> Point {
    let operands = Operands { number: scalar, second: scalar, point: generator(), hash: vec![0; 32] };
    let outcome = run(Case::Multiply, Curve::Secp256r1, &operands, Arithmetic::Library);
    assert_eq!(outcome.code, 0);
    outcome.output[..POINT].try_into().unwrap()
}

fn edge_numbers() -> Vec<Number> {
    let [order, prime] = [ORDER, PRIME].map(number);
    let small = [0, 1, 2, 3, 255].map(|small| plus([0; NUMBER], small));
    let near_order = [-2, -1, 0, 1].map(|by| plus(order, by));
    let others = [prime, [0xFF; NUMBER], number("80"), plus(number("8000000000000000"), -1), {
        let mut half = number(ORDER);
        half[0] >>= 1;
        half
    }];
    [&small[..], &near_order, &others].concat()
}

fn edge_points() -> Vec<Point> {
    let prime = number(PRIME);
    let [x, y] = GENERATOR.map(number);
    let on_curve = [generator(), point(x, minus(prime, y)), product(plus([0; NUMBER], 2)), product([0x11; NUMBER])];
    let not_on_it = [
        point([0; NUMBER], [0; NUMBER]),
        point(x, plus(y, 1)),
        point(prime, y),
        point([0xFF; NUMBER], [0xFF; NUMBER]),
        point(y, x),
    ];
    [&on_curve[..], &not_on_it].concat()
}

#[test]
fn unusual_operands_have_the_library_s_results() {
    let numbers = edge_numbers();
    let hashes = [vec![0; 32], vec![0xFF; 32], vec![0xFF; 48], vec![1; 20]];
    let mut codes = Vec::new();
    thread::scope(|scope| {
        let (numbers, hashes) = (&numbers, &hashes);
        let threads = CASES.map(|case| {
            scope.spawn(move || {
                let mut codes = Vec::new();
                for (index, first) in numbers.iter().enumerate() {
                    // With each number a third of the points.
                    for (turn, point) in edge_points().iter().enumerate().skip(index % 3).step_by(3) {
                        let second = numbers[(index + 5 * turn) % numbers.len()];
                        let hash = hashes[(index + turn) % hashes.len()].clone();
                        let operands = Operands { number: *first, second, point: *point, hash };
                        codes.push(compare(case, Curve::Secp256r1, &operands));
                    }
                }
                codes
            })
        });
        threads.into_iter().for_each(|thread| codes.extend(thread.join().unwrap()));
    });
    codes.sort_unstable();
    codes.dedup();
    // Success; ECP_VERIFY_FAILED; ECP_INVALID_KEY, of a scalar or a point (`ecp.h`). The inverse of 0 is its own error.
    for code in [0, -0x4E00, -0x4C80] {
        assert!(codes.contains(&code), "{codes:x?}");
    }
}

fn random_operands(random: &mut Xoshiro256PlusPlus) -> Operands {
    let mut octets = [0; 3 * NUMBER];
    random.fill_bytes(&mut octets);
    let [first, second, third] = [0, 1, 2].map(|part| octets[part * NUMBER..][..NUMBER].try_into().unwrap());
    Operands { number: first, second, point: product(plus(third, 0)), hash: octets[7..][..NUMBER].to_vec() }
}

#[test]
fn random_operands_have_the_library_s_results() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    for _ in 0..15 {
        let operands = random_operands(&mut random);
        for case in CASES {
            compare(case, Curve::Secp256r1, &operands);
        }
    }
}

/// secp192r1 always has the library's own code.
#[test]
fn another_curve_is_as_before() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    for case in [Case::Generate, Case::SignRandomly, Case::SignForPsa] {
        let mut operands = random_operands(&mut random);
        operands.number[..9].fill(0); // less than the order, of 192 bits
        assert_eq!(compare(case, Curve::Secp192r1, &operands), 0);
    }
}

/// A signature that the library makes is valid, in each way, and another one is not.
#[test]
fn signatures_are_verified() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    for _ in 0..5 {
        let mut operands = random_operands(&mut random);
        operands.point = product(operands.number);
        let outcome = run(Case::SignForPsa, Curve::Secp256r1, &operands, Arithmetic::Memo);
        assert_eq!(outcome.code, 0);
        operands.number = outcome.output[..NUMBER].try_into().unwrap();
        operands.second = outcome.output[NUMBER..POINT].try_into().unwrap();
        assert_eq!(compare(Case::Verify, Curve::Secp256r1, &operands), 0);
        operands.hash[3] ^= 1;
        assert_eq!(compare(Case::Verify, Curve::Secp256r1, &operands), -0x4E00);
    }
}

/// RFC 6979 appendix A.2.5, P-256 with SHA-256, message "sample".
#[test]
fn a_published_signature_comes_out() {
    let operands = Operands {
        number: number("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721"),
        second: [0; NUMBER],
        point: generator(),
        hash: number("AF2BDBE1AA9B6EC1E2ADE1D694F41FC71A831D0268E9891562113D8A62ADD1BF").to_vec(),
    };
    let outcome = run(Case::SignForPsa, Curve::Secp256r1, &operands, Arithmetic::Assembly);
    assert_eq!(outcome.output[..NUMBER], number("EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716"));
    let second = number("F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8");
    assert_eq!(outcome.output[NUMBER..POINT], second);
}

/// Without the memo, a session that asks for it would still be right: so its gain is shown here.
#[test]
fn the_second_end_finds_the_shared_secret_of_the_first() {
    let [one, other] = [[0x21; NUMBER], [0x43; NUMBER]];
    let mut device = Device::new(None, [0; 32], WORLD_BEGAN, Arithmetic::Memo);
    let has_assembly = cfg!(target_arch = "x86_64");
    device.run(|| {
        let [Some(first), Some(second)] = [&one, &other].map(|scalar| multiply(scalar, None)) else {
            return assert!(!has_assembly);
        };
        assert_eq!(PRODUCTS.get(&factors(&one, Some(&second))), None);
        let secret = multiply(&one, Some(&second));
        assert_eq!(PRODUCTS.get(&factors(&other, Some(&first))), secret);
        assert!(secret.is_some());
    });
}

/// Else the libraries would compute all with their own code, and nothing but the time would show it. The crate `p256` signs for
/// the libraries in Rust.
#[cfg(target_arch = "x86_64")]
#[test]
fn every_product_of_a_handshake_comes_from_the_assembly() {
    use assembly::CALLS;

    let both = [Protocol::Dtls12, Protocol::Tls13];
    for (stack, protocols, credential) in [
        (Stack::MBEDTLS, &both[..], CredentialKind::Certificate),
        (Stack::OPENSSL, &both[..], CredentialKind::Certificate),
        (Stack::RUSTLS, &[Protocol::Tls12, Protocol::Tls13], CredentialKind::Certificate),
        (Stack::LEAN_DTLS, &[Protocol::Dtls12, Protocol::Dtls13], CredentialKind::Certificate),
        (Stack::TINYDTLS, &[Protocol::Dtls12], CredentialKind::RawPublicKey),
    ] {
        for protocol in protocols {
            let end = |role| SessionConfig {
                arithmetic: Arithmetic::Assembly,
                ..SessionConfig::new(role, stack, protocol.family(), credential.into())
            };
            let processors = [0, 1].map(|_| Arc::new(Weightless) as Arc<dyn Processor>);
            let mut ends = build_pair([&end(Role::Client), &end(Role::Server)], processors).unwrap();
            CALLS.set([0; 2]);
            let [client, server] = &mut ends;
            assert_eq!(Path::default().run(&mut **client, &mut **server).end, End::Completed);
            let (mut products, mut sums) = (0, 0);
            for end in &mut ends {
                end.drain_operations(&mut |performed| match performed.operation {
                    Operation::EcdhKeyGeneration(_) | Operation::EcdhSharedSecret(_) => products += 1,
                    Operation::EcdsaSign(_) => products += usize::from(stacks::is_in_c(stack)),
                    Operation::EcdsaVerify(_) => sums += 1,
                    _ => {}
                });
            }
            assert!(products >= 4 && sums >= 2, "{stack} {protocol}: {products} {sums}");
            assert_eq!(CALLS.get(), [products, sums], "{stack} {protocol}");
        }
    }
}

#[test]
fn a_memo_has_a_bound_and_keeps_what_is_asked_for() {
    let memo = Memo::<Point>::new();
    let key = |number: usize| [&number.to_be_bytes()[..], &[0]].concat(); // all in one part
    for number in 0..10 * MOST {
        memo.insert(&key(number), [0; POINT]);
        assert!(memo.get(&key(0)).is_some());
    }
    let kept = (0..10 * MOST).filter(|number| memo.get(&key(*number)).is_some()).count();
    assert!((1..=2 * MOST).contains(&kept), "{kept}");
    assert!(memo.get(&key(5)).is_none());
}
