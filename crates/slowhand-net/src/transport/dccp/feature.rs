//! Feature negotiation (RFC 4340 section 6), as far as this connection needs it.
//!
//! Each feature has a location: the end whose behaviour it describes. The other end is its remote. Most features are
//! server-priority: both ends have a list of values, and the first value of the server's that the client has too wins. The
//! others are non-negotiable: their location says a number.

use super::options::{DccpOption, number, push};

/// The values of a Sequence Window (section 7.5.2).
const SEQUENCE_WINDOWS: std::ops::Range<u64> = 32..1 << 46;

/// The values of one end's features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Values {
    /// The number of packets around the expected number that are valid (section 7.5.2).
    pub(super) sequence_window: u64,
    /// True if the end cannot read ECN marks (section 12.1).
    pub(super) is_ecn_incapable: bool,
    /// The number of the end's data packets that its peer acknowledges together (section 11.3).
    pub(super) ack_ratio: u16,
    /// True if the end sends Ack Vectors (section 11.5).
    pub(super) sends_ack_vector: bool,
}

/// The values of a connection that begins (section 6.4, Table 4).
const INITIAL: Values = Values { sequence_window: 100, is_ecn_incapable: false, ack_ratio: 2, sends_ack_vector: false };

/// Why a packet with options resets the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OptionsError {
    /// An option cannot be as it is.
    Wrong([u8; 3]),
    /// A mandatory option is not understood.
    Mandatory([u8; 3]),
}

/// A value that this end asks for, until the peer confirms it.
#[derive(Clone, Copy, Debug)]
struct Wish {
    /// `CHANGE_L` or `CHANGE_R`.
    change: u8,
    /// The feature and its value, as they stand in the option.
    octets: [u8; 3],
    length: usize,
}

impl Wish {
    fn new(change: u8, feature: u8, value: &[u8]) -> Self {
        let mut octets = [feature, 0, 0];
        octets[1..=value.len()].copy_from_slice(value);
        Self { change, octets, length: 1 + value.len() }
    }
}

/// The features of both ends.
#[derive(Debug)]
pub(super) struct Features {
    is_server: bool,
    pub(super) own: Values,
    pub(super) peer: Values,
    wishes: Vec<Wish>,
    /// The confirmations for the next packet, as octets of options.
    confirmations: Vec<u8>,
}

impl Features {
    /// The features of a connection that begins. Data packets of both ends want Ack Vectors (RFC 4341 section 4). The client
    /// asks for both, so the server has nothing left to ask for.
    pub(super) fn new(is_server: bool, ack_ratio: u16) -> Self {
        let mut wishes = vec![Wish::new(number::CHANGE_R, number::SEND_ACK_VECTOR, &[1])];
        if !is_server {
            wishes.push(Wish::new(number::CHANGE_L, number::SEND_ACK_VECTOR, &[1]));
        }
        if ack_ratio != INITIAL.ack_ratio {
            wishes.push(Wish::new(number::CHANGE_L, number::ACK_RATIO, &ack_ratio.to_be_bytes()));
        }
        Self { is_server, own: INITIAL, peer: INITIAL, wishes, confirmations: Vec::new() }
    }

    /// Writes what is to be negotiated into a packet that may carry it. A wish is in each packet until it is confirmed.
    pub(super) fn write(&mut self, options: &mut Vec<u8>) {
        options.append(&mut self.confirmations);
        for wish in &self.wishes {
            push(options, wish.change, &wish.octets[..wish.length]);
        }
    }

    /// True if the next packet has to confirm something.
    pub(super) fn has_to_confirm(&self) -> bool {
        !self.confirmations.is_empty()
    }

    /// Reads an option of the peer. Returns false if it is none of feature negotiation.
    ///
    /// # Errors
    /// The connection has to be reset.
    pub(super) fn read(&mut self, option: DccpOption<'_>) -> Result<bool, OptionsError> {
        match option.kind {
            number::CHANGE_L | number::CHANGE_R => self.read_change(option)?,
            number::CONFIRM_L | number::CONFIRM_R => self.read_confirm(option),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn read_change(&mut self, option: DccpOption<'_>) -> Result<(), OptionsError> {
        let Some((&feature, offered)) = option.data.split_first() else {
            return Err(OptionsError::Wrong([option.kind, 0, 0]));
        };
        // The peer is the location if it says L, and this end confirms as the remote.
        let is_of_peer = option.kind == number::CHANGE_L;
        let confirm = if is_of_peer { number::CONFIRM_R } else { number::CONFIRM_L };
        // Enough for every feature; a peer that repeats itself is not confirmed more often.
        if self.confirmations.len() > 128 {
            return Ok(());
        }
        let value = match feature {
            number::SEQUENCE_WINDOW | number::ACK_RATIO if !is_of_peer => None, // only the location says it (section 6.3.2)
            number::SEQUENCE_WINDOW | number::ACK_RATIO => {
                let number = offered.iter().fold(0, |number, &octet| number << 8 | u64::from(octet));
                self.set_number(feature, offered.len(), number).then(|| offered.to_vec())
            }
            _ => self.choose(feature, is_of_peer, offered),
        };
        let Some(value) = value else {
            if option.is_mandatory {
                return Err(OptionsError::Mandatory([option.kind, feature, 0]));
            }
            // An empty Confirm: the feature is unknown, or cannot have this value (sections 6.6.7 and 6.6.8).
            push(&mut self.confirmations, confirm, &[feature]);
            return Ok(());
        };
        push(&mut self.confirmations, confirm, &[&[feature], &value[..]].concat());
        Ok(())
    }

    /// Takes a number that the peer has said. Returns false if it cannot be.
    fn set_number(&mut self, feature: u8, length: usize, value: u64) -> bool {
        match (feature, length) {
            (number::SEQUENCE_WINDOW, 6) if SEQUENCE_WINDOWS.contains(&value) => self.peer.sequence_window = value,
            (number::ACK_RATIO, 2) if value > 0 => self.peer.ack_ratio = value as u16,
            _ => return false,
        }
        true
    }

    /// The value of a server-priority feature, and this end's list behind it. `None`: the feature is unknown.
    fn choose(&mut self, feature: u8, is_of_peer: bool, offered: &[u8]) -> Option<Vec<u8>> {
        let own = preferences(feature)?;
        let [server, client] = if self.is_server { [own, offered] } else { [offered, own] };
        let current = self.value(feature, is_of_peer);
        let value = server.iter().copied().find(|value| client.contains(value)).unwrap_or(current);
        self.set_value(feature, is_of_peer, value);
        Some([&[value], own].concat())
    }

    fn read_confirm(&mut self, option: DccpOption<'_>) {
        let Some((&feature, confirmed)) = option.data.split_first() else { return };
        let is_of_peer = option.kind == number::CONFIRM_L;
        let change = if is_of_peer { number::CHANGE_R } else { number::CHANGE_L };
        let Some(at) = self.wishes.iter().position(|wish| wish.change == change && wish.octets[0] == feature) else {
            return; // late, or of nobody
        };
        self.wishes.swap_remove(at);
        match (feature, confirmed) {
            (number::ACK_RATIO, &[high, low]) => self.own.ack_ratio = u16::from_be_bytes([high, low]),
            (number::SEND_ACK_VECTOR, &[value, ..]) => self.set_value(feature, is_of_peer, value),
            _ => {} // the peer does not know the feature
        }
    }

    fn values(&mut self, is_of_peer: bool) -> &mut Values {
        if is_of_peer { &mut self.peer } else { &mut self.own }
    }

    fn value(&mut self, feature: u8, is_of_peer: bool) -> u8 {
        let values = self.values(is_of_peer);
        match feature {
            number::CCID => 2,
            number::ECN_INCAPABLE => values.is_ecn_incapable.into(),
            number::SEND_ACK_VECTOR => values.sends_ack_vector.into(),
            _ => 0,
        }
    }

    fn set_value(&mut self, feature: u8, is_of_peer: bool, value: u8) {
        let values = self.values(is_of_peer);
        match feature {
            number::ECN_INCAPABLE => values.is_ecn_incapable = value == 1,
            number::SEND_ACK_VECTOR => values.sends_ack_vector = value == 1,
            _ => {}
        }
    }
}

/// The values that this implementation supports, the best first. `None`: the feature is unknown.
fn preferences(feature: u8) -> Option<&'static [u8]> {
    Some(match feature {
        number::CCID => &[2],
        number::ECN_INCAPABLE => &[0, 1],
        number::SEND_ACK_VECTOR => &[1, 0],
        number::ALLOW_SHORT_SEQNOS
        | number::SEND_NDP_COUNT
        | number::MINIMUM_CHECKSUM_COVERAGE
        | number::CHECK_DATA_CHECKSUM => &[0],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::dccp::Options;

    fn told(features: &mut Features) -> Vec<u8> {
        let mut options = Vec::new();
        features.write(&mut options);
        options
    }

    fn read(features: &mut Features, octets: &[u8]) -> Result<(), OptionsError> {
        Options::new(octets).try_for_each(|option| features.read(option).map(drop))
    }

    #[test]
    fn two_ends_agree_in_one_round_trip() {
        let (mut client, mut server) = (Features::new(false, 1), Features::new(true, 1));
        let request = told(&mut client);
        assert_eq!(request, [34, 4, 6, 1, 32, 4, 6, 1, 32, 5, 5, 0, 1]);
        read(&mut server, &request).unwrap();
        let response = told(&mut server);
        assert_eq!(response, [33, 6, 6, 1, 1, 0, 35, 6, 6, 1, 1, 0, 35, 5, 5, 0, 1, 34, 4, 6, 1, 32, 5, 5, 0, 1]);
        read(&mut client, &response).unwrap();
        read(&mut server, &told(&mut client)).unwrap();
        assert!(told(&mut client).is_empty());
        assert!(told(&mut server).is_empty());
        assert_eq!(client.own, client.peer);
        assert_eq!((client.own, client.peer), (server.peer, server.own));
        assert_eq!(client.own, Values { ack_ratio: 1, sends_ack_vector: true, ..INITIAL });
    }

    #[test]
    fn the_server_chooses_and_numbers_are_taken() {
        let mut server = Features::new(true, 2);
        server.wishes.clear();
        read(&mut server, &[32, 9, 3, 0, 0, 0, 0, 1, 0, 34, 6, 1, 3, 2, 4, 32, 4, 4, 1]).unwrap();
        assert_eq!((server.peer.sequence_window, server.peer.is_ecn_incapable), (256, true));
        let confirmed = told(&mut server);
        assert_eq!(confirmed, [35, 9, 3, 0, 0, 0, 0, 1, 0, 33, 5, 1, 2, 2, 35, 6, 4, 1, 0, 1]);
    }

    #[test]
    fn what_cannot_be_is_confirmed_empty_or_resets() {
        let mut client = Features::new(false, 2);
        client.wishes.clear();
        for wrong in [&[32, 4, 99, 1][..], &[32, 9, 3, 0, 0, 0, 0, 0, 31], &[32, 5, 5, 0, 0], &[34, 5, 5, 0, 2]] {
            read(&mut client, wrong).unwrap();
            let confirm = if wrong[0] == 32 { 35 } else { 33 };
            assert_eq!(told(&mut client), [confirm, 3, wrong[2]], "{wrong:?}");
        }
        assert_eq!(read(&mut client, &[32, 2]), Err(OptionsError::Wrong([32, 0, 0])));
        assert_eq!(read(&mut client, &[1, 34, 4, 99, 1]), Err(OptionsError::Mandatory([34, 99, 0])));
        read(&mut client, &[34, 4, 1, 3]).unwrap();
        assert_eq!(told(&mut client), [33, 5, 1, 2, 2], "no common value: it stays as it is");
        read(&mut client, &[33, 3, 6, 35, 3, 77, 33, 2]).unwrap();
        assert_eq!(client.peer, INITIAL, "confirmations of nothing");
        for _ in 0..1_000 {
            read(&mut client, &[32, 4, 99, 1]).unwrap();
        }
        assert!(told(&mut client).len() < 200);
    }
}
