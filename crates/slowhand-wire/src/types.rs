//! Types of records and of handshake messages. TLS and DTLS use the same ones.

/// Declares an enum of types that have numbers, and the conversions from and to the number.
macro_rules! numbered {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $number:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$doc])* #[doc = concat!(" Number ", stringify!($number), ".")] $variant,)+
            /// Any other number.
            Other(u8),
        }

        impl From<u8> for $name {
            fn from(octet: u8) -> Self {
                match octet {
                    $($number => Self::$variant,)+
                    other => Self::Other(other),
                }
            }
        }

        impl From<$name> for u8 {
            fn from(kind: $name) -> Self {
                match kind {
                    $($name::$variant => $number,)+
                    $name::Other(other) => other,
                }
            }
        }
    };
}

numbered! {
    /// The type of a record's content (RFC 5246 section 6.2.1).
    ContentType {
        /// change_cipher_spec: the sender protects the next records with new keys.
        ChangeCipherSpec = 20,
        /// alert.
        Alert = 21,
        /// handshake: messages of a handshake, or fragments of them.
        Handshake = 22,
        /// application_data.
        ApplicationData = 23,
        /// heartbeat (RFC 6520).
        Heartbeat = 24,
        /// tls12_cid (RFC 9146 section 4): a protected record with a connection ID; its real type is encrypted.
        Tls12Cid = 25,
        /// ACK (RFC 9147 section 7): which records have arrived.
        Ack = 26,
    }
}

numbered! {
    /// The type of a handshake message (RFC 5246 section 7.4, RFC 6347 section 4.3.2, RFC 5077 section 3.3).
    #[allow(missing_docs)]
    MessageType {
        HelloRequest = 0,
        ClientHello = 1,
        ServerHello = 2,
        HelloVerifyRequest = 3,
        NewSessionTicket = 4,
        Certificate = 11,
        ServerKeyExchange = 12,
        CertificateRequest = 13,
        ServerHelloDone = 14,
        CertificateVerify = 15,
        ClientKeyExchange = 16,
        Finished = 20,
    }
}
