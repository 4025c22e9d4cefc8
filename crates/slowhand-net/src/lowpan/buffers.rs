//! The buffers of packets in reassembly.

use std::ops::{Index, IndexMut};

use crate::clock::Instant;

/// A bounded number of buffers. The memory of a buffer is allocated when it is first taken, and kept.
#[derive(Clone, Debug)]
pub(super) struct Buffers<B> {
    limit: usize,
    /// The buffers that have been in use so far.
    allocated: Vec<B>,
    /// The buffers in use, the oldest first.
    taken: Vec<Taken>,
    free: Vec<usize>,
}

/// A buffer in use.
#[derive(Clone, Copy, Debug)]
struct Taken {
    index: usize,
    /// When its timer started.
    since: Instant,
}

impl<B> Buffers<B> {
    pub(super) const fn with_limit(limit: usize) -> Self {
        Self { limit, allocated: Vec::new(), taken: Vec::new(), free: Vec::new() }
    }

    /// Takes a buffer that was in use before, or one that `allocate` makes. Its timer starts. `None` if all are in use.
    pub(super) fn take(&mut self, now: Instant, allocate: impl FnOnce() -> B) -> Option<usize> {
        let index = match self.free.pop() {
            Some(index) => index,
            None if self.allocated.len() < self.limit => {
                self.allocated.push(allocate());
                self.allocated.len() - 1
            }
            None => return None,
        };
        self.taken.push(Taken { index, since: now });
        Some(index)
    }

    /// True if all are in use.
    pub(super) const fn are_taken(&self) -> bool {
        self.taken.len() >= self.limit
    }

    /// Starts the timer of a buffer in use again: it is the youngest now.
    pub(super) fn renew(&mut self, now: Instant, index: usize) {
        self.taken.retain(|taken| taken.index != index);
        self.taken.push(Taken { index, since: now });
    }

    /// Makes a buffer free. Its content stays until it is taken again.
    pub(super) fn release(&mut self, index: usize) {
        self.taken.retain(|taken| taken.index != index);
        self.free.push(index);
    }

    /// Makes all buffers free.
    pub(super) fn release_all(&mut self) {
        self.free.extend(self.taken.drain(..).map(|taken| taken.index));
    }

    /// The buffer whose timer has run for the longest time, and since when.
    pub(super) fn oldest(&self) -> Option<(usize, Instant)> {
        self.taken.first().map(|taken| (taken.index, taken.since))
    }

    /// The first buffer in use that fits.
    pub(super) fn find(&self, fits: impl Fn(&B) -> bool) -> Option<usize> {
        self.taken.iter().map(|taken| taken.index).find(|&index| fits(&self.allocated[index]))
    }

    /// The buffers in use, the oldest first.
    pub(super) fn in_use(&self) -> impl ExactSizeIterator<Item = &B> {
        self.taken.iter().map(|taken| &self.allocated[taken.index])
    }
}

impl<B> Index<usize> for Buffers<B> {
    type Output = B;

    fn index(&self, index: usize) -> &B {
        &self.allocated[index]
    }
}

impl<B> IndexMut<usize> for Buffers<B> {
    fn index_mut(&mut self, index: usize) -> &mut B {
        &mut self.allocated[index]
    }
}
