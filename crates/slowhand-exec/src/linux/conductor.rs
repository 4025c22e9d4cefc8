//! The world of programs: hosts and network by turns, and virtual time, which goes on when all wait.

use crate::error::ExecError;
use crate::linux::clocks::{Nanos, SECOND};
use crate::linux::team::Team;
use crate::linux::tracer::{Rest, Stop, Task, Tracer, check_wall};
use crate::linux::world::World;
use crate::setup::{Ending, Setup, Until};
use slowhand_net::address::{Host, NodeId};
use std::collections::BTreeMap;
use std::time::Instant;

/// The time that a run goes on after its end, for packets that are still on their way. *Assumed*: as in a live network.
const LINGER: Nanos = 2 * SECOND;

/// A world that runs.
pub(crate) struct Conductor<'w, 'a, 'scope> {
    team: Team<'scope, 'a>,
    world: &'w mut World<'a>,
    setup: &'a Setup,
    pub(crate) now: Nanos,
    hosts: Vec<Seat>,
    /// The nodes of the clients.
    clients: Vec<NodeId>,
    began: Instant,
    /// When the run came to its end.
    over: Option<Nanos>,
}

/// A host, and what it has come to.
struct Seat {
    host: Host,
    rest: Rest,
}

impl<'w, 'a: 'scope, 'scope> Conductor<'w, 'a, 'scope> {
    pub(crate) fn new(team: Team<'scope, 'a>, world: &'w mut World<'a>, setup: &'a Setup, hosts: Vec<Host>) -> Self {
        let clients = setup.programs.iter().filter(|program| program.is_client);
        let clients = clients.filter_map(|program| match program.host {
            Host::Node(node) => Some(node),
            Host::Internet => None,
        });
        // At the beginning each host looks what it has to do.
        let seat = |host: Host| Seat { host, rest: Rest { deadline: Some(0), ..Rest::default() } };
        Self {
            clients: clients.collect(),
            team,
            world,
            setup,
            now: 0,
            hosts: hosts.into_iter().map(seat).collect(),
            began: Instant::now(),
            over: None,
        }
    }

    /// Runs the world to its end.
    pub(crate) fn run(&mut self) -> Result<Ending, ExecError> {
        loop {
            if let Some(ending) = self.let_time_pass()? {
                return Ok(ending);
            }
            let is_due = |seat: &Seat| seat.rest.deadline.is_some_and(|deadline| deadline <= self.now);
            let due =
                (0..self.hosts.len()).filter(|place| is_due(&self.hosts[*place])).map(|place| (place, Vec::new()));
            let mut tasks: BTreeMap<usize, Vec<Vec<u8>>> = due.collect();
            let mut has_time_passed = true;
            while !tasks.is_empty() || has_time_passed {
                self.play(tasks, std::mem::take(&mut has_time_passed))?;
                tasks = self.arrivals();
            }
            self.note_end();
        }
    }

    /// Kills all programs. Returns their hosts.
    pub(crate) fn end(self) -> Vec<Tracer<'a>> {
        self.team.end()
    }

    /// Lets time go on until a program has something to do: its deadline, or a packet that has arrived.
    fn let_time_pass(&mut self) -> Result<Option<Ending>, ExecError> {
        let programs = self.hosts.iter().filter_map(|seat| seat.rest.deadline).min();
        loop {
            let next = programs.into_iter().chain(self.world.deadline()).min();
            if let Some(over) = self.over
                && next.is_none_or(|next| next > over.saturating_add(LINGER))
            {
                return Ok(Some(if self.is_finished() { Ending::Finished } else { Ending::Established }));
            }
            let Some(next) = next else { return Ok(Some(Ending::Quiet)) };
            if next > self.setup.duration {
                self.now = self.setup.duration.max(self.now);
                return Ok(Some(Ending::Duration));
            }
            check_wall(self.setup, self.began, self.now, Vec::new)?;
            self.now = next.max(self.now);
            if programs.is_some_and(|programs| programs <= next) {
                return Ok(None);
            }
            self.world.run_until(self.now);
            if self.world.has_arrivals() {
                return Ok(None);
            }
        }
    }

    /// Lets hosts run until they rest, those with packets or with something that is due. First side by side those that only read what
    /// others can see, then one by one those that change it. Then the network is told what they have sent, host by host.
    fn play(&mut self, mut tasks: BTreeMap<usize, Vec<Vec<u8>>>, is_due: bool) -> Result<(), ExecError> {
        let now = self.now;
        for (place, _) in self.hosts.iter().enumerate().filter(|(_, seat)| seat.rest.is_restless) {
            tasks.entry(place).or_default();
        }
        let places: Vec<usize> = tasks.keys().copied().collect();
        let task = |(place, packets)| (place, Task { now, is_due, packets, is_alone: false });
        let (mut alone, beside): (Vec<_>, Vec<_>) =
            tasks.into_iter().map(task).partition(|(place, _)| self.hosts[*place].rest.shares);
        for (place, stop) in self.team.run(beside)? {
            match stop {
                Stop::Rests(rest) => self.hosts[place].rest = rest,
                Stop::WantsTurn => {
                    alone.push((place, Task { now, is_due: false, packets: Vec::new(), is_alone: false }))
                }
            }
        }
        alone.sort_by_key(|(place, _)| *place);
        for (place, task) in alone {
            for (place, stop) in self.team.run(vec![(place, Task { is_alone: true, ..task })])? {
                if let Stop::Rests(rest) = stop {
                    self.hosts[place].rest = rest;
                }
            }
        }
        self.world.run_until(now); // before packets come into it, which are of this instant
        for place in places {
            let Seat { host, rest } = &mut self.hosts[place];
            for told in std::mem::take(&mut rest.outgoing) {
                self.world.tell(*host, told);
            }
        }
        Ok(())
    }

    /// The packets that have arrived at each host.
    fn arrivals(&mut self) -> BTreeMap<usize, Vec<Vec<u8>>> {
        self.world.run_until(self.now);
        let mut tasks: BTreeMap<usize, Vec<Vec<u8>>> = BTreeMap::new();
        for (host, packet) in self.world.arrivals() {
            if let Some(place) = self.hosts.iter().position(|seat| seat.host == host) {
                tasks.entry(place).or_default().push(packet);
            }
        }
        tasks
    }

    /// True if all clients have ended, and what they have sent by TCP is acknowledged.
    fn is_finished(&self) -> bool {
        self.setup.programs.iter().any(|program| program.is_client)
            && self.hosts.iter().all(|seat| seat.rest.is_finished)
    }

    /// Notes when the run has come to its end.
    fn note_end(&mut self) {
        let is_over = || {
            self.is_finished() || (self.setup.until == Until::Established && self.world.are_established(&self.clients))
        };
        if self.over.is_none() && is_over() {
            self.over = Some(self.now);
        }
    }
}
