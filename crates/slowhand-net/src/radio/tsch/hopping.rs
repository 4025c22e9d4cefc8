//! Channel hopping: from channel offset and slot to channel (IEEE 802.15.4-2015, 6.2.6.3 and 6.2.10).

/// The default hopping sequence of the 16 channels at 2.4 GHz, which 6TiSCH prescribes.
/// Source: RFC 8180, section 4.1 (macHoppingSequence), the default of IEEE 802.15.4-2015, 6.2.10.
pub const DEFAULT_SEQUENCE: [u8; 16] = [16, 17, 23, 18, 26, 15, 25, 22, 19, 11, 12, 13, 24, 14, 20, 21];

/// The physical channel: the sequence's entry at (ASN + channel offset) modulo its length.
///
/// `sequence` must not be empty.
pub fn channel(sequence: &[u8], asn: u64, channel_offset: u8) -> u8 {
    sequence[((asn + u64::from(channel_offset)) % sequence.len() as u64) as usize]
}
