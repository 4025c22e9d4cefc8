//! Limits of the content of a record: max_fragment_length (RFC 6066, section 4) and record_size_limit (RFC 8449).

use crate::alert;
use crate::codec::{Full, Writer};
use crate::config::{LEAST_RECORD_SIZE, MAX_CONTENT, MaxFragmentLength, RecordLimits};
use crate::extension::{self, Extensions, MAX_FRAGMENT_LENGTH, RECORD_SIZE_LIMIT};
use crate::features::{Off, RECORD_LIMITS};

/// The limits that both ends have agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    /// For all records of both ends.
    pub(crate) fragment_length: Option<MaxFragmentLength>,
    /// For the encrypted records that each end receives: this end, and its peer.
    pub(crate) record_size: Option<[u16; 2]>,
}

impl Off for Limits {
    const OFF: &'static Self = &Self { fragment_length: None, record_size: None };
}

impl Limits {
    /// The most octets of content that this end may receive, and that it may send, in records of each epoch.
    pub(crate) fn octets(&self) -> [[u16; 2]; 2] {
        let both = self.fragment_length.map_or(MAX_CONTENT, MaxFragmentLength::octets);
        self.record_size.unwrap_or([MAX_CONTENT; 2]).map(|limit| [both, limit.min(both)])
    }
}

/// Writes the extensions: the length for both ends, and the limit of the end that sends them.
pub(crate) fn write(
    writer: &mut Writer<'_>,
    fragment_length: Option<MaxFragmentLength>,
    own: Option<u16>,
) -> Result<(), Full> {
    if let Some(length) = fragment_length {
        extension::write(writer, MAX_FRAGMENT_LENGTH, |writer| writer.number(length as u32, 1))?;
    }
    match own {
        Some(own) => extension::write(writer, RECORD_SIZE_LIMIT, |writer| writer.number(own.into(), 2)),
        None => Ok(()),
    }
}

/// Returns what a server takes of the client's offer. With a record size limit it ignores the fragment length (RFC 8449, section 5).
pub(crate) fn accept(extensions: Extensions<'_>, options: &RecordLimits) -> Result<Limits, u8> {
    let record_size = read_record_size(extensions)?;
    if let (Some(own), Some(peers)) = (options.record_size_limit, record_size) {
        return Ok(Limits { record_size: Some([own, peers.min(MAX_CONTENT)]), fragment_length: None });
    }
    let fragment_length =
        options.max_fragment_length.and_then(|_| extensions.find_if(RECORD_LIMITS, MAX_FRAGMENT_LENGTH));
    Ok(Limits { fragment_length: fragment_length.map(read_fragment_length).transpose()?, record_size: None })
}

/// Reads the server's answer for a client.
pub(crate) fn confirm(extensions: Extensions<'_>, options: &RecordLimits) -> Result<Limits, u8> {
    let fragment_length =
        extensions.find_if(RECORD_LIMITS, MAX_FRAGMENT_LENGTH).map(read_fragment_length).transpose()?;
    let record_size = read_record_size(extensions)?;
    let is_other = fragment_length.is_some() && fragment_length != options.max_fragment_length;
    let is_both = fragment_length.is_some() && record_size.is_some();
    if is_other || is_both || record_size.is_some_and(|peers| peers > MAX_CONTENT) {
        return Err(alert::ILLEGAL_PARAMETER);
    }
    Ok(Limits { fragment_length, record_size: options.record_size_limit.zip(record_size).map(<[u16; 2]>::from) })
}

/// The most octets of content that a server of DTLS 1.3 takes in an encrypted record, by its extensions. The type of the content
/// counts too (RFC 8449, section 4).
///
/// # Errors
/// The alert with which the client refuses the server.
pub(crate) fn content_limit(extensions: Extensions<'_>, options: &RecordLimits) -> Result<usize, u8> {
    let [_, [_, limit]] = confirm(extensions, options)?.octets();
    Ok(usize::from(limit) - 1)
}

fn read_fragment_length(content: &[u8]) -> Result<MaxFragmentLength, u8> {
    let &[code] = content else { return Err(alert::DECODE_ERROR) };
    MaxFragmentLength::ALL.into_iter().find(|length| *length as u8 == code).ok_or(alert::ILLEGAL_PARAMETER)
}

fn read_record_size(extensions: Extensions<'_>) -> Result<Option<u16>, u8> {
    let Some(content) = extensions.find_if(RECORD_LIMITS, RECORD_SIZE_LIMIT) else { return Ok(None) };
    let peers = u16::from_be_bytes(content.try_into().map_err(|_| alert::DECODE_ERROR)?);
    if peers < LEAST_RECORD_SIZE { Err(alert::ILLEGAL_PARAMETER) } else { Ok(Some(peers)) }
}
