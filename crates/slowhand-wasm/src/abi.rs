//! Functions that the page calls: texts go in and out through the module's memory.
//!
//! The page gets room for a request, writes it there, calls, reads the answer, and gives its room back. A panic traps; what it says
//! goes to stderr, which the page reads. After that the page starts the module anew.

use std::alloc::{Layout, alloc, dealloc};
use std::cell::RefCell;
use std::{slice, str};

use crate::Laboratory;

thread_local! {
    static LABORATORY: RefCell<Laboratory> = RefCell::default();
}

/// Room for a text of this length.
#[unsafe(no_mangle)]
extern "C" fn slowhand_page_room(length: usize) -> *mut u8 {
    // SAFETY: the layout has a size.
    unsafe { alloc(layout(length)) }
}

/// Takes back the room of a text.
///
/// # Safety
/// The room is of `slowhand_page_room` or of `slowhand_page_call`, and has this length.
#[unsafe(no_mangle)]
unsafe extern "C" fn slowhand_page_done(text: *mut u8, length: usize) {
    // SAFETY: the caller's duty; both have this layout.
    unsafe { dealloc(text, layout(length)) }
}

/// Answers a request. The result has the address of the answer in its upper 32 bits, and its length in the lower ones.
///
/// # Safety
/// The room is of `slowhand_page_room` and has UTF-8 of this length.
#[unsafe(no_mangle)]
unsafe extern "C" fn slowhand_page_call(request: *const u8, length: usize) -> u64 {
    // SAFETY: the caller's duty.
    let request = unsafe { slice::from_raw_parts(request, length) };
    let request = str::from_utf8(request).unwrap_or_default();
    let answer = LABORATORY.with_borrow_mut(|laboratory| laboratory.answer(request));
    let room = slowhand_page_room(answer.len());
    // SAFETY: the room has the length of the answer.
    unsafe { room.copy_from_nonoverlapping(answer.as_ptr(), answer.len()) };
    (room.addr() as u64) << 32 | answer.len() as u64
}

/// At least one octet, because no room may be empty.
fn layout(length: usize) -> Layout {
    Layout::array::<u8>(length.max(1)).expect("a length that the memory of a page has room for")
}
