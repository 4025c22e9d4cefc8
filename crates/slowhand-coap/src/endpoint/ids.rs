use std::time::Duration;

/// Message IDs of half of the space.
const HALF: u16 = 1 << 15;

/// The message IDs of this end, one after the other from a random start (RFC 7252 section 4.4).
#[derive(Clone, Debug)]
pub(super) struct MessageIds {
    next: u16,
    /// When an ID of each half was last used.
    used: [Option<Duration>; 2],
}

impl From<u16> for MessageIds {
    fn from(start: u16) -> Self {
        Self { next: start, used: [None; 2] }
    }
}

impl MessageIds {
    pub(super) const fn next(&self) -> u16 {
        self.next
    }

    /// The next ID. `None` if it begins a half that was used within this lifetime: the peer could remember the ID.
    pub(super) fn take(&mut self, now: Duration, lifetime: Duration) -> Option<u16> {
        let id = self.next;
        let used = &mut self.used[usize::from(id / HALF)];
        if id.is_multiple_of(HALF) && used.is_some_and(|used| now < used.saturating_add(lifetime)) {
            return None;
        }
        *used = Some(now);
        self.next = id.wrapping_add(1);
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_not_used_twice_within_a_lifetime() {
        const SECOND: Duration = Duration::from_secs(1);
        let mut ids = MessageIds::from(0xfffe);
        assert_eq!(ids.take(Duration::ZERO, SECOND), Some(0xfffe));
        for id in (0xffff..=0xffff).chain(0..=0x7fff) {
            assert_eq!(ids.take(Duration::ZERO, SECOND), Some(id));
        }
        assert_eq!(ids.take(SECOND / 2, SECOND), None, "0x8000 to 0xffff have been used half a second ago");
        assert_eq!(ids.take(SECOND, SECOND), Some(0x8000));
    }
}
