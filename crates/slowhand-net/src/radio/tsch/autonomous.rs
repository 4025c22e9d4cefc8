//! The autonomous cells of the minimal scheduling function (RFC 9033).

use super::schedule::{Cell, CellOptions, handle};
use crate::address::{Eui64, NodeId};

/// The number of channel offsets: the 16 channels of the band (RFC 9033, section 3).
const CHANNEL_OFFSETS: u64 = 16;

/// The SAX hash of RFC 9033, appendix B, with the parameters given there: h0 = 0, no left shift, a right shift by one.
/// Each step ends with the remainder modulo the table size.
pub fn sax(address: Eui64, table: u64) -> u64 {
    address.0.iter().fold(0, |hash, &octet| ((hash + (hash >> 1) + u64::from(octet)) ^ hash) % table)
}

/// Slot and channel offset of a node's autonomous cell (RFC 9033, section 3). Slot 0 belongs to the minimal cell.
pub fn autonomous_cell(address: Eui64, slotframe: u16) -> (u16, u8) {
    let slot = 1 + sax(address, u64::from(slotframe) - 1) as u16;
    (slot, sax(address, CHANNEL_OFFSETS) as u8)
}

/// The cell in which a node listens to all its neighbours (AutoRxCell).
pub fn receive_cell(node: NodeId, slotframe: u16) -> Cell {
    let (slot, channel_offset) = autonomous_cell(Eui64::of_node(node), slotframe);
    Cell { slot, channel_offset, options: CellOptions::RECEIVE, neighbor: None, handle: handle::AUTONOMOUS }
}

/// The shared cell in which all neighbours send to `to` (AutoTxCell).
pub fn transmit_cell(to: NodeId, slotframe: u16) -> Cell {
    let (slot, channel_offset) = autonomous_cell(Eui64::of_node(to), slotframe);
    let options = CellOptions::TRANSMIT_SHARED;
    Cell { slot, channel_offset, options, neighbor: Some(to), handle: handle::AUTONOMOUS }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sax_by_hand() {
        // 02-12-74-00-00-00-00-05 over a table of 100, worked out step by step after RFC 9033, appendix B.
        let mut hash = 0u64;
        let mut steps = Vec::new();
        for octet in [0x02u64, 0x12, 0x74, 0, 0, 0, 0, 5] {
            hash = ((hash + (hash >> 1) + octet) ^ hash) % 100;
            steps.push(hash);
        }
        // 2; (2+1+18)^2 = 23; (23+11+116)^23 = 129 -> 29; (29+14)^29 = 54; (54+27)^54 = 103 -> 3;
        // (3+1)^3 = 7; (7+3)^7 = 13; (13+6+5)^13 = 21.
        assert_eq!(steps, [2, 23, 29, 54, 3, 7, 13, 21]);
        assert_eq!(sax(Eui64::of_node(NodeId(5)), 100), 21);
        assert_eq!(autonomous_cell(Eui64::of_node(NodeId(5)), 101).0, 22);
    }

    #[test]
    fn never_in_the_minimal_cell_nor_outside_the_slotframe() {
        for slotframe in [2, 5, 11, 101] {
            for node in 0..200 {
                let (slot, channel_offset) = autonomous_cell(Eui64::of_node(NodeId(node)), slotframe);
                assert!((1..slotframe).contains(&slot) && channel_offset < 16);
            }
        }
    }
}
