//! Properties of any octets.

use proptest::prelude::*;
use slowhand_coap::cojp::{Configuration, JoinRequest, Proxy};
use slowhand_coap::oscore::RustCrypto;

use super::{FROM, pledge, registrar, request_of};

proptest! {
    #[test]
    fn what_is_read_is_written_to_the_same(octets in proptest::collection::vec(any::<u8>(), 0..40), first in 0xa0_u8..0xa5) {
        for octets in [octets.clone(), [&[first], &octets[..]].concat()] {
            if let Ok(object) = JoinRequest::read(&octets) {
                prop_assert_eq!(JoinRequest::read(&object.write()), Ok(object));
            }
            if let Ok(object) = Configuration::read(&octets) {
                prop_assert_eq!(Configuration::read(&object.write()), Ok(object));
            }
        }
    }

    /// A datagram with octets changed, cut off or added: nobody panics, and no pledge joins by it.
    #[test]
    fn damaged_datagrams_are_refused(place in 0_usize..80, change in 1_u8.., cut in 0_usize..80) {
        let (mut pledge, mut proxy, mut registrar) = (pledge(), Proxy::new([9; 16]), registrar());
        let damaged = |octets: &[u8]| {
            let mut octets = octets[..octets.len() - cut.min(octets.len()) % 3].to_vec();
            let place = place % octets.len().max(1);
            octets.get_mut(place).into_iter().for_each(|octet| *octet ^= change);
            octets
        };
        let request = request_of(&mut pledge, true);
        let _ = proxy.forward(FROM, &damaged(&request), &mut RustCrypto);
        let forwarded = proxy.forward(FROM, &request, &mut RustCrypto).unwrap();
        let _ = registrar.answer(&damaged(&forwarded), &mut RustCrypto);
        let Ok(response) = registrar.answer(&forwarded, &mut RustCrypto) else { return Ok(()) };
        let _ = proxy.back(&damaged(&response), &mut RustCrypto);
        let (_, response) = proxy.back(&response, &mut RustCrypto).unwrap();
        let damaged = damaged(&response);
        // The type, the message ID and the class of the code are not protected.
        if damaged[4..] != response[4..] {
            prop_assert!(pledge.receive(&damaged, &mut RustCrypto).is_err());
        }
    }
}
