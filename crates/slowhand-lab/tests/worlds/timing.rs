//! The microsecond at which a handshake ends, worked out by hand.

use crate::{MBEDTLS_PSK, plan};
use slowhand_lab::record::{Outcome, Record};

/// From the start of a slot of 20 ms to the end of the exchange of a frame that carries a datagram of `udp` octets in one
/// piece: 5,215 us to the first symbol, 6 octets of synchronisation and a PSDU of 21 + 8 + `udp` + 2 at 32 us each,
/// 5,521 us to the acknowledgement, 25 octets of that.
///
/// The 8 octets: IPHC 2 (both addresses follow from context 0 and the link), UDP header compression 1 with 1 octet of the
/// client's port 61617 = 0xf0b1 and 2 of the server's 5684, checksum 2.
const fn exchange(udp: u64) -> u64 {
    5_215 + (6 + 21 + 8 + udp + 2) * 32 + 5_521 + (6 + 19) * 32
}

fn only(mut records: Vec<Record>) -> Record {
    assert_eq!(records.len(), 1);
    records.remove(0)
}

#[test]
fn a_psk_handshake_of_tinydtls() {
    let record = only(plan(&[]).run(1, &mut ()));
    // Slots for the client's frames: 1 and 3 of every 5; for the server's: 4. A frame goes in the first slot that begins
    // after it is ready, and each flight is ready when the last message of the one before has arrived.
    //   ClientHello 1; HelloVerifyRequest 4; ClientHello 6; ServerHello 9, ServerHelloDone 14;
    //   ClientKeyExchange 16, ChangeCipherSpec 18, Finished 21; ChangeCipherSpec 24, Finished 29.
    // The last, of 53 octets, ends the handshake.
    let expected = 29 * 20_000 + exchange(53);
    assert_eq!(record.outcome, Outcome::Completed);
    assert_eq!(record.duration_s, Some(expected as f64 / 1e6));
    // The ten datagrams, one frame each: 77 + 44 + 93 + 74 + 25 + 42 + 14 + 53 + 14 + 53 octets and 31 around each.
    assert_eq!((record.datagrams, record.frames, record.frames_ack), (10, 10, 10));
    assert_eq!((record.bytes_udp, record.bytes_phy, record.bytes_ack), (489, 489 + 10 * 31, 10 * 19));
    assert_eq!((record.retransmissions_needed, record.retransmissions_spurious), (0, 0));
}

#[test]
fn a_psk_handshake_of_mbedtls() {
    let record = only(plan(MBEDTLS_PSK).run(1, &mut ()));
    // 97 / 60 / 129 / 131 / 109 / 67 octets. Those above 104 - 8 = 96 take two fragments: the first carries 4 + 8 octets
    // of headers for 48 of the packet and 88 more, the second the rest.
    //   97: slots 1, 3; 60: slot 4; 129: 6, 8; 131: 9, 14; 109: 16, 18; 67: 19.
    let expected = 19 * 20_000 + exchange(67);
    assert_eq!(record.duration_s, Some(expected as f64 / 1e6));
    assert_eq!((record.datagrams, record.frames, record.bytes_udp), (6, 10, 97 + 60 + 129 + 131 + 109 + 67));
    // Around a whole datagram 31 octets; around one in two fragments twice 23 of header and FCS, 4 + 8 and 5.
    assert_eq!(record.bytes_phy, record.bytes_udp + 2 * 31 + 4 * (2 * 23 + 12 + 5));
}
