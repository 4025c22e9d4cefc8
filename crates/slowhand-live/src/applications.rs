//! The applications above the libraries of emulated ends.

use slowhand_lab::application::{Action, Application};
use slowhand_net::clock::Instant;

/// A client of a program: it opens the session and closes it.
#[derive(Debug, Default)]
pub(crate) struct OpenAndClose {
    is_open: bool,
    has_closed: bool,
}

impl Application for OpenAndClose {
    fn handle_established(&mut self, _now: Instant) {
        self.is_open = true;
    }

    fn poll_action(&mut self) -> Option<Action> {
        let closes = self.is_open && !self.has_closed;
        self.has_closed |= closes;
        closes.then_some(Action::Close)
    }

    fn is_finished(&self) -> bool {
        self.has_closed
    }
}

/// A server of programs: it answers data with the same data, until the client closes.
#[derive(Debug, Default)]
pub(crate) struct Echo {
    answers: std::collections::VecDeque<Vec<u8>>,
    is_finished: bool,
}

impl Application for Echo {
    fn handle_data(&mut self, _now: Instant, data: &[u8]) {
        self.answers.push_back(data.to_vec());
    }

    fn handle_closed(&mut self, _now: Instant) {
        self.is_finished = true;
    }

    fn poll_action(&mut self) -> Option<Action> {
        self.answers.pop_front().map(Action::Write)
    }

    fn is_finished(&self) -> bool {
        self.is_finished
    }
}
