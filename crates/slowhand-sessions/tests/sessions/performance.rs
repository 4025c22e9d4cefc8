//! A thousand handshakes in memory are a matter of less than a second.

use std::time::Duration;

use slowhand_sessions::memory::{End, Path};
use slowhand_sessions::{Stack, Suite};
use slowhand_testing::processor;

use crate::pair::Pair;

#[test]
fn a_thousand_psk_handshakes() {
    let path = Path::default();
    for stack in [Stack::MBEDTLS, Stack::OPENSSL] {
        let mut pair = Pair::new(stack, Suite::TLS_PSK_WITH_AES_128_CCM_8);
        let began = processor::time();
        for number in 0..1000u32 {
            pair.client.seed[..4].copy_from_slice(&number.to_be_bytes());
            assert_eq!(pair.run(&path).end, End::Completed);
        }
        let took = processor::time() - began;
        println!("1000 {stack} PSK handshakes in memory: {took:?}");
        // Generous, for a busy machine: it takes a tenth of this.
        assert!(took < Duration::from_secs(5), "{stack}: {took:?}");
    }
}
