//! The stack that a call needs: its free part is painted, and what is no longer paint afterwards was used.

#![allow(unsafe_code)]

use crate::Board;

/// The octet that paints the stack.
const PAINT: u8 = 0xa5;

/// The frames of the function that paints and of [`Board::free_stack`] have fewer octets.
const FRAMES: usize = 64;

/// Paints the part of the stack that is free.
#[inline(never)]
pub(crate) fn paint<B: Board>() {
    let free = B::free_stack();
    let octets = (free.end as usize - free.start as usize).saturating_sub(FRAMES);
    for place in 0..octets {
        // SAFETY: between the statics and this function's frame nothing is in use.
        unsafe { free.start.add(place).write_volatile(PAINT) };
    }
}

/// Octets of the stack that were in use at some time since it was painted, beyond those in use now.
#[inline(never)]
pub(crate) fn depth<B: Board>() -> usize {
    let free = B::free_stack();
    let mut place = free.start;
    // SAFETY: between the statics and the stack all is RAM.
    while place < free.end && unsafe { place.read_volatile() } == PAINT {
        place = place.wrapping_add(1);
    }
    free.end as usize - place as usize
}
