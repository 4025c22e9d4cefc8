//! A live network as its owner has it: it runs on a thread of its own.

use crate::driver::{Command, Driver, Opened};
use crate::event::{Address, Event, Report, Snapshot};
use crate::event_queue::{EventQueue, event_queue};
use crate::setup::{LiveError, Setup};
use mio::Waker;
use slowhand_lab::plan::Plan;
use slowhand_lab::scenario::{Scenario, ServerAt};
use slowhand_sessions::{Carrier, Protocol};
use std::any::Any;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The time that an answer of the network may take. *Assumed*: it answers between two of its events.
const PATIENCE: Duration = Duration::from_secs(5);

/// A network that runs against the wall clock. It stops when this is dropped.
#[derive(Debug)]
pub struct Live {
    addresses: Vec<Address>,
    commands: Sender<Command>,
    waker: Arc<Waker>,
    events: EventQueue,
    thread: Option<JoinHandle<Report>>,
}

impl Live {
    /// Opens sockets, interfaces and files, and starts the network on a thread of its own. The thread gives up all
    /// capabilities.
    ///
    /// # Errors
    /// See [`LiveError`]; then nothing is left behind.
    pub fn start(scenario: &Scenario, setup: Setup) -> Result<Self, LiveError> {
        if scenario.server.at == ServerAt::Leaves {
            return Err(LiveError::Servers);
        }
        if let Some(delegate) = scenario.gateway.delegation {
            return Err(LiveError::Delegation(delegate));
        }
        if !setup.ways.programs().is_empty() {
            check_programs(scenario)?;
        }
        let plan = Plan::new(scenario)?;
        let (opened, waker) = Opened::open(scenario, &plan, &setup)?;
        let addresses = opened.addresses().to_vec();
        let (commands, receiver) = channel();
        let (teller, events) = event_queue();
        let scenario = scenario.clone();
        let run = move || {
            let gave_up = crate::privileges::give_up();
            let driver = Driver::new(scenario, &plan, setup, opened, teller, receiver);
            if let Err(error) = gave_up {
                driver.warn(format!("the network keeps the privileges of its user: {error}"));
            }
            driver.run()
        };
        let thread = std::thread::Builder::new().name("live network".to_owned()).spawn(run)?;
        Ok(Self { addresses, commands, waker, events, thread: Some(thread) })
    }

    /// Where programs find the network. A port 0 was replaced by the one that was free.
    pub fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// Changes a key of the scenario, as in `network.link_pdr=0.7`.
    ///
    /// # Errors
    /// Why not, in words.
    pub fn set(&self, change: &str) -> Result<(), String> {
        let (sender, receiver) = channel();
        self.ask(Command::Set(change.to_owned(), sender), &receiver)?
    }

    /// Switches the radio of a node on or off.
    ///
    /// # Errors
    /// Why not, in words.
    pub fn switch(&self, node: u16, on: bool) -> Result<(), String> {
        let (sender, receiver) = channel();
        self.ask(Command::Switch(node, on, sender), &receiver)?
    }

    /// The network as it is now. `None` if it has ended.
    pub fn snapshot(&self) -> Option<Snapshot> {
        let (sender, receiver) = channel();
        self.ask(Command::Snapshot(sender), &receiver).ok()
    }

    fn ask<T>(&self, command: Command, answer: &Receiver<T>) -> Result<T, String> {
        const ENDED: &str = "the network has ended";
        self.commands.send(command).map_err(|_| ENDED)?;
        let _ = self.waker.wake(); // it also looks for commands itself
        answer.recv_timeout(PATIENCE).map_err(|error| {
            let seconds = PATIENCE.as_secs();
            let slow = || format!("the network has not answered for {seconds} s; it may still do what was asked");
            if error == RecvTimeoutError::Timeout { slow() } else { ENDED.to_owned() }
        })
    }

    /// The next event. `None` if there is none within this time, or if the network has ended and all events are taken.
    pub fn next_event(&self, timeout: Duration) -> Option<Event> {
        self.events.next(timeout)
    }

    /// True if the network has ended. Events may be left.
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Stops the network. It ends with an event.
    pub fn stop(&self) {
        let _ = self.commands.send(Command::Stop); // it may have ended
        let _ = self.waker.wake();
    }

    /// Waits until the network has ended.
    ///
    /// # Errors
    /// It panicked.
    pub fn finish(mut self) -> Result<Report, LiveError> {
        let thread = self.thread.take().expect("only this function and `drop` take it");
        thread.join().map_err(|panic| LiveError::Panicked(words(&*panic)))
    }
}

/// Programs verify certificates themselves, by their own authorities, and ask no trust anchor for a key. They and kernels have
/// sockets of UDP. The messages of LESS are assumed: no program has them.
fn check_programs(scenario: &Scenario) -> Result<(), LiveError> {
    let (gateway, session) = (&scenario.gateway, &scenario.session);
    let carrier = format!("\"{}\"", session.carrier);
    let refused = [
        (gateway.pre_validation, "gateway.pre_validation", "true", "false"),
        (session.carrier != Carrier::Udp, "session.carrier", &carrier, "\"udp\""),
        (session.protocol == Protocol::Less, "session.protocol", "less", "another protocol"),
        (session.trust_anchor, "session.trust_anchor", "true", "false"),
    ];
    match refused.into_iter().find(|(is_refused, ..)| *is_refused) {
        Some((_, key, found, allowed)) => Err(LiveError::Programs { key, found: found.to_owned(), allowed }),
        None => Ok(()),
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // nobody asks how it ended
        }
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
}
