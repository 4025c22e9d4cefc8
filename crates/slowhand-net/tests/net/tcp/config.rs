//! The limits of each field, from both sides.

use slowhand_net::clock::Duration;
use slowhand_net::transport::tcp::{DelayedAck, KeepAlive, Rto, Syn, TcpConfig};

type Change = fn(&mut TcpConfig, u64);

const DAY: u64 = 86_400_000_000;

fn us(count: u64) -> Duration {
    Duration::from_micros(count)
}

/// The result with this value.
fn with(change: Change, value: u64) -> Result<(), (&'static str, u64, u64, u64)> {
    let mut config = TcpConfig::linux();
    change(&mut config, value);
    config.validate().map_err(|error| (error.field, error.value, error.min, error.max))
}

#[test]
fn the_presets_are_allowed() {
    assert_eq!(TcpConfig::linux().validate(), Ok(()));
    assert_eq!(TcpConfig::constrained().validate(), Ok(()));
}

/// Where a limit depends on another field: the MSS of the preset is 1220 octets, its longest timeout 120 s.
#[test]
fn each_limit_from_both_sides() {
    let rows: [(&str, Change, u64, u64); 18] = [
        // The largest options of a header, 40 octets, fit into an MSS of 64.
        ("mss", |c, value| (c.mss, c.window_scale) = (value as u16, None), 64, 65_535),
        // One segment, and the largest window, 2^30 octets (RFC 7323 section 2.3).
        ("send_buffer", |c, value| c.send_buffer = value as u32, 1_220, 1_073_741_824),
        ("receive_buffer", |c, value| c.receive_buffer = value as u32, 1_220, 1_073_741_824),
        // 2^10 octets are less than an MSS, 2^11 are more.
        ("window_scale", |c, value| c.window_scale = Some(value as u8), 0, 10),
        // RFC 6928 section 2.
        ("initial_window", |c, value| c.initial_window = value as u8, 1, 10),
        ("slow_start_limit", |c, value| c.slow_start_limit = value as u8, 1, 255),
        // 0.5 s: RFC 9293 section 3.8.6.3.
        ("delayed_ack.timer (us)", |c, value| c.delayed_ack = Some(DelayedAck::new(us(value))), 1, 500_000),
        // RFC 5681 section 4.2.
        ("delayed_ack.every", |c, value| c.delayed_ack = Some(delayed_ack_every(value)), 1, 2),
        ("rto.max (us)", |c, value| c.rto = rto_up_to(value), 1, DAY),
        ("rto.min (us)", |c, value| c.rto.min = us(value), 1, 120_000_000),
        ("rto.initial (us)", |c, value| c.rto.initial = us(value), 1, 120_000_000),
        ("rto.after_syn_loss (us)", |c, value| c.rto.after_syn_loss = us(value), 1, 120_000_000),
        ("syn.timeout (us)", |c, value| c.syn = Syn { timeout: Some(us(value)), ..c.syn }, 1, 120_000_000),
        ("rto.granularity (us)", |c, value| c.rto.granularity = us(value), 0, 120_000_000),
        ("keep_alive.idle (us)", |c, value| c.keep_alive = Some(keep_alive(value, 1)), 1, 30 * DAY),
        ("keep_alive.interval (us)", |c, value| c.keep_alive = Some(keep_alive(1, value)), 1, 30 * DAY),
        ("time_wait (us)", |c, value| c.time_wait = us(value), 0, DAY),
        ("retries", |c, value| c.retries = value as u8, 0, 255),
    ];
    // The largest values that the types of these fields have.
    let unlimited = ["mss", "slow_start_limit", "retries"];
    for (field, change, min, max) in rows {
        assert_eq!(with(change, min), Ok(()), "{field}");
        assert_eq!(with(change, max), Ok(()), "{field}");
        if min > 0 {
            assert_eq!(with(change, min - 1), Err((field, min - 1, min, max)));
        }
        if !unlimited.contains(&field) {
            assert_eq!(with(change, max + 1), Err((field, max + 1, min, max)));
        }
    }
}

fn delayed_ack_every(segments: u64) -> DelayedAck {
    DelayedAck { every: segments as u8, ..DelayedAck::new(us(40_000)) }
}

fn rto_up_to(max: u64) -> Rto {
    Rto { initial: us(1), after_syn_loss: us(1), min: us(1), max: us(max), granularity: us(0) }
}

fn keep_alive(idle: u64, interval: u64) -> KeepAlive {
    KeepAlive { idle: us(idle), interval: us(interval), probes: 1 }
}

/// A window of one segment is not rounded to zero, and the shift is 14 at most (RFC 7323 section 2.3).
#[test]
fn the_window_scale_follows_the_mss() {
    for (mss, largest) in [(64, 6), (127, 6), (128, 7), (16_383, 13), (16_384, 14), (65_535, 14)] {
        let of = |shift| TcpConfig {
            mss,
            send_buffer: 65_535,
            receive_buffer: 65_535,
            window_scale: Some(shift),
            ..TcpConfig::linux()
        };
        assert_eq!(of(largest).validate(), Ok(()), "MSS {mss}");
        assert_eq!(of(largest + 1).validate().unwrap_err().max, u64::from(largest), "MSS {mss}");
    }
}
