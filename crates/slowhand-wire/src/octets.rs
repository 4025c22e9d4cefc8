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

/// Parses the next item. Returns `None` at the end of the octets and after an error.
pub(crate) fn next_item<'a, T>(
    rest: &mut &'a [u8],
    parse: impl FnOnce(&mut &'a [u8]) -> Result<T, WireError>,
) -> Option<Result<T, WireError>> {
    if rest.is_empty() {
        return None;
    }
    let item = parse(rest);
    if item.is_err() {
        *rest = &[];
    }
    Some(item)
}
