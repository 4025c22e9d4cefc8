//! Alerts: their levels, and the descriptions that this engine sends (RFC 5246, section 7.2; RFC 4279, section 2; RFC 8446,
//! section 6).

pub(crate) const WARNING: u8 = 1;
pub(crate) const FATAL: u8 = 2;

pub(crate) const CLOSE_NOTIFY: u8 = 0;
pub(crate) const UNEXPECTED_MESSAGE: u8 = 10;
pub(crate) const HANDSHAKE_FAILURE: u8 = 40;
pub(crate) const BAD_CERTIFICATE: u8 = 42;
pub(crate) const UNSUPPORTED_CERTIFICATE: u8 = 43;
pub(crate) const ILLEGAL_PARAMETER: u8 = 47;
pub(crate) const DECODE_ERROR: u8 = 50;
pub(crate) const DECRYPT_ERROR: u8 = 51;
pub(crate) const PROTOCOL_VERSION: u8 = 70;
pub(crate) const INTERNAL_ERROR: u8 = 80;
pub(crate) const MISSING_EXTENSION: u8 = 109;
pub(crate) const UNSUPPORTED_EXTENSION: u8 = 110;
pub(crate) const UNKNOWN_PSK_IDENTITY: u8 = 115;
pub(crate) const CERTIFICATE_REQUIRED: u8 = 116;
