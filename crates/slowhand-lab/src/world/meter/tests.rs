use super::*;
use crate::ids::{ConversationId, EndId};
use crate::record::Phase;
use crate::world::retransmission::Reader;
use slowhand_net::address::NodeId;
use slowhand_net::clock::Instant;
use slowhand_sessions::Role;

const FIRST: ConversationId = ConversationId::FIRST;

/// Counts what it sees.
#[derive(Default)]
struct Counter {
    transmissions: usize,
}

impl Observer for Counter {
    fn transmission(&mut self, _frame: &Transmission<'_>) {
        self.transmissions += 1;
    }
}

/// The number of datagrams lost when a frame whose payload begins with this octet is on the air, and how many frames the
/// next observer sees.
fn lost(is_acknowledged: bool, kind: FrameKind, received: bool, dispatch: u8) -> (u64, usize) {
    let (mut ledger, mut next) = (Ledger::new(), Counter::default());
    ledger.open(FIRST, Reader::Datagrams { connection_id_length: 0 });
    let datagram = ledger.sent(EndId::of(FIRST, Role::Client), Phase::Handshake, &(&[0; 10][..]).into());
    // A data frame with short addresses (IEEE 802.15.4, 7.2): frame control, number, PAN, destination, source.
    let octets = [0x41, 0x88, 1, 0xcd, 0xab, 0, 0, 1, 0, dispatch, 0, 0, 0, 0, 0];
    let (at, from, to) = (Instant::ZERO, NodeId(1), NodeId(0));
    let frame = Transmission {
        at,
        asn: None,
        channel: 11,
        kind,
        from,
        to,
        datagram,
        queued_at: at,
        attempt: 0,
        received,
        octets: &octets,
    };
    Meter::new(&mut ledger, is_acknowledged, &mut next).transmission(&frame);
    (ledger.losses(&[FIRST]).iter().map(|loss| loss.count).sum(), next.transmissions)
}

#[test]
fn a_data_frame_that_nobody_acknowledges_loses_its_datagram() {
    // Compressed headers (RFC 6282), a first and a following fragment (RFC 4944, section 5.3).
    for dispatch in [0b0110_0000, 0b1100_0000, 0b1110_0000] {
        assert_eq!(lost(false, FrameKind::Data, false, dispatch), (1, 1), "{dispatch:08b}");
        assert_eq!(lost(false, FrameKind::Data, true, dispatch), (0, 1), "{dispatch:08b}: it arrives");
        assert_eq!(lost(true, FrameKind::Data, false, dispatch), (0, 1), "{dispatch:08b}: its sender tries again");
        assert_eq!(lost(false, FrameKind::Strobe, false, dispatch), (0, 1), "{dispatch:08b}: it carries nothing");
    }
    // A recoverable fragment and its acknowledgement, without and with ECN (RFC 8931, section 5): sent again.
    for dispatch in [0b1110_1000, 0b1110_1001, 0b1110_1010, 0b1110_1011] {
        assert_eq!(lost(false, FrameKind::Data, false, dispatch), (0, 1), "{dispatch:08b}");
    }
}
