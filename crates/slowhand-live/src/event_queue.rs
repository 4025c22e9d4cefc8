//! Events on their way to the owner of a network.

use crate::event::Event;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Events that wait for the owner. The network does not wait for it: what does not fit is not told, but for the ends of
/// conversations and of the network. *Assumed*: many seconds of the fastest network.
const MOST_EVENTS: usize = 65_536;

/// The network's end: it tells events.
pub(crate) struct Teller {
    sender: Sender<Event>,
    waiting: Arc<AtomicUsize>,
}

/// The owner's end: it takes them.
#[derive(Debug)]
pub(crate) struct EventQueue {
    events: Mutex<Receiver<Event>>,
    /// The number of events that wait.
    waiting: Arc<AtomicUsize>,
}

/// Both ends.
pub(crate) fn event_queue() -> (Teller, EventQueue) {
    let (sender, events) = channel();
    let waiting = Arc::new(AtomicUsize::new(0));
    (Teller { sender, waiting: Arc::clone(&waiting) }, EventQueue { events: Mutex::new(events), waiting })
}

impl Teller {
    pub(crate) fn tell(&self, event: Event) {
        let is_kept = matches!(event, Event::Closed { .. } | Event::Ended { .. });
        if is_kept || self.waiting.load(Ordering::Relaxed) < MOST_EVENTS {
            self.waiting.fetch_add(1, Ordering::Relaxed);
            let _ = self.sender.send(event); // the owner may have gone
        }
    }
}

impl EventQueue {
    /// The next event. `None` if there is none within this time, or if the network has ended and all events are taken.
    pub(crate) fn next(&self, timeout: Duration) -> Option<Event> {
        let event = self.events.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(timeout).ok()?;
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        Some(event)
    }
}
