//! Reads from the front of a slice.

use crate::error::WireError;

/// Takes `count` octets.
pub(crate) fn take<'a>(octets: &mut &'a [u8], count: usize) -> Result<&'a [u8], WireError> {
    let (taken, rest) =
        octets.split_at_checked(count).ok_or(WireError::Truncated { needed: count, found: octets.len() })?;
    *octets = rest;
    Ok(taken)
}

/// Takes `N` octets.
pub(crate) fn take_array<'a, const N: usize>(octets: &mut &'a [u8]) -> Result<&'a [u8; N], WireError> {
    let (taken, rest) = octets.split_first_chunk().ok_or(WireError::Truncated { needed: N, found: octets.len() })?;
    *octets = rest;
    Ok(taken)
}

/// Takes octets after their length in 16 bits.
pub(crate) fn take_vector<'a>(octets: &mut &'a [u8]) -> Result<&'a [u8], WireError> {
    let length = u16::from_be_bytes(*take_array(octets)?);
    take(octets, length.into())
}

/// Parses items one after the other. Ends with the octets, and after an error.
pub(crate) fn items<'a, T>(
    mut rest: &'a [u8],
    parse: impl Fn(&mut &'a [u8]) -> Result<T, WireError>,
) -> impl Iterator<Item = Result<T, WireError>> {
    std::iter::from_fn(move || {
        let item = (!rest.is_empty()).then(|| parse(&mut rest))?;
        if item.is_err() {
            rest = &[];
        }
        Some(item)
    })
}
