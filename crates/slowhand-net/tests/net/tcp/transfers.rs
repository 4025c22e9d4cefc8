//! Whatever the path does, every octet arrives, unchanged and in order.

use proptest::prelude::*;
use slowhand_net::clock::Duration;
use slowhand_net::transport::tcp::{CongestionControl, Ecn, Nagle, Recovery, TcpConfig};

use super::harness::{Pair, Path, message};

fn any_config() -> impl Strategy<Value = TcpConfig> {
    let choices = (any::<[bool; 12]>(), 0..3u8, 1..=10u8, 64..1400u16, 1..8u32, any::<bool>());
    choices.prop_map(|(flags, nagle, initial_window, mss, segments, linux)| {
        let mut config = if linux { TcpConfig::linux() } else { TcpConfig::constrained() };
        config.mss = mss;
        config.send_buffer = u32::from(mss) * segments;
        config.receive_buffer = u32::from(mss) * segments + 17;
        config.window_scale = flags[0].then_some(6);
        config.timestamps = flags[1];
        config.sack = flags[2];
        config.ecn = if flags[3] { Ecn::Request } else { Ecn::Accept };
        config.nagle = [Nagle::Off, Nagle::Rfc896, Nagle::Minshall][usize::from(nagle)];
        config.delayed_ack = config.delayed_ack.filter(|_| flags[4]);
        config.initial_window = initial_window;
        config.slow_start = flags[5];
        config.congestion = if flags[6] { CongestionControl::Reno } else { CongestionControl::Cubic };
        config.recovery = if flags[7] { Recovery::Reno } else { Recovery::NewReno };
        config.single_segment = flags[8];
        config.tail_loss_probe = flags[9];
        config.early_retransmit = flags[10];
        config.rescue_retransmission = flags[11];
        // The path may lose half of all segments: give up late, come back soon.
        config.retries = 200;
        config.syn.retries = 200;
        config.rto.max = Duration::from_secs(20);
        // Long enough for the last FIN, and its acknowledgement, to get through.
        config.time_wait = Duration::from_secs(3_600);
        config
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_loss_below_certainty_ends_with_the_octets_intact(
        a in any_config(),
        b in any_config(),
        seed: u64,
        loss in 0..600u32,
        duplicate in 0..200u32,
        reorder in 0..300u32,
        mark in 0..300u32,
        delay_ms in 0..300u64,
        lengths in (0..20_000usize, 0..20_000usize),
    ) {
        let path = Path {
            delay: Duration::from_millis(delay_ms),
            loss,
            duplicate,
            reorder,
            mark,
            ..Path::default()
        };
        let mut pair = Pair::new(&a, &b, path, seed);
        pair.transfer(&message(lengths.0), &message(lengths.1));
    }
}

/// 1 MB through each kind of recovery, at 0, 1, 5 and 20 % loss, with reordering and duplicates.
#[test]
fn a_megabyte_arrives_intact() {
    let octets = message(1_000_000);
    for loss in [0, 10, 50, 200] {
        for (sack, recovery) in [(true, Recovery::NewReno), (false, Recovery::NewReno), (false, Recovery::Reno)] {
            for congestion in [CongestionControl::Reno, CongestionControl::Cubic] {
                let mut config = TcpConfig::linux();
                (config.sack, config.recovery) = (sack, recovery);
                config.congestion = congestion;
                config.retries = 100;
                let faults = if loss == 0 { 0 } else { 20 };
                let path = Path {
                    delay: Duration::from_millis(20),
                    loss,
                    duplicate: faults,
                    reorder: faults,
                    octet_time: Duration::from_micros(8),
                    ..Path::default()
                };
                let mut pair = Pair::new(&config, &config, path, u64::from(loss));
                let took = pair.transfer(&octets, b"");
                println!("loss {loss} per mille, sack {sack}, {recovery:?}, {congestion:?}: {took}");
                if loss == 0 {
                    // 8 s on the wire at 1 octet in 8 us, and little else.
                    assert!(took.as_secs_f64() < 9.5, "{took}");
                }
            }
        }
    }
}
