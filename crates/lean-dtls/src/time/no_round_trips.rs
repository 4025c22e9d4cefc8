//! The replacement of `round_trips` without the feature of that name: nothing is measured.

use super::instant::Instant;

/// Nothing has been measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrips;

impl RoundTrips {
    pub(super) const NONE: Self = Self;

    pub(super) const fn start(&mut self) {}

    pub(super) const fn sent(&mut self, _: Instant) {}

    pub(super) const fn repeat(&mut self) {}

    pub(super) const fn answered(&mut self) {}

    pub(super) const fn note(&mut self, _: Instant) -> bool {
        false
    }

    pub(super) const fn is_repeated(&self) -> bool {
        false
    }

    pub(super) const fn timeout(&self) -> Option<u32> {
        None
    }

    pub(super) const fn last(&self) -> Option<u32> {
        None
    }
}
