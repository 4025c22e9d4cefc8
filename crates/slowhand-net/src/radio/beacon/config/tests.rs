//! All figures are derived here from IEEE 802.15.4-2006: a symbol is 16 us, an octet 32 us, synchronisation header and
//! length are 6 octets, a back-off period is 20 symbols (320 us), a turnaround 12 symbols (192 us).

use super::*;
use crate::radio::PanError;

fn us(count: u64) -> Duration {
    Duration::from_micros(count)
}

fn with_cap(cap: u64) -> BeaconConfig {
    BeaconConfig::standard(Superframe { interval: us(983_040), cap: us(cap) })
}

fn direct(config: BeaconConfig) -> BeaconConfig {
    BeaconConfig { downward: Downward::Direct, rx_on_when_idle: true, ..config }
}

#[test]
fn the_spans_of_the_tables() {
    assert_eq!((BASE_SUPERFRAME, BACKOFF_PERIOD, TURNAROUND, MIN_CAP), (us(15_360), us(320), us(192), us(7_040)));
    // 18 octets is the last length with the short space.
    assert_eq!([17, 18, 19, 127].map(interframe_space), [us(192), us(192), us(640), us(640)]);
    // 20 + 12 + 10 + 12 symbols.
    assert_eq!(ACK_WAIT, us(864));
    // Header 13, superframe 2, guaranteed time slots 1, pending addresses 1, FCS 2: 19 octets and 6.
    assert_eq!(BeaconConfig::standard(Superframe::of_orders(5, 2).unwrap()).idle_beacon(), us(800));
}

#[test]
fn intervals_double_with_the_order() {
    let of = |beacon, active| Superframe::of_orders(beacon, active).unwrap();
    assert_eq!(of(0, 0), Superframe { interval: us(15_360), cap: us(15_360) });
    assert_eq!(of(6, 2), Superframe { interval: us(983_040), cap: us(61_440) });
    // The longest interval, 251.65824 s.
    assert_eq!(of(14, 14), Superframe { interval: us(251_658_240), cap: us(251_658_240) });
    for (beacon_order, superframe_order) in [(15, 0), (15, 15), (5, 6), (0, 1)] {
        let error = Superframe::of_orders(beacon_order, superframe_order).unwrap_err();
        assert_eq!(error, BeaconConfigError::Orders { beacon_order, superframe_order });
    }
}

#[test]
fn a_beacon_announces_the_next_order() {
    for beacon in 0..=14 {
        for active in 0..=beacon {
            assert_eq!(Superframe::of_orders(beacon, active).unwrap().orders(), (beacon, active));
        }
    }
    for (span, order) in [(1, 0), (15_359, 0), (15_361, 1), (30_721, 2), (125_829_121, 14), (300_000_000, 14)] {
        assert_eq!(Superframe { interval: us(span), cap: us(15_360) }.orders(), (order, 0), "{span} us");
    }
}

/// macMaxFrameTotalWaitTime (7.4.2): with m the smaller of macMaxBE - macMinBE and macMaxCSMABackoffs, m windows that
/// double from 2^macMinBE on, then windows of 2^macMaxBE - 1, in units of 20 symbols, and the longest frame: 133
/// octets, 266 symbols.
#[test]
fn the_wait_for_a_frame_after_its_request() {
    let rows = [
        ((3, 5), 4, (8 + 16 + 2 * 31) * 20 + 266),
        ((3, 5), 2, (8 + 16) * 20 + 266),
        ((3, 5), 1, 8 * 20 + 266),
        ((3, 5), 0, 266),
        ((3, 3), 4, 4 * 7 * 20 + 266),
        ((0, 8), 5, (1 + 2 + 4 + 8 + 16) * 20 + 266),
        ((5, 8), 4, (32 + 64 + 128 + 255) * 20 + 266),
        ((0, 0), 5, 266),
    ];
    for (backoff_exponents, max_csma_backoffs, symbols) in rows {
        let config = BeaconConfig { backoff_exponents, max_csma_backoffs, ..with_cap(61_440) };
        assert_eq!(config.max_frame_total_wait(), us(symbols * 16), "{backoff_exponents:?} {max_csma_backoffs}");
    }
}

/// Direct: half of 8 back-off periods and two assessments, 1,920 us; the longest frame 4,256 us, turnaround 192 us, at
/// most 320 us to the next boundary, acknowledgement 352 us; space 640 us: 7,680 us. The request adds 960 us,
/// turnaround, boundary and acknowledgement as above, and turnaround and boundary before the frame: 2,336 us.
#[test]
fn frames_in_an_active_period() {
    for (cap, indirectly, directly) in
        [(9_952, 1, 1), (15_359, 1, 1), (15_360, 1, 2), (20_031, 1, 2), (20_032, 2, 2), (61_440, 6, 8)]
    {
        assert_eq!(with_cap(cap).frames_per_superframe(), indirectly, "{cap} us");
        assert_eq!(direct(with_cap(cap)).frames_per_superframe(), directly, "{cap} us");
    }
    // With macMinBE 8, a mean back-off of 128 periods: 41,600 us with the assessments, 49,696 us in all.
    let slow = |cap| BeaconConfig { backoff_exponents: (8, 8), ..with_cap(cap) };
    for (cap, frames) in [(12_288, 1), (99_391, 1), (99_392, 2)] {
        assert_eq!(slow(cap).frames_per_superframe(), frames, "{cap} us");
    }
}

/// A beacon that lists seven addresses: 75 octets and 6 are 2,592 us, 640 us of space and at most 320 us to the
/// boundary. Two assessments, 640 us. The request, 2,336 us. The longest frame with its acknowledgement, 5,120 us, and
/// 640 us of space.
#[test]
fn the_shortest_active_period_holds_one_frame() {
    for (of, shortest) in [(with_cap as fn(u64) -> BeaconConfig, 12_288), (|cap| direct(with_cap(cap)), 9_952)] {
        assert_eq!(of(shortest).check(), Ok(()));
        let error = BeaconConfigError::ActivePeriodTooShort { cap: us(shortest - 1), shortest: us(shortest) };
        assert_eq!(of(shortest - 1).check(), Err(error));
    }
}

#[test]
fn each_limit_from_both_sides() {
    let standard = || with_cap(61_440);
    for (channel, allowed) in [(0, false), (10, false), (11, true), (26, true), (27, false)] {
        let result = BeaconConfig { channel, ..standard() }.check();
        assert_eq!(result, if allowed { Ok(()) } else { Err(BeaconConfigError::Pan(PanError::Channel(channel))) });
    }
    for (min, max, allowed) in [(0, 0, true), (3, 3, true), (8, 8, true), (4, 3, false), (3, 9, false), (9, 9, false)] {
        let result = BeaconConfig { backoff_exponents: (min, max), ..standard() }.check();
        assert_eq!(
            result,
            if allowed { Ok(()) } else { Err(BeaconConfigError::Pan(PanError::BackoffExponents { min, max })) }
        );
    }
    assert_eq!(with_cap(983_040).check(), Ok(()));
    let error = BeaconConfigError::ActivePeriodTooLong { cap: us(983_041), interval: us(983_040) };
    assert_eq!(with_cap(983_041).check(), Err(error));
    for (downward, rx_on_when_idle, allowed) in [
        (Downward::Indirect, false, true),
        (Downward::Indirect, true, true),
        (Downward::Direct, true, true),
        (Downward::Direct, false, false),
    ] {
        let result = BeaconConfig { downward, rx_on_when_idle, ..standard() }.check();
        assert_eq!(result, if allowed { Ok(()) } else { Err(BeaconConfigError::NobodyListens) });
    }
}
