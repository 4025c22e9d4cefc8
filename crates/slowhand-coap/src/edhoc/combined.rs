//! message_3 and the first protected request in one (RFC 9668, section 3).

use std::collections::LinkedList;

use coap_lite::{CoapOption, Packet};

use super::credential::ConnectionId;
use super::{Error, coap};
use crate::cbor::Reader;
use crate::oscore::Value;

/// The number of the option EDHOC (RFC 9668, section 3.1). It is critical: a server names it in
/// [`Config::critical_options`](crate::endpoint::Config::critical_options).
pub const OPTION: u16 = 21;

/// The request of a client (RFC 9668, section 3.2.1). `protected` is its first request, protected with the context of the session. Of
/// a request in blocks it is the first one (section 3.2.2).
///
/// Its answer is protected, and there is no message_4.
pub fn request(message_3: &[u8], mut protected: Packet) -> Packet {
    protected.add_option(OPTION.into(), Vec::new());
    protected.payload = [message_3, &protected.payload].concat();
    protected
}

/// A combined request, taken apart.
#[derive(Clone, Debug)]
pub struct Combined<'a> {
    /// Which session.
    pub c_r: ConnectionId,
    /// For the session.
    pub message_3: &'a [u8],
    /// For the context of OSCORE that the session gives.
    pub protected: Packet,
}

/// Takes apart a request (RFC 9668, section 3.3.1). `None` if it has no option EDHOC. If blocks have come, they have been put
/// together before (section 3.3.2).
///
/// A server whose sessions have message_4 refuses what comes so with [`Error::Combined`]. The option in the decrypted request, inside, is
/// one that nobody understands.
///
/// # Errors
/// [`Error::Malformed`]: the server answers with the [refusal].
pub fn read(request: &Packet) -> Result<Option<Combined<'_>>, Error> {
    let option = CoapOption::from(OPTION);
    match request.get_option(option).map_or(0, LinkedList::len) {
        0 => return Ok(None),
        1 => {}
        // It occurs at most once (section 3.1): a second one is not understood (RFC 7252, section 5.4.5).
        _ => return Err(Error::Malformed),
    }
    let kid = Value::of(request).ok().flatten().and_then(|option| option.kid).ok_or(Error::Malformed)?;
    let mut reader = Reader::strict(&request.payload);
    let mut message_3 = reader;
    let (Some(_), Some(whole), false) = (message_3.octets(), reader.item(), reader.is_empty()) else {
        return Err(Error::Malformed);
    };
    let mut protected = request.clone();
    protected.clear_option(option);
    protected.payload = reader.rest().to_vec();
    let c_r = ConnectionId::new(&kid).map_err(|_| Error::Malformed)?;
    Ok(Some(Combined { c_r, message_3: whole, protected }))
}

/// The response to a combined request whose EDHOC part was refused: always with the error code 1 (RFC 9668, section 3.3.1). What
/// fails after that is answered by [`oscore::Error::answer`](crate::oscore::Error::answer).
pub fn refusal(error: &Error) -> Packet {
    coap::refusal_with(error, Some(error.unspecified()))
}
