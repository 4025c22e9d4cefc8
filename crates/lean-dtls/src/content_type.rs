//! The content types of records, as both versions have them.

/// The content type of a record: its number (RFC 5246, section 6.2.1; RFC 9147, section 4.1). Any number can arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContentType(pub(crate) u8);

#[allow(non_upper_case_globals)] // they are used like the variants of an enumeration
impl ContentType {
    pub(crate) const ChangeCipherSpec: Self = Self(20);
    pub(crate) const Alert: Self = Self(21);
    pub(crate) const Handshake: Self = Self(22);
    pub(crate) const ApplicationData: Self = Self(23);
    /// RFC 6520.
    pub(crate) const Heartbeat: Self = Self(24);
    /// tls12_cid: the content type is encrypted (RFC 9146, section 3).
    pub(crate) const ConnectionId: Self = Self(25);
    /// Of DTLS 1.3 (RFC 9147, section 7), and of the lean profile, where it is always encrypted.
    pub(crate) const Acknowledgement: Self = Self(26);
}
