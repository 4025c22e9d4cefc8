//! The Echo option (RFC 9175, section 2): how a server learns that a request is fresh. OSCORE encrypts it.

use coap_lite::{CoapOption, MessageClass, Packet, ResponseType};
use subtle::ConstantTimeEq;

use super::message;

/// The number of the option (RFC 9175, section 5.1).
const ECHO: CoapOption = CoapOption::Unknown(252);

/// The response of a server that does not know if `request` is fresh: 4.01 (Unauthorized) with `value`, of 1 to 40 octets that
/// nobody can predict (RFC 9175, section 2.2.1).
///
/// It is piggybacked if the request is confirmable. Otherwise its Message ID is to be replaced.
pub fn challenge(request: &Packet, value: &[u8]) -> Packet {
    let mut response = message::response_to(request, ResponseType::Unauthorized);
    response.add_option(ECHO, value.to_vec());
    response
}

/// True if the client has repeated `value`: its request is younger than that. The comparison takes constant time.
pub fn is_repeated(request: &Packet, value: &[u8]) -> bool {
    request.get_first_option(ECHO).is_some_and(|echo| echo.as_slice().ct_eq(value).into())
}

/// The request once more with the value that the server has asked for. `None` if `response` does not ask.
///
/// Its token is that of `request`; its Message ID is to be replaced.
pub fn answer(request: &Packet, response: &Packet) -> Option<Packet> {
    let asks = response.header.code == MessageClass::Response(ResponseType::Unauthorized);
    let value = response.get_first_option(ECHO).filter(|_| asks)?;
    let mut answer = request.clone();
    answer.clear_option(ECHO);
    answer.add_option(ECHO, value.clone());
    Some(answer)
}
