//! Errors.

/// Why a message was not protected or not accepted, or a context not derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A Sender or Recipient ID is too long for the nonce (section 3.3).
    #[error("a Sender or Recipient ID has {0} octets: give at most 7 (RFC 8613, section 3.3)")]
    IdTooLong(usize),
    /// The length of the ID Context takes one octet (section 6.1).
    #[error("the ID Context has {0} octets: give at most 255 (RFC 8613, section 6.1)")]
    IdContextTooLong(usize),
    /// Both ends would use the same keys and nonces (section 3.3).
    #[error("the Sender and the Recipient ID are the same: give each end its own (RFC 8613, section 3.3)")]
    SameIds,
    /// All sequence numbers of the Sender Context have been used (section 7.2.1).
    #[error("no sequence number below 2^40 is left: derive a new context (RFC 8613, section 7.2.1)")]
    Exhausted,
    /// The message has an OSCORE option already (section 4.1.3.7).
    #[error("the message has an OSCORE option: protect each message once (RFC 8613, section 4.1.3.7)")]
    Nested,
    /// Proxy-Uri has a path that a proxy must not see (section 4.1.3.3).
    #[error(
        "the message has Proxy-Uri: give Proxy-Scheme, Uri-Host, Uri-Port, Uri-Path and Uri-Query in its place (RFC 8613, \
         section 4.1.3.3)"
    )]
    ProxyUri,
    /// A request was expected and the code is not one, or a response (RFC 7252, section 12.1).
    #[error("the code {0:#04x} is not that of such a message (RFC 7252, section 12.1)")]
    Code(u8),
    /// The message is too long for AES-CCM with this nonce (RFC 3610, section 2).
    #[error("the message has more than 65,535 octets: send it in blocks (RFC 7959)")]
    TooLong,
    /// The message has no OSCORE option. A client sees it if the server refuses a request (section 8.2).
    #[error("the message is not protected with OSCORE")]
    NotProtected,
    /// An Outer Block option says that the message is a part of one (section 4.1.3.4.2).
    #[error("the message is one block of a protected message: put the blocks together first (RFC 8613, section 8.2.1)")]
    Block,
    /// The option or the payload is not as section 6 has it.
    #[error("the OSCORE option or the payload cannot be read (RFC 8613, section 6)")]
    Malformed,
    /// The message names another context.
    #[error("the message belongs to another security context (RFC 8613, section 8.2)")]
    UnknownContext,
    /// The request, response or notification has been received, or it is older than those that were (section 7.4).
    #[error("the message was received before, or is too old (RFC 8613, section 7.4)")]
    Replayed,
    /// The message is not what the owner of the key has sent.
    #[error("the message cannot be decrypted (RFC 8613, section 8.2)")]
    Decryption,
    /// The owner of the key has sent something that is not a request, or not a response.
    #[error("what was decrypted is not a request or response (RFC 8613, section 5.3)")]
    Plaintext,
    /// The response is a notification, and the request has not registered for any (section 4.1.3.5.2).
    #[error("the response is a notification that nobody has asked for (RFC 8613, section 4.1.3.5.2)")]
    Notification,
}
