use super::*;

/// Table 2 of RFC 9033, section 14.
#[test]
fn the_constants_of_the_standard() {
    let config = MsfConfig::default();
    assert_eq!((config.max_cells, config.high, config.low), (100, 75, 25));
    assert_eq!(config.housekeeping, Duration::from_secs(60));
    assert_eq!(config.relocate_percent, 50);
    assert_eq!(config.quarantine, Duration::from_secs(300));
    assert_eq!(config.wait, (Duration::from_secs(30), Duration::from_secs(60)));
}
