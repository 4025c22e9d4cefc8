//! Allocations of the libraries.
//!
//! Each allocation and release of a library is counted while one of the two ends is called, for that end:
//!
//! - The C libraries call `malloc` and its relatives. `build.rs` renames these calls to the functions of this module, which call
//!   those of the system.
//! - The Rust libraries call the global allocator. A program in which they are to be counted has [`CountingAllocator`] as its
//!   own.
//!
//! Memory that the device allocates for a library is not counted (`device`): datagrams that wait, operations, the key log. Only
//! [`session_heap`](crate::session_heap) counts, and only on its own thread. At all other times, the functions here ask
//! one variable.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_void};
use std::hint;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::config::Role;

/// The blocks of both ends, by their addresses.
#[derive(Default)]
struct Ledger {
    blocks: BTreeMap<usize, (Role, usize)>,
    octets: [usize; 2],
    most: [usize; 2],
}

thread_local! {
    static LEDGER: RefCell<Ledger> = RefCell::default();
    static IS_COUNTING: Cell<bool> = const { Cell::new(false) };
    /// The end whose library runs and is counted.
    static END: Cell<Option<Role>> = const { Cell::new(None) };
}

/// The number of threads that count. If none does, nothing asks for a variable of its thread, which costs more in a shared library.
static COUNTING_THREADS: AtomicUsize = AtomicUsize::new(0);

/// Counts what the libraries allocate during `act`. Returns the most octets of each end, client first.
pub(crate) fn counted<T>(act: impl FnOnce() -> T) -> (T, [usize; 2]) {
    let (result, most, _) = counted_and_left(act);
    (result, most)
}

/// Counts as [`counted`] does. Returns also the octets of each end that are left.
pub(crate) fn counted_and_left<T>(act: impl FnOnce() -> T) -> (T, [usize; 2], [usize; 2]) {
    /// Also after a panic.
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            COUNTING_THREADS.fetch_sub(1, Ordering::Relaxed);
        }
    }
    COUNTING_THREADS.fetch_add(1, Ordering::Relaxed);
    let _leave = Leave;
    LEDGER.take();
    let result = with_counting(true, act);
    let Ledger { most, octets, .. } = LEDGER.take();
    (result, most, octets)
}

#[inline]
fn any_thread_counts() -> bool {
    // A thread that counts has written this itself.
    COUNTING_THREADS.load(Ordering::Relaxed) != 0
}

/// Counts nothing during `act`.
pub(crate) fn uncounted<T>(act: impl FnOnce() -> T) -> T {
    with_counting(false, act)
}

fn with_counting<T>(is_counting: bool, act: impl FnOnce() -> T) -> T {
    /// Also after a panic.
    struct Reset(bool);
    impl Drop for Reset {
        fn drop(&mut self) {
            IS_COUNTING.set(self.0);
        }
    }
    let _reset = Reset(IS_COUNTING.replace(is_counting));
    act()
}

/// Says who is called, until it is dropped.
pub(crate) struct Counting {
    /// Who was called before. The outer `None`: no thread counted.
    previous: Option<Option<Role>>,
}

impl Counting {
    /// From now on, this end is called. `None`: what is allocated belongs to no library.
    pub(crate) fn of(end: Option<Role>) -> Self {
        Self { previous: any_thread_counts().then(|| END.replace(end.filter(|_| IS_COUNTING.get()))) }
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        if let Some(previous) = self.previous {
            END.set(previous);
        }
    }
}

/// True if [`CountingAllocator`] is the allocator of the program.
pub(crate) fn is_installed() -> bool {
    let (_, [octets, _]) = counted(|| {
        let _of_client = Counting::of(Some(Role::Client));
        drop(hint::black_box(Box::new(0_u8)));
    });
    octets != 0
}

fn allocated(block: *const u8, octets: usize) {
    record(|ledger, end| {
        if !block.is_null() {
            ledger.blocks.insert(block.addr(), (end, octets));
            let (now, most) = (&mut ledger.octets[end as usize], &mut ledger.most[end as usize]);
            *now += octets;
            *most = (*most).max(*now);
        }
    });
}

fn released(block: *const u8) {
    record(|ledger, _| {
        // Blocks from before are not in the ledger.
        if let Some((end, octets)) = ledger.blocks.remove(&block.addr()) {
            ledger.octets[end as usize] -= octets;
        }
    });
}

/// A block that has moved, or has another length. If there is none, it is as before; of length 0, it is released.
fn reallocated(old: *const u8, new: *const u8, octets: usize) {
    if !new.is_null() || octets == 0 {
        released(old);
    }
    if !new.is_null() {
        allocated(new, octets);
    }
}

/// Writes into the ledger, if a library is counted. What the ledger itself allocates is not.
fn record(write: impl FnOnce(&mut Ledger, Role)) {
    if any_thread_counts()
        && let Some(end) = END.get()
    {
        let _uncounted = Counting::of(None);
        LEDGER.with_borrow_mut(|ledger| write(ledger, end));
    }
}

/// The allocator of the system, which counts what the Rust libraries of sessions allocate.
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: slowhand_sessions::CountingAllocator = slowhand_sessions::CountingAllocator;
/// ```
pub struct CountingAllocator;

// SAFETY: all results are those of `System`, for the same arguments. What is counted changes no block.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's duty.
        let block = unsafe { System.alloc(layout) };
        allocated(block, layout.size());
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's duty.
        let block = unsafe { System.alloc_zeroed(layout) };
        allocated(block, layout.size());
        block
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's duty.
        let new = unsafe { System.realloc(block, layout, size) };
        reallocated(block, new, size);
        new
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        released(block);
        // SAFETY: the caller's duty.
        unsafe { System.dealloc(block, layout) };
    }
}

/// The functions of the system.
mod c {
    use super::{c_char, c_int, c_void};

    unsafe extern "C" {
        pub(super) fn malloc(size: usize) -> *mut c_void;
        pub(super) fn calloc(count: usize, size: usize) -> *mut c_void;
        pub(super) fn realloc(block: *mut c_void, size: usize) -> *mut c_void;
        pub(super) fn posix_memalign(block: *mut *mut c_void, alignment: usize, size: usize) -> c_int;
        pub(super) fn strdup(text: *const c_char) -> *mut c_char;
        pub(super) fn strlen(text: *const c_char) -> usize;
        pub(super) fn free(block: *mut c_void);
    }
}

// Functions that the C libraries call in their place. The arguments have the conditions of the system's functions.

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn slowhand_malloc(size: usize) -> *mut c_void {
    // SAFETY: the caller's duty.
    let block = unsafe { c::malloc(size) };
    allocated(block.cast(), size);
    block
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn slowhand_calloc(count: usize, size: usize) -> *mut c_void {
    // SAFETY: the caller's duty.
    let block = unsafe { c::calloc(count, size) };
    // There is no block if the product does not fit.
    allocated(block.cast(), count.saturating_mul(size));
    block
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn slowhand_realloc(block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the caller's duty.
    let new = unsafe { c::realloc(block, size) };
    reallocated(block.cast(), new.cast(), size);
    new
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn slowhand_posix_memalign(
    block: *mut *mut c_void,
    alignment: usize,
    size: usize,
) -> c_int {
    // SAFETY: the caller's duty. After a success, there is a block.
    unsafe {
        let status = c::posix_memalign(block, alignment, size);
        if status == 0 {
            allocated((*block).cast(), size);
        }
        status
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn slowhand_strdup(text: *const c_char) -> *mut c_char {
    // SAFETY: the caller's duty.
    let (copy, length) = unsafe { (c::strdup(text), c::strlen(text)) };
    allocated(copy.cast(), length + 1);
    copy
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn slowhand_free(block: *mut c_void) {
    released(block.cast());
    // SAFETY: the caller's duty.
    unsafe { c::free(block) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_length_zero_is_released() {
        let ((), most) = counted(|| {
            let _of_client = Counting::of(Some(Role::Client));
            for _ in 0..3 {
                // SAFETY: each block is given back once. `realloc` may return another one, or none.
                unsafe { slowhand_free(slowhand_realloc(slowhand_malloc(100), 0)) };
            }
        });
        assert_eq!(most, [100, 0]);
    }
}
