//! `[mac.security]`: link security, the same keys under every link layer.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use slowhand_net::address::{Eui64, NodeId, PAN_ID};
use slowhand_net::radio::frame::{self, KeyIdentifier, Security, SecurityLevel};

use crate::input::{Document, Forms, InputError, Integer, inline_schema};

/// Link security (IEEE 802.15.4, clause 9): frames have a security header, and a code or a ciphertext. They are longer,
/// and have room for fewer octets. Immediate acknowledgements cannot be secured.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSecurity {
    /// The security level of all frames that can be secured. 6TiSCH (OpenWSN) and Thread have `enc-mic-32`.
    pub level: SecurityLevel,
    /// The way in which a frame names its key: 0, not at all; 1, by `key_index`; 2 and 3, by `key_index` and the address of
    /// the root (4 or 8 octets). Default: 1, as in Thread and OpenWSN; Contiki has 0.
    #[serde(default = "key_id_mode")]
    pub key_id_mode: Integer<0, 3>,
    /// The key index in each frame. Default: 1.
    pub key_index: Option<Integer<1, 255>>,
    /// True if the nonce has the absolute slot number, which frames do not carry; TSCH only. If false, each frame has a
    /// frame counter of 4 octets. Default: true under TSCH, as in OpenWSN.
    pub asn_in_nonce: Option<bool>,
    /// The key of all nodes, 32 hexadecimal digits. A capture is encrypted with it, and says it; nothing else depends on
    /// it. Default: `c0c1c2c3c4c5c6c7c8c9cacbcccdcecf`, that of the examples of the standard (IEEE 802.15.4-2006, annex
    /// C).
    #[serde(default)]
    pub key: Key,
}

/// A key of AES-128.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(pub frame::Key);

fn key_id_mode() -> Integer<0, 3> {
    Integer::constant(1)
}

impl Default for Key {
    fn default() -> Self {
        Self(frame::Key([
            0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf,
        ]))
    }
}

impl LinkSecurity {
    /// The key index of secured frames. 0 in frames that name no key.
    pub fn key_index(&self) -> u8 {
        match self.key_id_mode.get() {
            0 => 0,
            _ => self.key_index.map_or(1, |index| index.get() as u8),
        }
    }

    /// The security header of all secured frames. `has_slots` is true under TSCH.
    pub(super) fn header(&self, has_slots: bool) -> Option<Security> {
        let asn_in_nonce = self.asn_in_nonce.unwrap_or(has_slots);
        (self.level != SecurityLevel::None).then(|| Security {
            level: self.level,
            frame_counter: (!asn_in_nonce).then_some(0),
            asn_in_nonce,
            key: self.key_identifier(),
        })
    }

    fn key_identifier(&self) -> KeyIdentifier {
        let index = self.key_index();
        match self.key_id_mode.get() {
            0 => KeyIdentifier::Implicit,
            1 => KeyIdentifier::Index(index),
            2 => {
                let [[a, b], [c, d]] = [PAN_ID.to_le_bytes(), NodeId::ROOT.0.to_le_bytes()];
                KeyIdentifier::Source4 { source: [a, b, c, d], index }
            }
            _ => {
                let mut source = Eui64::of_node(NodeId::ROOT).0;
                source.reverse();
                KeyIdentifier::Source8 { source, index }
            }
        }
    }

    /// Checks that the keys go together. `has_slots` is true under TSCH.
    pub(in crate::scenario) fn check(&self, has_slots: bool, document: &Document) -> Result<(), InputError> {
        if let Some(index) = self.key_index.filter(|_| self.key_id_mode.get() == 0) {
            let found = format!("{} in frames that name no key", index.get());
            return Err(document.blame(
                "mac.security.key_index",
                found,
                "this key with mac.security.key_id_mode above 0",
            ));
        }
        if self.asn_in_nonce == Some(true) && !has_slots {
            let allowed = "false: only TSCH (mac.kind = \"tsch\") has slot numbers";
            return Err(document.blame("mac.security.asn_in_nonce", "true", allowed));
        }
        Ok(())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.0.iter().try_for_each(|octet| write!(f, "{octet:02x}"))
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let of_digits = |digits: &str| {
            let is_key = digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            let number = u128::from_str_radix(digits, 16).ok().filter(|_| is_key)?;
            Some(Self(frame::Key(number.to_be_bytes())))
        };
        Forms::text("a key of 32 hexadecimal digits", of_digits).read(deserializer)
    }
}

inline_schema!(Key, { "type": "string", "pattern": "^[0-9a-fA-F]{32}$" });

#[cfg(test)]
mod tests {
    use super::super::{Beacon, Csma, LinkLayer, Tsch, XMac};
    use super::*;

    fn with(level: SecurityLevel) -> LinkSecurity {
        LinkSecurity { level, key_id_mode: key_id_mode(), key_index: None, asn_in_nonce: None, key: Key::default() }
    }

    #[test]
    fn each_level_is_the_one_of_the_standard() {
        use SecurityLevel::{Enc, EncMic32, EncMic64, EncMic128, Mic32, Mic64, Mic128};
        for (number, level) in (1..).zip([Mic32, Mic64, Mic128, Enc, EncMic32, EncMic64, EncMic128]) {
            assert_eq!(with(level).header(false).unwrap().level as u8, number, "{level:?}");
        }
        assert_eq!(with(SecurityLevel::None).header(false), None);
    }

    /// The source of modes 2 and 3 is the root: PAN ID and short address, or the extended address, least significant octet
    /// first.
    #[test]
    fn each_mode_names_the_key_in_its_way() {
        let index = 9;
        for (mode, expected) in (0..).zip([
            KeyIdentifier::Implicit,
            KeyIdentifier::Index(index),
            KeyIdentifier::Source4 { source: [0xfe, 0xca, 0, 0], index },
            KeyIdentifier::Source8 { source: [0, 0, 0, 0, 0, 0x74, 0x12, 0x02], index },
        ]) {
            let key_index = Some(Integer::constant(index.into()));
            let keys = LinkSecurity { key_id_mode: Integer::constant(mode), key_index, ..with(SecurityLevel::Mic32) };
            assert_eq!(keys.header(false).unwrap().key, expected);
        }
        assert_eq!(with(SecurityLevel::Mic32).header(false).unwrap().key, KeyIdentifier::Index(1));
    }

    /// Under TSCH the slot number takes the place of the counter, unless the scenario says otherwise.
    #[test]
    fn each_link_layer_has_the_nonce_that_it_can() {
        let security = Some(with(SecurityLevel::EncMic32));
        let tsch = Tsch { security: security.clone(), ..Tsch::default() };
        let header = tsch.security_header().unwrap();
        assert_eq!((header.frame_counter, header.asn_in_nonce), (None, true));
        let counted = LinkSecurity { asn_in_nonce: Some(false), ..with(SecurityLevel::EncMic32) };
        let header = Tsch { security: Some(counted), ..Tsch::default() }.security_header().unwrap();
        assert_eq!((header.frame_counter, header.asn_in_nonce), (Some(0), false));
        let others: [Box<dyn LinkLayer>; 3] = [
            Box::new(Csma { security: security.clone(), ..Csma::default() }),
            Box::new(XMac { security: security.clone(), ..XMac::default() }),
            Box::new(Beacon { security, ..Beacon::default() }),
        ];
        for other in others {
            let header = other.security_header().unwrap();
            assert_eq!((header.frame_counter, header.asn_in_nonce), (Some(0), false));
        }
    }

    #[test]
    fn a_key_is_read_as_it_is_written() {
        let key: Key = serde_json::from_str("\"000102030405060708090a0b0c0d0eFF\"").unwrap();
        assert_eq!(key.0, frame::Key([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255]));
        assert_eq!(key.to_string(), "000102030405060708090a0b0c0d0eff");
        for wrong in
            ["+00102030405060708090a0b0c0d0e0f", "000102030405060708090a0b0c0d0e", "é00102030405060708090a0b0c0d0e0"]
        {
            assert!(serde_json::from_str::<Key>(&format!("\"{wrong}\"")).is_err(), "{wrong}");
        }
    }
}
