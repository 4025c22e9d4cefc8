//! The time of the cryptographic operations, each by itself: the prices of a device of the laboratory.

use core::hint::black_box;

use lean_dtls::RustCrypto;
use lean_dtls::crypto::{Aead, Crypto, Hash, NONCE, Protection};

use crate::Board;
use crate::meter::{Meter, print};

/// The associated data of a record of DTLS 1.2 (RFC 5246, section 6.2.3.3).
const ASSOCIATED: usize = 13;

/// Octets of plaintext: one, two and six blocks of AES.
const LENGTHS: [usize; 3] = [16, 32, 96];

/// Octets that are hashed: their padding ends one, two and six blocks of SHA-256.
const HASHED: [usize; 3] = [55, 119, 375];

/// Each operation is a line on the console: its name, its octets, what it took, octets of stack. Ends the emulator.
pub fn run<B: Board>() -> ! {
    B::start();
    let meter = Meter::<B>::new();
    let mut crypto = RustCrypto::new(|_: &mut [u8]| {});
    let (octets, key) = ([7; 375], [9; 16]);
    for length in HASHED {
        meter.call("operation", "hash", || {
            let mut hash = crypto.hash();
            hash.update(black_box(&octets[..length]));
            black_box(hash.digest());
            length
        });
    }
    for length in HASHED {
        meter.call("operation", "hmac", || {
            black_box(crypto.hmac(black_box(&key), &[&octets[..length]]));
            length
        });
    }
    let (nonce, associated) = ([3; NONCE], [5; ASSOCIATED]);
    let with = Protection { aead: Aead::Ccm8, key: &key, nonce: &nonce, associated: &associated };
    for length in LENGTHS {
        let (mut content, mut tag) = ([1; 96], [0; 8]);
        meter.call("operation", "seal", || {
            let _ = black_box(crypto.seal(black_box(&with), &mut content[..length], &mut tag));
            length
        });
        meter.call("operation", "open", || {
            let _ = black_box(crypto.open(black_box(&with), &mut content[..length], &tag));
            length
        });
    }
    #[cfg(feature = "prices")]
    others(&meter);
    print::<B>("complete\n");
    B::exit(true)
}

/// The operations that suites with GCM and with SHA-1 need beside that. Octets of GHASH are whole blocks.
#[cfg(feature = "prices")]
fn others<B: Board>(meter: &Meter<B>) {
    use ghash::universal_hash::{KeyInit, UniversalHash};
    use sha1::Digest;

    let octets = [7; 375];
    for length in LENGTHS {
        meter.call("operation", "ghash", || {
            let mut hash = ghash::GHash::new(black_box(&[9; 16].into()));
            hash.update_padded(black_box(&octets[..length]));
            black_box(hash.finalize());
            length
        });
    }
    for length in HASHED {
        meter.call("operation", "sha_one", || {
            black_box(sha1::Sha1::digest(black_box(&octets[..length])));
            length
        });
    }
}
