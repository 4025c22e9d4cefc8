//! The content of a protected record of TLS 1.3 or DTLS 1.3, for a reader that has its key.

use aes::Aes128;
use ccm::aead::{AeadInOut, KeyInit};
use ccm::consts::{U8, U12};
use ccm::{Ccm, Tag};
use pyo3::prelude::*;

use crate::argument::wrong;

/// Octets of the tag of AES-128-CCM-8 (RFC 6655 section 4).
const TAG: usize = 8;

/// Opens a record with AES-128-CCM-8. `None` if its tag does not fit.
#[pyfunction]
pub fn open_ccm_8(key: &[u8], nonce: &[u8], header: &[u8], sealed: &[u8]) -> PyResult<Option<Vec<u8>>> {
    let key: [u8; 16] = exactly("key", key)?;
    let nonce: [u8; 12] = exactly("nonce", nonce)?;
    let Some((content, tag)) = sealed.split_last_chunk::<TAG>() else { return Ok(None) };
    let mut content = content.to_vec();
    let cipher = Ccm::<Aes128, U8, U12>::new(&key.into());
    let opened = cipher.decrypt_inout_detached(&nonce.into(), header, content.as_mut_slice().into(), &Tag::from(*tag));
    Ok(opened.is_ok().then_some(content))
}

fn exactly<const N: usize>(name: &str, octets: &[u8]) -> PyResult<[u8; N]> {
    octets.try_into().map_err(|_| wrong(name, &format!("found {} octets, allowed: {N}", octets.len())))
}
