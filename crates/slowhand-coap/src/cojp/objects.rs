//! The objects of CBOR: what a pledge asks for, and what it gets (section 8.4).

use std::net::Ipv6Addr;

use super::Error;
use crate::cbor::{Cbor, Reader};

/// The labels of parameters (section 8.4.3, table 2).
mod label {
    pub(super) const ROLE: u64 = 1;
    pub(super) const KEYS: u64 = 2;
    pub(super) const SHORT_IDENTIFIER: u64 = 3;
    pub(super) const REGISTRAR: u64 = 4;
    pub(super) const NETWORK: u64 = 5;
}

/// The role of a device that is no border router (section 8.4.1, table 3). It is not sent.
pub const NODE: u64 = 0;

/// The request of a pledge (Join_Request, section 8.4.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinRequest {
    /// Its role in the network: [`NODE`], or 1 for a border router.
    pub role: u64,
    /// The network identifier: in 6TiSCH the PAN identifier of two octets.
    pub network: Vec<u8>,
}

impl JoinRequest {
    /// The request of a device that is no border router.
    pub fn of_node(network: &[u8]) -> Self {
        Self { role: NODE, network: network.to_vec() }
    }

    /// Its octets.
    pub fn write(&self) -> Vec<u8> {
        let has_role = self.role != NODE;
        let map = Cbor::map(1 + usize::from(has_role));
        let map = if has_role { map.unsigned(label::ROLE as usize).unsigned(self.role as usize) } else { map };
        map.unsigned(label::NETWORK as usize).octets(&self.network).finish()
    }

    /// Reads it.
    ///
    /// # Errors
    /// [`Error::Object`], [`Error::Parameter`].
    pub fn read(octets: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::lenient(octets);
        let (mut role, mut network) = (None, None);
        for _ in 0..item(reader.map())? {
            match item(reader.unsigned())? {
                label::ROLE => once(&mut role, item(reader.unsigned())?)?,
                label::NETWORK => once(&mut network, item(reader.octets())?.to_vec())?,
                other => return Err(Error::Parameter(other)),
            }
        }
        match network {
            Some(network) if reader.is_empty() => Ok(Self { role: role.unwrap_or(NODE), network }),
            _ => Err(Error::Object),
        }
    }
}

/// The configuration that a pledge gets (Configuration, section 8.4.2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// The keys of the link layer.
    pub keys: Vec<Key>,
    /// The address of two octets.
    pub short_identifier: Option<ShortIdentifier>,
    /// Where the registrar is. A node does not need it if its border router knows.
    pub registrar: Option<Ipv6Addr>,
}

/// A key of the link layer (section 8.4.3.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The key index in secured frames.
    pub id: u64,
    /// For which frames it is, and how they are secured (table 4). 0, beacons authenticated and data encrypted with MIC-32, is
    /// not sent.
    pub usage: i64,
    /// The key of AES-128.
    pub value: [u8; 16],
    /// More about the key, which 6TiSCH does not need.
    pub additional: Option<Vec<u8>>,
}

/// A short address (section 8.4.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortIdentifier {
    /// The address.
    pub address: [u8; 2],
    /// The time for which it is the device's, in hours. `None`: for ever.
    pub lease_hours: Option<u64>,
}

impl Configuration {
    /// Its octets.
    pub fn write(&self) -> Vec<u8> {
        let parameters = usize::from(!self.keys.is_empty())
            + usize::from(self.short_identifier.is_some())
            + usize::from(self.registrar.is_some());
        let mut object = Cbor::map(parameters);
        if !self.keys.is_empty() {
            let items = self.keys.iter().map(Key::items).sum();
            object = object.unsigned(label::KEYS as usize).raw(&Cbor::array(items).finish());
            for key in &self.keys {
                object = key.write(object);
            }
        }
        if let Some(ShortIdentifier { address, lease_hours }) = self.short_identifier {
            let array = Cbor::array(1 + usize::from(lease_hours.is_some())).octets(&address);
            let array = match lease_hours {
                Some(hours) => array.unsigned(hours as usize),
                None => array,
            };
            object = object.unsigned(label::SHORT_IDENTIFIER as usize).raw(&array.finish());
        }
        if let Some(registrar) = self.registrar {
            object = object.unsigned(label::REGISTRAR as usize).octets(&registrar.octets());
        }
        object.finish()
    }

    /// Reads it.
    ///
    /// # Errors
    /// [`Error::Object`], [`Error::Parameter`].
    pub fn read(octets: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::lenient(octets);
        let (mut keys, mut short_identifier, mut registrar) = (None, None, None);
        for _ in 0..item(reader.map())? {
            match item(reader.unsigned())? {
                label::KEYS => once(&mut keys, Key::read_all(&mut reader)?)?,
                label::SHORT_IDENTIFIER => once(&mut short_identifier, ShortIdentifier::read(&mut reader)?)?,
                label::REGISTRAR => {
                    let address: [u8; 16] = item(reader.octets())?.try_into().map_err(|_| Error::Object)?;
                    once(&mut registrar, address.into())?;
                }
                other => return Err(Error::Parameter(other)),
            }
        }
        match reader.is_empty() {
            true => Ok(Self { keys: keys.unwrap_or_default(), short_identifier, registrar }),
            false => Err(Error::Object),
        }
    }
}

impl Key {
    /// The number of items of the array that it takes: a key is no array of its own.
    fn items(&self) -> usize {
        2 + usize::from(self.usage != 0) + usize::from(self.additional.is_some())
    }

    fn write(&self, array: Cbor) -> Cbor {
        let array = array.unsigned(self.id as usize);
        let array = if self.usage == 0 { array } else { array.integer(self.usage) };
        let array = array.octets(&self.value);
        match &self.additional {
            Some(additional) => array.octets(additional),
            None => array,
        }
    }

    fn read_all(reader: &mut Reader<'_>) -> Result<Vec<Self>, Error> {
        let mut left = item(reader.array())?;
        let mut take = |items: u64| {
            left = left.checked_sub(items).ok_or(Error::Object)?;
            Ok::<_, Error>(left)
        };
        let mut keys = Vec::new();
        while take(0)? > 0 {
            take(1)?;
            let id = item(reader.unsigned())?;
            let usage = reader.optional(Reader::integer);
            take(u64::from(usage.is_some()))?;
            let after = take(1)?;
            let value = item(reader.octets())?.try_into().map_err(|_| Error::Object)?;
            let additional = if after > 0 { reader.optional(Reader::octets).map(<[u8]>::to_vec) } else { None };
            take(u64::from(additional.is_some()))?;
            let usage = usage.unwrap_or(0);
            keys.push(Self { id, usage, value, additional });
        }
        Ok(keys)
    }
}

impl ShortIdentifier {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        let items = item(reader.array())?;
        let address = item(reader.octets())?.try_into().map_err(|_| Error::Object)?;
        let lease_hours = match items {
            1 => None,
            2 => Some(item(reader.unsigned())?),
            _ => return Err(Error::Object),
        };
        Ok(Self { address, lease_hours })
    }
}

/// An item that there must be.
fn item<T>(read: Option<T>) -> Result<T, Error> {
    read.ok_or(Error::Object)
}

/// Keeps a parameter. No label may come twice (RFC 8949, section 5.6).
fn once<T>(place: &mut Option<T>, value: T) -> Result<(), Error> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(Error::Object),
    }
}

#[cfg(test)]
mod tests {
    use slowhand_testing::hex::{octets, text};

    use super::*;

    /// The objects of appendix A.
    #[test]
    fn objects_are_those_of_the_standard() {
        let request = JoinRequest::of_node(&[0xca, 0xfe]);
        assert_eq!(text(&request.write()), "a10542cafe");
        assert_eq!(JoinRequest::read(&octets("a10542cafe")), Ok(request));

        let value = octets("e6bf4287c2d7618d6a9687445ffd33e6").try_into().unwrap();
        let short_identifier = Some(ShortIdentifier { address: [0xaf, 0x93], lease_hours: None });
        let key = Key { id: 1, usage: 0, value, additional: None };
        let configuration = Configuration { keys: vec![key], short_identifier, registrar: None };
        let expected = "a202820150e6bf4287c2d7618d6a9687445ffd33e6038142af93";
        assert_eq!(text(&configuration.write()), expected);
        assert_eq!(Configuration::read(&octets(expected)), Ok(configuration));
    }

    /// By hand: a border router; two keys with all that they may have, a lease of 24 hours, a registrar.
    #[test]
    fn what_the_example_lacks() {
        let request = JoinRequest { role: 1, network: vec![0xca, 0xfe] };
        assert_eq!(text(&request.write()), "a201010542cafe");
        assert_eq!(JoinRequest::read(&octets("a201010542cafe")), Ok(request));

        let key = |id, usage, additional: Option<&[u8]>| Key {
            id,
            usage,
            value: [7; 16],
            additional: additional.map(<[u8]>::to_vec),
        };
        let configuration = Configuration {
            keys: vec![key(1, 3, Some(&[9])), key(2, -7, None)],
            short_identifier: Some(ShortIdentifier { address: [0, 5], lease_hours: Some(24) }),
            registrar: Some(Ipv6Addr::LOCALHOST),
        };
        let value = "07".repeat(16);
        let keys = format!("02 87 01 03 50 {value} 41 09 02 26 50 {value}");
        let expected = format!("a3 {keys} 03 82 42 0005 1818 04 50 {}01", "00".repeat(15));
        assert_eq!(configuration.write(), octets(&expected));
        assert_eq!(Configuration::read(&octets(&expected)), Ok(configuration));
    }

    /// RFC 8949, section 3: a label and a length in more octets than they take.
    #[test]
    fn longer_forms_are_read() {
        assert_eq!(JoinRequest::read(&octets("b801 1805 5802 cafe")), Ok(JoinRequest::of_node(&[0xca, 0xfe])));
    }

    #[test]
    fn what_the_standard_does_not_allow_is_refused() {
        for (refused, why) in [
            ("", "nothing"),
            ("80", "no map"),
            ("a1", "half a map"),
            ("bf0542cafeff", "a map of indefinite length"),
            ("a10543cafe", "half a network identifier"),
            ("a10542cafe00", "something behind it"),
            ("a20542cafe0542cafe", "a parameter twice"),
            ("a10100", "no network identifier"),
            ("a105182a", "a number as network identifier"),
        ] {
            assert_eq!(JoinRequest::read(&octets(refused)), Err(Error::Object), "{why}");
        }
        assert_eq!(JoinRequest::read(&octets("a10942cafe")), Err(Error::Parameter(9)));
        for (refused, why) in [
            ("a1028101", "a key without its value"),
            ("a1028201420707", "a key of two octets"),
            ("a1038342cafe1818", "three items of a short identifier"),
            ("a103814101", "a short identifier of one octet"),
            ("a10441ff", "a registrar of one octet"),
        ] {
            assert_eq!(Configuration::read(&octets(refused)), Err(Error::Object), "{why}");
        }
    }
}
