//! The buffers of packets in reassembly.

use std::ops::{Index, IndexMut};

/// A bounded number of buffers. The memory of a buffer is allocated when it is first taken, and kept.
#[derive(Clone, Debug)]
pub(super) struct Buffers<B> {
    limit: usize,
    /// Those that have been in use so far.
    allocated: Vec<B>,
    /// Those in use, the oldest first.
    taken: Vec<usize>,
    free: Vec<usize>,
}

impl<B> Buffers<B> {
    pub(super) const fn with_limit(limit: usize) -> Self {
        Self { limit, allocated: Vec::new(), taken: Vec::new(), free: Vec::new() }
    }

    /// Takes a buffer that was in use before, or one that `allocate` makes. `None` if all are in use.
    pub(super) fn take(&mut self, allocate: impl FnOnce() -> B) -> Option<usize> {
        let index = match self.free.pop() {
            Some(index) => index,
            None if self.allocated.len() < self.limit => {
                self.allocated.push(allocate());
                self.allocated.len() - 1
            }
            None => return None,
        };
        self.taken.push(index);
        Some(index)
    }

    /// Makes a buffer free. Its content stays until it is taken again.
    pub(super) fn release(&mut self, index: usize) {
        self.taken.retain(|&taken| taken != index);
        self.free.push(index);
    }

    /// Makes all buffers free.
    pub(super) fn release_all(&mut self) {
        self.free.append(&mut self.taken);
    }

    /// The buffer that has been in use for the longest time.
    pub(super) fn oldest(&self) -> Option<usize> {
        self.taken.first().copied()
    }

    /// The first buffer in use that fits.
    pub(super) fn find(&self, fits: impl Fn(&B) -> bool) -> Option<usize> {
        self.taken.iter().copied().find(|&index| fits(&self.allocated[index]))
    }

    /// Those in use, the oldest first.
    pub(super) fn in_use(&self) -> impl ExactSizeIterator<Item = &B> {
        self.taken.iter().map(|&index| &self.allocated[index])
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
