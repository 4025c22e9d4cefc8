//! How long the content of a record may be: max_fragment_length (RFC 6066, section 4) and record_size_limit (RFC 8449).

use super::extensions::{self, Extensions};
use super::record::MAX_CONTENT;
use crate::alert;
use crate::codec::{Full, Writer};
use crate::config::{MaxFragmentLength, Options};

pub(super) const MAX_FRAGMENT_LENGTH: u16 = 1;
pub(super) const RECORD_SIZE_LIMIT: u16 = 28;

/// The smallest record size limit (RFC 8449, section 4).
pub(crate) const LEAST_RECORD_SIZE: u16 = 64;

/// What both ends have agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    /// For all records of both ends.
    pub(crate) fragment_length: Option<MaxFragmentLength>,
    /// For the encrypted records that each end receives: this end, and its peer.
    pub(crate) record_size: Option<[u16; 2]>,
}

impl Limits {
    /// The most octets of content that this end may receive, and that it may send, in records of each epoch.
    pub(crate) fn octets(&self) -> [[u16; 2]; 2] {
        let both = self.fragment_length.map_or(MAX_CONTENT, MaxFragmentLength::octets);
        self.record_size.unwrap_or([MAX_CONTENT; 2]).map(|limit| [both, limit.min(both)])
    }
}

/// The client's extensions.
pub(super) fn write_offer(writer: &mut Writer<'_>, options: &Options) -> Result<(), Full> {
    if let Some(length) = options.max_fragment_length {
        extensions::write(writer, MAX_FRAGMENT_LENGTH, |writer| writer.number(length as u32, 1))?;
    }
    write_record_size(writer, options.record_size_limit)
}

/// The server's extensions.
pub(super) fn write_answer(writer: &mut Writer<'_>, limits: &Limits) -> Result<(), Full> {
    if let Some(length) = limits.fragment_length {
        extensions::write(writer, MAX_FRAGMENT_LENGTH, |writer| writer.number(length as u32, 1))?;
    }
    write_record_size(writer, limits.record_size.map(|[own, _]| own))
}

fn write_record_size(writer: &mut Writer<'_>, own: Option<u16>) -> Result<(), Full> {
    match own {
        Some(own) => extensions::write(writer, RECORD_SIZE_LIMIT, |writer| writer.number(own.into(), 2)),
        None => Ok(()),
    }
}

/// What a server takes of the client's offer. With a record size limit it ignores the fragment length (RFC 8449, section 5).
pub(super) fn accept(extensions: Extensions<'_>, options: &Options) -> Result<Limits, u8> {
    let record_size = read_record_size(extensions)?;
    if let (Some(own), Some(peers)) = (options.record_size_limit, record_size) {
        return Ok(Limits { record_size: Some([own, peers.min(MAX_CONTENT)]), fragment_length: None });
    }
    let fragment_length = options.max_fragment_length.and_then(|_| extensions.find(MAX_FRAGMENT_LENGTH));
    Ok(Limits { fragment_length: fragment_length.map(read_fragment_length).transpose()?, record_size: None })
}

/// What a client reads in the server's answer.
pub(super) fn confirm(extensions: Extensions<'_>, options: &Options) -> Result<Limits, u8> {
    let fragment_length = extensions.find(MAX_FRAGMENT_LENGTH).map(read_fragment_length).transpose()?;
    let record_size = read_record_size(extensions)?;
    let is_other = fragment_length.is_some() && fragment_length != options.max_fragment_length;
    let is_both = fragment_length.is_some() && record_size.is_some();
    if is_other || is_both || record_size.is_some_and(|peers| peers > MAX_CONTENT) {
        return Err(alert::ILLEGAL_PARAMETER);
    }
    Ok(Limits { fragment_length, record_size: options.record_size_limit.zip(record_size).map(<[u16; 2]>::from) })
}

fn read_fragment_length(content: &[u8]) -> Result<MaxFragmentLength, u8> {
    let &[code] = content else { return Err(alert::DECODE_ERROR) };
    MaxFragmentLength::ALL.into_iter().find(|length| *length as u8 == code).ok_or(alert::ILLEGAL_PARAMETER)
}

fn read_record_size(extensions: Extensions<'_>) -> Result<Option<u16>, u8> {
    let Some(content) = extensions.find(RECORD_SIZE_LIMIT) else { return Ok(None) };
    let peers = u16::from_be_bytes(content.try_into().map_err(|_| alert::DECODE_ERROR)?);
    if peers < LEAST_RECORD_SIZE { Err(alert::ILLEGAL_PARAMETER) } else { Ok(Some(peers)) }
}
