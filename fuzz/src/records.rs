//! Records and messages of DTLS 1.2, written after RFC 6347, sections 4.1 and 4.2.2.

use crate::provider::{Seen, seal};

/// A record in clear.
pub fn clear(content_type: u8, epoch: u16, sequence: u64, content: &[u8]) -> Vec<u8> {
    let mut record = header(content_type, epoch, sequence, content.len());
    record.extend_from_slice(content);
    record
}

/// A record of whoever has this key.
pub fn protected(seen: &Seen, content_type: u8, epoch: u16, sequence: u64, content: &[u8]) -> Vec<u8> {
    let number = (u64::from(epoch) << 48 | sequence).to_be_bytes();
    let mut seen = *seen;
    seen.nonce[4..].copy_from_slice(&number);
    // What the tag protects: RFC 5246, section 6.2.3.3.
    let associated = [&number[..], &[content_type, 0xfe, 0xfd], &(content.len() as u16).to_be_bytes()].concat();
    let mut encrypted = content.to_vec();
    let tag = seal(&seen, &associated, &mut encrypted);
    let mut record = header(content_type, epoch, sequence, 8 + encrypted.len() + tag.len());
    record.extend([&number[..], &encrypted, &tag].concat());
    record
}

fn header(content_type: u8, epoch: u16, sequence: u64, length: usize) -> Vec<u8> {
    let mut header = vec![content_type, 0xfe, 0xfd];
    header.extend(epoch.to_be_bytes());
    header.extend(&sequence.to_be_bytes()[2..]);
    header.extend((length as u16).to_be_bytes());
    header
}

/// A whole handshake message.
pub fn message(kind: u8, sequence: u16, body: &[u8]) -> Vec<u8> {
    fragment(kind, sequence, body.len(), 0, body)
}

/// A fragment of a handshake message.
pub fn fragment(kind: u8, sequence: u16, length: usize, offset: usize, octets: &[u8]) -> Vec<u8> {
    let mut message = vec![kind];
    message.extend(&(length as u32).to_be_bytes()[1..]);
    message.extend(sequence.to_be_bytes());
    message.extend(&(offset as u32).to_be_bytes()[1..]);
    message.extend(&(octets.len() as u32).to_be_bytes()[1..]);
    message.extend_from_slice(octets);
    message
}
