//! Types of records and of handshake messages. TLS and DTLS use the same ones.

/// The type of a record's content (RFC 5246 section 6.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContentType {
    /// change_cipher_spec (20): the sender protects the next records with new keys.
    ChangeCipherSpec,
    /// alert (21).
    Alert,
    /// handshake (22): messages of a handshake, or fragments of them.
    Handshake,
    /// application_data (23).
    ApplicationData,
    /// heartbeat (24, RFC 6520).
    Heartbeat,
    /// tls12_cid (25, RFC 9146 section 4): a protected record with a connection ID; its real type is encrypted.
    Tls12Cid,
    /// ACK (26, RFC 9147 section 7): which records have arrived.
    Ack,
    /// Any other number.
    Other(u8),
}

impl From<u8> for ContentType {
    fn from(octet: u8) -> Self {
        match octet {
            20 => Self::ChangeCipherSpec,
            21 => Self::Alert,
            22 => Self::Handshake,
            23 => Self::ApplicationData,
            24 => Self::Heartbeat,
            25 => Self::Tls12Cid,
            26 => Self::Ack,
            other => Self::Other(other),
        }
    }
}

impl From<ContentType> for u8 {
    fn from(content_type: ContentType) -> Self {
        match content_type {
            ContentType::ChangeCipherSpec => 20,
            ContentType::Alert => 21,
            ContentType::Handshake => 22,
            ContentType::ApplicationData => 23,
            ContentType::Heartbeat => 24,
            ContentType::Tls12Cid => 25,
            ContentType::Ack => 26,
            ContentType::Other(other) => other,
        }
    }
}

/// The type of a handshake message (RFC 5246 section 7.4, RFC 6347 section 4.3.2, RFC 5077 section 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum MessageType {
    HelloRequest,
    ClientHello,
    ServerHello,
    HelloVerifyRequest,
    NewSessionTicket,
    Certificate,
    ServerKeyExchange,
    CertificateRequest,
    ServerHelloDone,
    CertificateVerify,
    ClientKeyExchange,
    Finished,
    /// Any other number.
    Other(u8),
}

impl From<u8> for MessageType {
    fn from(octet: u8) -> Self {
        match octet {
            0 => Self::HelloRequest,
            1 => Self::ClientHello,
            2 => Self::ServerHello,
            3 => Self::HelloVerifyRequest,
            4 => Self::NewSessionTicket,
            11 => Self::Certificate,
            12 => Self::ServerKeyExchange,
            13 => Self::CertificateRequest,
            14 => Self::ServerHelloDone,
            15 => Self::CertificateVerify,
            16 => Self::ClientKeyExchange,
            20 => Self::Finished,
            other => Self::Other(other),
        }
    }
}

impl From<MessageType> for u8 {
    fn from(message_type: MessageType) -> Self {
        match message_type {
            MessageType::HelloRequest => 0,
            MessageType::ClientHello => 1,
            MessageType::ServerHello => 2,
            MessageType::HelloVerifyRequest => 3,
            MessageType::NewSessionTicket => 4,
            MessageType::Certificate => 11,
            MessageType::ServerKeyExchange => 12,
            MessageType::CertificateRequest => 13,
            MessageType::ServerHelloDone => 14,
            MessageType::CertificateVerify => 15,
            MessageType::ClientKeyExchange => 16,
            MessageType::Finished => 20,
            MessageType::Other(other) => other,
        }
    }
}
