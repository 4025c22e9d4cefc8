//! The timers.

use super::{Connection, ConnectionError, Control, State, TWO_MSL};
use crate::clock::{Duration, Instant};
use crate::transport::dccp::packet::ResetCode;

/// The longest interval between repeated packets (RFC 4340 sections 8.1.1, 8.1.5 and 8.3: 64 s).
const MAX_INTERVAL: Duration = Duration::from_secs(64);

/// The time for which a client asks for a connection. RFC 4340 section 8.1.1 leaves it open; TCP is to try for 3 minutes at least (RFC 9293
/// section 3.8.3).
const GIVE_UP_REQUEST: Duration = Duration::from_secs(180);

impl<D: AsRef<[u8]>> Connection<D> {
    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.time_wait.is_some_and(|due| due <= now) {
            self.end(None);
        }
        if self.has_connection() && self.congestion.deadline().is_some_and(|due| due <= now) {
            self.congestion.handle_timeout();
            self.statistics.timeouts += 1;
        }
        if self.ack_timer.is_some_and(|due| due <= now) && !self.has_news {
            self.ack_timer = None;
        }
        if self.repeat.is_some_and(|repeat| repeat.due <= now) {
            self.handle_repeat(now);
        }
    }

    fn handle_repeat(&mut self, now: Instant) {
        let Some(repeat) = &mut self.repeat else { return };
        let lasted = now.since(repeat.since);
        repeat.interval = (repeat.interval * 2).min(MAX_INTERVAL);
        repeat.due = now + repeat.interval;
        let again = match self.state {
            State::Request if lasted >= GIVE_UP_REQUEST => return self.end(Some(ConnectionError::TimedOut)),
            State::Request => Control::Request,
            // Section 8.1.3 and 8.1.5: twice 2 MSL.
            State::Respond | State::PartOpen if lasted >= TWO_MSL * 2 => {
                return self.reset(self.peer_newest, ResetCode::ABORTED, [0; 3]);
            }
            State::PartOpen => Control::Ack,
            State::CloseReq | State::Closing if lasted >= TWO_MSL * 2 => return self.end(None),
            State::CloseReq => Control::CloseReq,
            State::Closing => Control::Close,
            State::Closed | State::Listen | State::Respond | State::Open | State::TimeWait => return,
        };
        self.push(again);
    }
}
