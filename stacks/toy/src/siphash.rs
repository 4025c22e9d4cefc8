//! SipHash-2-4 (Aumasson and Bernstein 2012). The standard library's own has the key 0.

pub(crate) fn siphash(key: &[u8; 16], octets: &[u8]) -> u64 {
    let [k0, k1] = [0, 8].map(|at| word(&key[at..at + 8]));
    let mut v = [
        k0 ^ 0x736f_6d65_7073_6575,
        k1 ^ 0x646f_7261_6e64_6f6d,
        k0 ^ 0x6c79_6765_6e65_7261,
        k1 ^ 0x7465_6462_7974_6573,
    ];
    let whole = octets.chunks_exact(8);
    let last = word(whole.remainder()) | (octets.len() as u64) << 56;
    for each in whole.map(word).chain([last]) {
        v[3] ^= each;
        mix(&mut v, 2);
        v[0] ^= each;
    }
    v[2] ^= 0xff;
    mix(&mut v, 4);
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

/// At most eight octets, little-endian.
fn word(octets: &[u8]) -> u64 {
    octets.iter().rev().fold(0, |word, octet| word << 8 | u64::from(*octet))
}

fn mix(v: &mut [u64; 4], rounds: u32) {
    for _ in 0..rounds {
        v[0] = v[0].wrapping_add(v[1]);
        v[2] = v[2].wrapping_add(v[3]);
        v[1] = v[1].rotate_left(13) ^ v[0];
        v[3] = v[3].rotate_left(16) ^ v[2];
        v[0] = v[0].rotate_left(32);
        v[2] = v[2].wrapping_add(v[1]);
        v[0] = v[0].wrapping_add(v[3]);
        v[1] = v[1].rotate_left(17) ^ v[2];
        v[3] = v[3].rotate_left(21) ^ v[0];
        v[2] = v[2].rotate_left(32);
    }
}
