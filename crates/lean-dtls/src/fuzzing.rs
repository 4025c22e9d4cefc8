//! Parts of the inside for the fuzz targets. Only a build with `--cfg fuzzing` has them.

use crate::handshake::{Header, Kind};

/// A fragment of a handshake message.
#[derive(Clone, Copy, Debug)]
pub struct Fragment<'a> {
    /// The number of the message's kind.
    pub kind: u8,
    /// `message_seq`.
    pub sequence: u16,
    /// Octets of the message.
    pub length: usize,
    /// Where the fragment begins in it.
    pub offset: usize,
    /// The octets of the fragment, which do not reach beyond the message.
    pub octets: &'a [u8],
}

/// Messages from fragments.
pub struct Reassembly<const BUFFER: usize>(crate::reassembly::Reassembly<BUFFER>);

impl<const BUFFER: usize> Default for Reassembly<BUFFER> {
    fn default() -> Self {
        Self(crate::reassembly::Reassembly::new())
    }
}

impl<const BUFFER: usize> Reassembly<BUFFER> {
    /// Takes a fragment of a message that is not before `next`.
    pub fn insert(&mut self, next: u16, fragment: &Fragment<'_>) {
        self.0.insert(next, &header(fragment), fragment.octets);
    }

    /// Keeps the fragment, if it will be acknowledged.
    #[cfg(feature = "acknowledgements")]
    pub fn keep(&mut self, next: u16, fragment: &Fragment<'_>) -> bool {
        self.0.keep(next, &header(fragment), fragment.octets)
    }

    /// The kind and the octets of the message with this number, if it is whole.
    pub fn whole(&self, sequence: u16) -> Option<(u8, &[u8])> {
        self.0.whole(sequence).map(|(header, octets)| (header.kind.0, octets))
    }

    /// Forgets a message.
    pub fn remove(&mut self, sequence: u16) {
        self.0.remove(sequence);
    }
}

fn header(fragment: &Fragment<'_>) -> Header {
    let &Fragment { kind, sequence, length, offset, octets } = fragment;
    Header { kind: Kind(kind), length, sequence, offset, fragment: octets.len() }
}

/// The public key in an X.509 certificate.
#[cfg(feature = "certificates")]
pub fn subject_public_key_info(certificate: &[u8]) -> Option<&[u8]> {
    crate::der::subject_public_key_info(certificate)
}

/// Reads a signature of ECDSA on P-256, and writes it again: the octets are the same, because there is one encoding.
#[cfg(feature = "certificates")]
pub fn signature(octets: &[u8]) -> Option<([u8; 80], usize)> {
    let signature = crate::der::read_signature(octets)?;
    let mut output = [0; 80];
    let mut writer = crate::codec::Writer::new(&mut output);
    crate::der::write_signature(&mut writer, &signature).ok()?;
    let length = writer.len();
    Some((output, length))
}
