//! When a sleepy device polls its parent: the rules of OpenThread's `data_poll_sender.cpp`.

use super::config::{
    CSL_POLL_RETRIES, FastPoll, MIN_POLL_PERIOD, POLL_RETRIES, Polling, QUICK_POLLS, RETRY_POLL_PERIOD,
};
use super::{Csma, Event, Timer};
use crate::address::NodeId;
use crate::clock::{Duration, Instant};
use crate::radio::contention::StationId;

/// The polls of one device.
#[derive(Debug)]
pub struct Polls {
    /// When the present period began.
    began: Instant,
    period: Duration,
    /// The time of the next poll.
    at: Instant,
    /// The instant at which the event queue has it, or an earlier one.
    armed: Option<Instant>,
    /// True if the device is to poll as soon as it can.
    pub is_due: bool,
    /// True if a poll that is due comes before the next data frame.
    pub is_first: bool,
    /// True after a poll that failed.
    is_retrying: bool,
    /// Polls in a row without acknowledgement.
    failures: u8,
    /// Polls in a row after which the announced frame did not come.
    timeouts: u8,
    /// Fast polls that are left.
    fast: u8,
    /// True during a burst that the application has announced.
    pub in_burst: bool,
}

impl Polls {
    /// Polls of this period, of which the first is at `at`.
    pub fn new(polling: &Polling, at: Instant) -> Self {
        Self {
            began: Instant::ZERO,
            period: polling.period,
            at,
            armed: None,
            is_due: false,
            is_first: false,
            is_retrying: false,
            failures: 0,
            timeouts: 0,
            fast: 0,
            in_burst: false,
        }
    }

    /// `CalculatePollPeriod`.
    fn wanted(&self, polling: &Polling) -> Duration {
        let is_fast = match polling.fast {
            FastPoll::Never => false,
            FastPoll::Data => self.fast > 0,
            FastPoll::Burst => self.in_burst,
        };
        let fast = if is_fast { polling.fast_period } else { polling.period };
        let retry = if self.is_retrying { RETRY_POLL_PERIOD } else { polling.period };
        polling.period.min(fast).min(retry)
    }

    /// `ScheduleNextPoll` with a new period. A poll that would be due at once waits a little.
    fn adapt(&mut self, now: Instant, polling: &Polling) {
        let period = self.wanted(polling);
        if period != self.period {
            self.period = period;
            self.at = (self.began + period).max(now + MIN_POLL_PERIOD);
        }
    }

    /// A new period begins.
    fn restart(&mut self, now: Instant) {
        self.began = now;
        self.at = now + self.period;
    }
}

impl Csma {
    /// The device polls, unless its next poll has been put off meanwhile.
    pub(super) fn poll_timer(&mut self, now: Instant, node: NodeId) {
        let Some(polls) = &mut self.nodes[node.index()].mac.polls else { return };
        if polls.armed != Some(now) {
            return; // an earlier one has taken its place
        }
        polls.armed = None;
        match polls.at <= now {
            true => self.poll(now, node),
            false => self.arm_polls(node),
        }
    }

    /// `SendDataPoll`: the device polls now, or as soon as its present task is done.
    pub(super) fn poll(&mut self, now: Instant, node: NodeId) {
        let Some(polls) = &mut self.nodes[node.index()].mac.polls else { return };
        polls.is_due = true;
        polls.restart(now);
        self.arm_polls(node);
        self.resume(now, StationId::device(node));
    }

    /// The device has something to send.
    pub(super) fn expect_answer(&mut self, now: Instant, node: NodeId) {
        let Polling { fast, fast_polls, .. } = self.config.polling;
        if fast == FastPoll::Data {
            self.change_polls(now, node, |polls| polls.fast = polls.fast.max(fast_polls));
        }
    }

    /// `HandlePollTxDone` after an acknowledgement.
    pub(super) fn poll_succeeded(&mut self, now: Instant, node: NodeId) {
        self.change_polls(now, node, |polls| {
            polls.fast = polls.fast.saturating_sub(1);
            (polls.is_retrying, polls.failures) = (false, 0);
        });
    }

    /// `HandlePollTxDone` without acknowledgement. `is_busy` is true if the channel was never clear.
    pub(super) fn poll_failed(&mut self, now: Instant, node: NodeId, is_busy: bool) {
        let retries = if self.config.csl.is_some() { CSL_POLL_RETRIES } else { POLL_RETRIES };
        self.change_polls(now, node, |polls| {
            if is_busy {
                polls.is_retrying = true;
                return;
            }
            polls.failures += 1;
            polls.is_retrying = polls.failures < retries;
            if !polls.is_retrying {
                polls.failures = 0;
            }
        });
    }

    /// `HandlePollTimeout`: the announced frame did not come.
    pub(super) fn poll_timed_out(&mut self, now: Instant, node: NodeId) {
        let Some(polls) = &mut self.nodes[node.index()].mac.polls else { return };
        polls.timeouts += 1;
        if polls.timeouts < QUICK_POLLS {
            self.poll(now, node);
        } else {
            polls.timeouts = 0;
        }
    }

    /// The device has received a frame of its parent, or an acknowledgement. It polls at once if frames wait for it.
    pub(super) fn heard_parent(&mut self, now: Instant, node: NodeId, frame_pending: bool) {
        let Some(polls) = &mut self.nodes[node.index()].mac.polls else { return };
        polls.timeouts = 0;
        if frame_pending {
            self.poll(now, node);
        }
    }

    pub(super) fn change_polls(&mut self, now: Instant, node: NodeId, change: impl FnOnce(&mut Polls)) {
        let Some(polls) = &mut self.nodes[node.index()].mac.polls else { return };
        change(polls);
        polls.adapt(now, &self.config.polling);
        self.arm_polls(node);
    }

    /// Makes sure that the event queue has the next poll.
    pub(super) fn arm_polls(&mut self, node: NodeId) {
        let Some(polls) = &mut self.nodes[node.index()].mac.polls else { return };
        if polls.armed.is_none_or(|armed| polls.at < armed) {
            polls.armed = Some(polls.at);
            self.events.push(polls.at, Event::Mac(Timer::Poll(node)));
        }
    }
}
