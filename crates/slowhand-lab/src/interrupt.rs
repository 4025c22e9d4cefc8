//! The wish that a world stops before its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops worlds between two events. All clones stop the same worlds.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Stops the worlds. There is no way back.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// True if the worlds are to stop.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
