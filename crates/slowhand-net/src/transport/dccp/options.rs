//! Options (RFC 4340 section 5.8).

/// The numbers of options (section 5.8, Table 3) and of features (section 6.4, Table 4).
pub mod number {
    /// Fills the options to a word.
    pub const PADDING: u8 = 0;
    /// The option behind it must be understood (section 5.8.2).
    pub const MANDATORY: u8 = 1;
    /// The feature location asks for a value (section 6.1).
    pub const CHANGE_L: u8 = 32;
    /// The feature location confirms a value.
    pub const CONFIRM_L: u8 = 33;
    /// The feature remote asks for a value.
    pub const CHANGE_R: u8 = 34;
    /// The feature remote confirms a value.
    pub const CONFIRM_R: u8 = 35;
    /// Which packets arrived (section 11.4), with a sum of nonces that is 0.
    pub const ACK_VECTOR_0: u8 = 38;
    /// Which packets arrived, with a sum of nonces that is 1.
    pub const ACK_VECTOR_1: u8 = 39;

    /// Congestion Control ID (section 10).
    pub const CCID: u8 = 1;
    /// Allow Short Sequence Numbers (section 7.6.1).
    pub const ALLOW_SHORT_SEQNOS: u8 = 2;
    /// Sequence Window (section 7.5.2).
    pub const SEQUENCE_WINDOW: u8 = 3;
    /// ECN Incapable (section 12.1).
    pub const ECN_INCAPABLE: u8 = 4;
    /// Ack Ratio (section 11.3).
    pub const ACK_RATIO: u8 = 5;
    /// Send Ack Vector (section 11.5).
    pub const SEND_ACK_VECTOR: u8 = 6;
    /// Send NDP Count (section 7.7.2).
    pub const SEND_NDP_COUNT: u8 = 7;
    /// Minimum Checksum Coverage (section 9.2.1).
    pub const MINIMUM_CHECKSUM_COVERAGE: u8 = 8;
    /// Check Data Checksum (section 9.3.1).
    pub const CHECK_DATA_CHECKSUM: u8 = 9;
}

/// One option: its number and what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DccpOption<'a> {
    /// The number.
    pub kind: u8,
    /// The octets behind number and length.
    pub data: &'a [u8],
    /// True if a Mandatory option stands before it.
    pub is_mandatory: bool,
}

/// The options of a packet in their order. Padding and Mandatory are no items of it.
///
/// An option with a length that cannot be ends the list, as section 5.8 asks for.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    rest: &'a [u8],
    /// True if a Mandatory option had nothing behind it, or another Mandatory option (section 5.8.2: an error).
    is_mandatory_misplaced: bool,
}

impl<'a> Options<'a> {
    /// The options in these octets.
    pub fn new(octets: &'a [u8]) -> Self {
        Self { rest: octets, is_mandatory_misplaced: false }
    }

    /// True if a Mandatory option among those that were read has no option behind it.
    pub fn is_mandatory_misplaced(&self) -> bool {
        self.is_mandatory_misplaced
    }
}

impl<'a> Iterator for Options<'a> {
    type Item = DccpOption<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut is_mandatory = false;
        loop {
            let Some((&kind, rest)) = self.rest.split_first() else {
                self.is_mandatory_misplaced |= is_mandatory;
                return None;
            };
            self.rest = rest;
            match kind {
                number::MANDATORY if !is_mandatory => is_mandatory = true,
                number::PADDING if !is_mandatory => {}
                number::MANDATORY | number::PADDING => {
                    self.is_mandatory_misplaced = true;
                    self.rest = &[];
                    return None;
                }
                // Numbers below 32 are of options with one octet.
                2..32 => return Some(DccpOption { kind, data: &[], is_mandatory }),
                _ => {
                    let length = self.rest.first().map_or(0, |&length| usize::from(length));
                    let Some(data) = length.checked_sub(1).and_then(|end| self.rest.get(1..end)) else {
                        self.rest = &[];
                        return None;
                    };
                    self.rest = &self.rest[length - 1..];
                    return Some(DccpOption { kind, data, is_mandatory });
                }
            }
        }
    }
}

/// Adds an option to octets of options. The data are shorter than 254 octets.
pub(super) fn push(options: &mut Vec<u8>, kind: u8, data: &[u8]) {
    push_with(options, kind, |options| options.extend(data));
}

/// Adds an option, with data that `append` writes behind what is there.
pub(super) fn push_with(options: &mut Vec<u8>, kind: u8, append: impl FnOnce(&mut Vec<u8>)) {
    let start = options.len();
    options.extend([kind, 0]);
    append(options);
    let length = options.len() - start;
    debug_assert!(length <= 255, "an option of {length} octets");
    options[start + 1] = length as u8;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(octets: &[u8]) -> (Vec<(u8, Vec<u8>, bool)>, bool) {
        let mut options = Options::new(octets);
        let read = options.by_ref().map(|option| (option.kind, option.data.to_vec(), option.is_mandatory)).collect();
        (read, options.is_mandatory_misplaced())
    }

    #[test]
    fn options_are_read_in_order() {
        let mut octets = vec![0, 2, 1];
        push(&mut octets, number::CHANGE_R, &[6, 1]);
        push(&mut octets, 37, &[]);
        octets.push(0);
        let expected = vec![(2, vec![], false), (number::CHANGE_R, vec![6, 1], true), (37, vec![], false)];
        assert_eq!(read(&octets), (expected, false));
    }

    /// Section 5.8: what stands behind an option with a nonsensical length is ignored.
    #[test]
    fn a_wrong_length_ends_the_list() {
        for wrong in [&[38][..], &[38, 0], &[38, 1], &[38, 9, 1]] {
            assert_eq!(read(&[&[2], wrong, &[2][..0]].concat()), (vec![(2, vec![], false)], false), "{wrong:?}");
        }
        assert_eq!(read(&[38, 1, 2, 2]), (vec![], false));
    }

    #[test]
    fn mandatory_needs_an_option_behind_it() {
        assert_eq!(read(&[1]), (vec![], true));
        assert_eq!(read(&[1, 1, 2]), (vec![], true));
        assert!(read(&[1, 0, 2]).1);
        assert_eq!(read(&[1, 2]), (vec![(2, vec![], true)], false));
    }

    proptest! {
        #[test]
        fn any_octets_are_read(octets: Vec<u8>) {
            prop_assert!(Options::new(&octets).count() <= octets.len());
        }
    }
}
