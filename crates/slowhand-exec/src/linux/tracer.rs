//! The programs of one host in virtual time: one thread of all of them runs at a time, until all wait.

use crate::error::ExecError;
use crate::linux::clocks::{Clocks, Nanos};
use crate::linux::filter;
use crate::linux::firmware::Link;
use crate::linux::kernel::{Kernel, failed};
use crate::linux::notes::Notes;
use crate::linux::spawn::{self, Streams};
use crate::linux::streams::{self, Outgoing};
use crate::linux::threads::{
    Call, Direction, FileTimer, MOST_THREADS, Process, Running, State, Thread, Threads, deliverable, stat,
};
use crate::linux::tracee::{self, Change, Pid};
use crate::setup::{self, Setup};
use rand_xoshiro::Xoshiro256PlusPlus;
use slowhand_net::ip::{Ipv6Header, next_header};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// A thread waits in the kernel if so many looks in a row find it asleep. *Assumed*: on a busy machine a call that does not wait
/// for others may take milliseconds.
const ASLEEP: u32 = 8;

/// The pause between two looks at a thread that is about to stop. *Assumed*.
const MOMENT: Duration = Duration::from_millis(1);

/// After this share of the bound of `Setup::cpu`, a thread that computes is stopped for a moment if its process has others: it may
/// wait for them. *Assumed*: what is no such wait takes less.
const COMPUTING_SHARE: f64 = 0.1;

/// The time that the others may run then, in virtual time. *Assumed*.
const PAUSE: Nanos = 1_000_000;

/// Ticks of the processor's time in a second (Linux, `USER_HZ`).
const TICKS: f64 = 100.0;

/// A thing that never has happened: what was tried then is tried again.
const NEVER_TRIED: u64 = u64::MAX;

/// A program that runs.
pub(crate) struct Program<'a> {
    /// Its place among all programs.
    pub(crate) place: usize,
    pub(crate) told: &'a setup::Program,
    pub(crate) streams: Streams,
    /// The octets for its standard input, and their times, in the order of time, the last one first.
    pub(crate) input: Vec<(Nanos, Vec<u8>)>,
    pub(crate) random: Xoshiro256PlusPlus,
    pub(crate) running: Running,
    pub(crate) environment: Vec<(OsString, OsString)>,
}

/// Why a host comes to run.
pub(crate) struct Task {
    pub(crate) now: Nanos,
    /// True if time has gone on, so that something may be due.
    pub(crate) is_due: bool,
    /// The packets that have arrived.
    pub(crate) packets: Vec<Vec<u8>>,
    /// True if no other host runs meanwhile.
    pub(crate) is_alone: bool,
}

/// The reason for which a host has stopped.
pub(crate) enum Stop {
    /// It is about to do what other hosts can see: it is to go on alone.
    WantsTurn,
    /// All of its threads wait.
    Rests(Rest),
}

/// A host whose threads all wait.
#[derive(Default)]
pub(crate) struct Rest {
    /// The messages of its programs to the network.
    pub(crate) outgoing: Vec<Outgoing>,
    /// When it has something to do.
    pub(crate) deadline: Option<Nanos>,
    /// True if a thread of it waits in the kernel, or has come out of it.
    pub(crate) is_restless: bool,
    /// True if it has done what other hosts can see: it never runs beside them again.
    pub(crate) shares: bool,
    /// True if all clients have ended, and what they have sent by TCP is acknowledged.
    pub(crate) is_finished: bool,
}

pub(crate) struct Tracer<'a> {
    pub(crate) clocks: Clocks,
    pub(crate) kernel: Kernel,
    /// The interface that firmware has made.
    pub(crate) link: Option<Link>,
    pub(crate) programs: Vec<Program<'a>>,
    pub(crate) threads: Threads,
    pub(crate) processes: BTreeMap<Pid, Process>,
    /// Timers that are files, by the number of their file.
    pub(crate) file_timers: BTreeMap<u64, FileTimer>,
    pub(crate) notes: Notes,
    /// The number of events so far: when it grows, each call that waits is tried again.
    pub(crate) activity: u64,
    /// The value of `activity` when packets were taken last.
    drained: u64,
    /// The number of sockets that have got a port.
    pub(crate) ports: u16,
    /// The sockets of TCP.
    pub(crate) streams: streams::Streams,
    /// The value of `activity` when the octets of streams were moved last.
    pub(crate) moved: u64,
    /// The messages to the network.
    pub(crate) outgoing: Vec<Outgoing>,
    /// The number of calls that were trapped.
    pub(crate) traps: u64,
    /// True if a signal may have come for a thread that waits.
    pub(crate) is_signalled: bool,
    /// True if threads may have died that had stopped.
    pub(crate) is_unsettled: bool,
    /// True if no other host runs now.
    pub(crate) is_alone: bool,
    /// True if it has done what other hosts can see.
    pub(crate) shares: bool,
    /// True if a thread is about to do that for the first time.
    pub(crate) wants_turn: bool,
    /// The thread that runs.
    pub(crate) running: Pid,
    /// Changes of threads that this host does not know: of new ones, before their maker told of them, or of other hosts.
    pub(crate) strays: Vec<(Pid, Change)>,
    /// Changes of threads that waited in the kernel, while another one ran.
    held: Vec<(Pid, Change)>,
    names: &'a Path,
    setup: &'a Setup,
    began: Instant,
}

impl<'a> Tracer<'a> {
    pub(crate) fn new(
        setup: &'a Setup,
        streams: streams::Streams,
        kernel: Kernel,
        programs: Vec<Program<'a>>,
        names: &'a Path,
    ) -> Self {
        Self {
            clocks: Clocks::new(setup.date_s),
            activity: 0,
            drained: 0,
            streams,
            moved: 0,
            outgoing: Vec::new(),
            ports: 0,
            link: None,
            kernel,
            programs,
            threads: Threads::default(),
            processes: BTreeMap::new(),
            file_timers: BTreeMap::new(),
            notes: Notes::default(),
            traps: 0,
            is_signalled: false,
            is_unsettled: false,
            is_alone: false,
            shares: false,
            wants_turn: false,
            running: 0,
            strays: Vec::new(),
            held: Vec::new(),
            names,
            setup,
            began: Instant::now(),
        }
    }

    /// Runs the programs until all of them wait.
    pub(crate) fn go_on(&mut self, task: Task) -> Result<Stop, ExecError> {
        (self.clocks.now, self.is_alone) = (task.now, task.is_alone);
        for packet in task.packets {
            self.take_packet(&packet);
        }
        self.take_changes();
        if task.is_due {
            self.fire();
        }
        loop {
            self.start_due()?;
            self.run_all()?;
            if self.wants_turn {
                return Ok(Stop::WantsTurn);
            }
            if !self.drain() && !self.feed() && !self.forget_due_file_timers() {
                return Ok(Stop::Rests(self.rest()));
            }
        }
    }

    fn rest(&mut self) -> Rest {
        let in_kernel = |thread: &Thread| matches!(thread.state, State::InKernel { .. } | State::InVfork);
        let mut clients = self.programs.iter().filter(|program| program.told.is_client);
        Rest {
            outgoing: std::mem::take(&mut self.outgoing),
            deadline: self.next_deadline(),
            is_restless: !self.held.is_empty() || self.threads.iter().any(in_kernel),
            shares: self.shares,
            is_finished: clients.all(|program| program.running.ended.is_some()) && !self.streams.are_busy(),
        }
    }

    /// Starts the programs whose time has come.
    fn start_due(&mut self) -> Result<(), ExecError> {
        for place in 0..self.programs.len() {
            let program = &self.programs[place];
            if program.running.started.is_some() || program.told.start > self.clocks.now {
                continue;
            }
            let refused = failed("enter a network namespace");
            self.kernel.namespace.enter().map_err(&refused)?;
            let first = spawn::start(program.told, &program.environment, &program.streams, self.names)?;
            let running = &mut self.programs[place].running;
            (running.first, running.started) = (Some(first), Some(self.clocks.now));
            self.programs[place].streams.begin();
            tracee::resume(first, 0);
            while self.programs[place].running.main.is_none() && self.programs[place].running.first.is_some() {
                let change = tracee::change_of(first).map_err(&refused)?;
                self.handle(first, change)?;
            }
        }
        Ok(())
    }

    /// Lets all threads run until each of them waits.
    fn run_all(&mut self) -> Result<(), ExecError> {
        if self.is_alone {
            self.take_turn()?;
        }
        while !self.wants_turn {
            self.check_wall()?;
            let mut has_run = self.interrupt_all()?;
            while !self.wants_turn && !self.held.is_empty() {
                has_run = true;
                let (tid, change) = self.held.remove(0);
                self.take_up(tid, change)?;
            }
            for tid in self.threads.those(|_| true) {
                has_run |= self.interrupt_all()?;
                has_run |= self.turn(tid)?;
                if self.is_unsettled {
                    self.settle()?;
                }
            }
            if !has_run && !self.is_signalled && self.held.is_empty() && !self.look_into_kernel()? {
                break;
            }
        }
        Ok(())
    }

    /// Goes on with the thread that waited until no other host runs.
    fn take_turn(&mut self) -> Result<(), ExecError> {
        self.wants_turn = false;
        for tid in self.threads.those(|thread| matches!(thread.state, State::BeforeTurn)) {
            self.set_state(tid, State::Running);
            self.running = tid;
            self.enter(tid)?;
            self.follow()?;
            self.note_turn(tid);
        }
        Ok(())
    }

    /// Lets a thread run if it may. Returns true if that may have changed anything for others.
    fn turn(&mut self, tid: Pid) -> Result<bool, ExecError> {
        let Some(thread) = self.threads.get(tid).filter(|_| !self.wants_turn) else { return Ok(false) };
        match &thread.state {
            State::Runnable => {
                self.go(tid)?;
                self.note_turn(tid);
                Ok(true)
            }
            State::Waiting(wait) if wait.call.what.may_change() && wait.tried != self.activity => {
                let (before, traps) = (self.activity, self.traps);
                self.begin_again(tid);
                self.go(tid)?;
                // A thread that only asked again, and waits again, has changed nothing.
                let has_only_asked = self.traps == traps + 1 && self.activity == before;
                if let Some(thread) = self.threads.get_mut(tid)
                    && let State::Waiting(wait) = &mut thread.state
                    && has_only_asked
                {
                    wait.tried = before;
                    return Ok(false);
                }
                self.note_turn(tid);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn note_turn(&mut self, tid: Pid) {
        self.activity += 1;
        if let Some(thread) = self.threads.get_mut(tid)
            && let State::Waiting(wait) = &mut thread.state
        {
            wait.tried = self.activity;
        }
    }

    /// Lets a thread run until it waits, or is gone.
    fn go(&mut self, tid: Pid) -> Result<(), ExecError> {
        self.set_state(tid, State::Running);
        self.running = tid;
        tracee::resume(tid, 0);
        self.follow()
    }

    /// Goes on with a thread that came out of the kernel.
    fn take_up(&mut self, tid: Pid, change: Change) -> Result<(), ExecError> {
        let Some(thread) = self.threads.get_mut(tid) else { return self.handle(tid, change) };
        if let State::InKernel { .. } = thread.state {
            thread.state = State::Running;
            self.running = tid;
        }
        self.handle(tid, change)?;
        self.follow()?;
        self.note_turn(tid);
        Ok(())
    }

    fn follow(&mut self) -> Result<(), ExecError> {
        while let Some(thread) = self.threads.get(self.running)
            && let State::Running = thread.state
        {
            let Some((tid, change)) = self.next_change()? else { return Ok(()) };
            let is_in_kernel =
                |tid| self.threads.get(tid).is_some_and(|thread| matches!(thread.state, State::InKernel { .. }));
            if tid != self.running && is_in_kernel(tid) {
                self.held.push((tid, change));
            } else {
                self.handle(tid, change)?;
            }
        }
        Ok(())
    }

    /// The next change of any thread. `None` if the thread that runs now waits in the kernel.
    fn next_change(&mut self) -> Result<Option<(Pid, Change)>, ExecError> {
        let mut asleep = 0;
        let only = (self.threads.len() == 1).then_some(self.running);
        loop {
            match tracee::wait_for_change(only) {
                Ok(found) => return Ok(Some(found)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => {
                    self.threads.remove(self.running); // no child is left
                    return Ok(None);
                }
            }
            self.check_wall()?;
            let (state, now) = stat(self.running);
            asleep = if state == b'S' { asleep + 1 } else { 0 };
            if state == b'Z' {
                // The first thread of a process has ended before the others: it is told of when they have ended.
                self.set_state(self.running, State::InKernel { call: -1 });
                return Ok(None);
            }
            if asleep >= ASLEEP {
                let call = call_of(self.running);
                if call >= 0 {
                    let what = format!("waits in {}, outside of virtual time", filter::name(call));
                    self.note(self.running, &what, true);
                }
                self.set_state(self.running, State::InKernel { call });
                return Ok(None);
            }
            self.check_computing(now)?;
        }
    }

    /// Looks at how long the thread that runs computes, where `ticks` is the time of the processor that it has used.
    fn check_computing(&mut self, ticks: u64) -> Result<(), ExecError> {
        let (tid, cpu) = (self.running, self.setup.cpu.as_secs_f64());
        let Some(thread) = self.threads.get_mut(tid) else { return Ok(()) };
        let used = ticks.saturating_sub(*thread.computes_since.get_or_insert(ticks)) as f64 / TICKS;
        if used > cpu {
            let what = format!(
                "a thread computes for more than {cpu} s without a system call that is trapped, at {:.3} s of the network; a \
                 loop without end, or more time: --cpu",
                self.clocks.now as f64 / 1e9
            );
            return Err(ExecError::Stuck { program: self.name_of(tid), what });
        }
        let (process, is_stopped) = (thread.process, thread.is_stopped);
        let has_others = || self.threads.iter().any(|other| other.process == process && other.tid != tid);
        if used > cpu * COMPUTING_SHARE && !is_stopped && has_others() {
            // SAFETY: the call takes numbers; the thread is one of a child.
            unsafe { libc::syscall(libc::SYS_tgkill, process, tid, libc::SIGSTOP) };
            if let Some(thread) = self.threads.get_mut(tid) {
                thread.is_stopped = true;
            }
        }
        Ok(())
    }

    /// A thread that computes has been stopped. Returns false if nobody wanted that.
    pub(crate) fn preempt(&mut self, tid: Pid) -> bool {
        let until = self.clocks.after(PAUSE);
        let Some(thread) = self.threads.get_mut(tid).filter(|thread| thread.is_stopped) else { return false };
        thread.is_stopped = false;
        thread.state = State::Preempted(until);
        self.note(tid, "computes for long, or waits for another thread without a call: the others went on", true);
        true
    }

    pub(crate) fn set_state(&mut self, tid: Pid, state: State) {
        if let Some(thread) = self.threads.get_mut(tid) {
            thread.state = state;
        }
    }

    pub(crate) fn name_of(&self, tid: Pid) -> String {
        let program = self.threads.get(tid).map(|thread| thread.program);
        program.map_or_else(|| "a program".to_owned(), |program| self.programs[program].told.name.clone())
    }

    /// Notes what the program of a thread has done; `differs`: another run may differ because of it.
    pub(crate) fn note(&mut self, tid: Pid, what: &str, differs: bool) {
        let program = self.name_of(tid);
        self.notes.add(&program, what, differs);
    }

    /// Looks whether threads that wait in the kernel came out of it. Returns true if something has happened.
    fn look_into_kernel(&mut self) -> Result<bool, ExecError> {
        let inside = || |thread: &Thread| matches!(thread.state, State::InKernel { .. } | State::InVfork);
        if self.threads.iter().all(|thread| !inside()(thread)) {
            return Ok(false);
        }
        let mut asleep = 0;
        while asleep < ASLEEP {
            match tracee::next_change() {
                Ok(Some((tid, change))) => {
                    self.take_up(tid, change)?;
                    return Ok(true);
                }
                Ok(None) => {}
                Err(_) => return Ok(false),
            }
            let are_asleep = self.threads.iter().filter(|thread| inside()(thread)).all(|thread| {
                let (state, _) = stat(thread.tid);
                [b'S', b'D', b'Z'].contains(&state)
            });
            asleep = if are_asleep { asleep + 1 } else { 0 };
            if asleep < ASLEEP {
                std::thread::sleep(MOMENT);
                self.check_wall()?;
            }
        }
        Ok(false)
    }

    /// Waits for the end of threads that have been killed while they had stopped.
    fn settle(&mut self) -> Result<(), ExecError> {
        self.is_unsettled = false;
        let began = Instant::now();
        loop {
            let dying = self.threads.iter().any(|thread| {
                matches!(thread.state, State::Runnable | State::Waiting(_) | State::BeforeTurn)
                    && !matches!(stat(thread.tid).0, b't' | b'T')
            });
            if !dying || began.elapsed() > Duration::from_secs(5) {
                return Ok(());
            }
            match tracee::next_change() {
                Ok(Some((tid, change @ Change::Ended(_)))) => self.handle(tid, change)?,
                Ok(Some((tid, change))) => match self.threads.get(tid).map(|thread| &thread.state) {
                    Some(State::InKernel { .. }) => self.held.push((tid, change)),
                    _ => self.handle(tid, change)?,
                },
                Ok(None) => {
                    std::thread::sleep(MOMENT);
                }
                Err(_) => return Ok(()),
            }
        }
    }

    /// Interrupts the threads that wait and for which signals have come, before anything else makes them go on.
    fn interrupt_all(&mut self) -> Result<bool, ExecError> {
        let mut any = false;
        while !self.wants_turn
            && std::mem::take(&mut self.is_signalled)
            && let Some(tid) = self.interrupt_one()
        {
            any = true;
            self.is_signalled = true; // one at a time, because it may take a signal that others wait for too
            self.turn(tid)?;
        }
        Ok(any)
    }

    /// Interrupts a thread for which a signal has come.
    fn interrupt_one(&mut self) -> Option<Pid> {
        for tid in self.threads.those(|thread| matches!(thread.state, State::Waiting(_))) {
            let Some(thread) = self.threads.get_mut(tid) else { continue };
            let State::Waiting(wait) = &mut thread.state else { continue };
            let [now, masked] = deliverable(tid, wait.call.mask);
            if now != 0 && wait.call.mask.is_none_or(|mask| now & !mask != 0) {
                self.interrupt(tid);
                return Some(tid);
            }
            if masked != 0 {
                wait.tried = NEVER_TRIED;
            }
        }
        None
    }

    /// Takes the packets that the kernel and firmware have sent, and moves the octets of streams. Returns true if a thread may go on:
    /// it waits for the room that they leave, its router has answered, or a stream has come on.
    fn drain(&mut self) -> bool {
        let may_go_on = std::mem::replace(&mut self.drained, self.activity) != self.activity && self.drain_packets();
        self.drain_streams() || may_go_on
    }

    fn drain_packets(&mut self) -> bool {
        let before = self.outgoing.len();
        while let Some(packet) = self.kernel.read() {
            self.outgoing.push(Outgoing::Packet(packet.to_vec()));
        }
        let any = self.outgoing.len() > before;
        let mut has_answered = false;
        if let Some(link) = &mut self.link {
            while let Some(packet) = link.read(&mut has_answered) {
                self.outgoing.push(Outgoing::Packet(packet));
            }
        }
        self.is_signalled |= has_answered; // it may have asked for a signal (`O_ASYNC`)
        let is_out = |call: &Call| matches!(call, Call::Transfer { direction: Direction::Out, .. });
        let waits = |thread: &Thread| matches!(&thread.state, State::Waiting(wait) if is_out(&wait.call.what));
        let may_go_on = has_answered || (any && self.threads.iter().any(waits));
        self.activity += u64::from(may_go_on);
        may_go_on
    }

    /// A packet has arrived.
    fn take_packet(&mut self, packet: &[u8]) {
        if let Some(link) = &mut self.link
            && link.write(packet)
        {
            self.is_signalled = true; // it may have asked for a signal (`O_ASYNC`)
        } else if is_stream(packet) {
            let now = self.instant();
            return self.streams.receive(packet, now);
        } else if !self.kernel.write(packet) {
            self.notes.add("the network", "a kernel did not take a packet", false);
        }
        self.activity += 1;
    }

    /// Everything that is due.
    fn fire(&mut self) {
        let now = self.clocks.now;
        self.feed();
        self.fire_timers();
        let instant = self.instant();
        self.streams.fire(instant);
        self.take_changes();
        let due = self.threads.those(|thread| deadline_of(thread).is_some_and(|deadline| deadline <= now));
        for tid in due {
            let Some(thread) = self.threads.get_mut(tid) else { continue };
            let State::Waiting(wait) = &mut thread.state else {
                thread.state = State::Runnable;
                continue;
            };
            match wait.call.what {
                Call::Sleep => self.wake(tid, 0),
                Call::Futex { .. } => self.wake(tid, -i64::from(libc::ETIMEDOUT)),
                Call::Spin | Call::Compute => {
                    self.begin_again(tid);
                    self.set_state(tid, State::Runnable);
                }
                // It is tried for the last time: something may have come at this very instant.
                _ => wait.tried = NEVER_TRIED,
            }
        }
    }

    /// Writes what is due to the standard inputs, as far as they have room. Returns true if it wrote anything.
    fn feed(&mut self) -> bool {
        use std::io::Write;
        let mut any = false;
        for program in &mut self.programs {
            while let Some((at, mut octets)) = program.input.pop_if(|(at, _)| *at <= self.clocks.now) {
                let feed = program.streams.feed.as_mut().filter(|_| !octets.is_empty());
                match feed.map(|feed| feed.write(&octets)) {
                    Some(Ok(length)) if length < octets.len() => {
                        octets.drain(..length);
                        program.input.push((at, octets));
                    }
                    Some(Ok(_)) => {}
                    Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                        program.input.push((at, octets));
                        break;
                    }
                    Some(Err(_)) | None => program.streams.feed = None, // the program has closed it; or here is its end
                }
                self.activity += 1;
                any = true;
            }
        }
        any
    }

    /// When a program has something to do.
    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        let programs = self.programs.iter().flat_map(|program| {
            let start = program.running.started.is_none().then_some(program.told.start);
            let input = program.input.last().map(|(at, _)| *at);
            [start, input.filter(|at| *at > self.clocks.now && program.running.ended.is_none())]
        });
        let threads = self.threads.iter().map(deadline_of);
        let timers = self.file_timers.values().map(|timer| timer.alarm.at);
        let alarms = self
            .processes
            .values()
            .flat_map(|process| process.timers.values().map(|timer| timer.alarm.at).chain([process.alarm.at]));
        programs.chain(threads).chain(timers).chain(alarms).chain([self.streams.deadline()]).flatten().min()
    }

    fn check_wall(&self) -> Result<(), ExecError> {
        let is_busy = |thread: &&Thread| !matches!(thread.state, State::Waiting(_) | State::Preempted(_));
        let told = |thread: &Thread| {
            let what = match thread.state {
                State::InKernel { call } => format!("waits in {}", filter::name(call)),
                State::InVfork => "waits for a child".to_owned(),
                _ => "runs".to_owned(),
            };
            format!("{} {what}", self.programs[thread.program].told.name)
        };
        let busy = || self.threads.iter().filter(is_busy).map(told).collect();
        check_wall(self.setup, self.began, self.clocks.now, busy)
    }

    /// A thread has come to be, which has stopped or is about to.
    pub(crate) fn adopt(&mut self, tid: Pid, program: usize, of: Option<Pid>) -> Result<bool, ExecError> {
        match self.strays.iter().position(|(stray, _)| *stray == tid) {
            Some(place) => drop(self.strays.swap_remove(place)),
            None => match tracee::change_of(tid) {
                Ok(Change::Stopped { .. }) => {}
                _ => return Ok(false), // it was killed
            },
        }
        let process = crate::linux::threads::status_number(tid, "Tgid", 10).map_or(tid, |number| number as Pid);
        if of != Some(process) {
            self.processes.insert(process, Process::default());
        }
        self.threads.add(tid, process, program);
        if self.threads.len() > MOST_THREADS {
            return Err(ExecError::Threads { program: self.name_of(tid), most: MOST_THREADS });
        }
        Ok(true)
    }

    /// Notes the packets that the kernel had no room for.
    pub(crate) fn note_dropped(&mut self) {
        let count = self.kernel.dropped();
        if let Some(program) = self.programs.first().filter(|_| count > 0) {
            let what = format!("sent faster than its kernel has room for: {count} packets did not reach the network");
            self.notes.add(&program.told.name, &what, false);
        }
    }

    /// True if a thread is one of this host.
    pub(crate) fn knows(&self, tid: Pid) -> bool {
        self.threads.get(tid).is_some() || self.programs.iter().any(|program| program.running.first == Some(tid))
    }

    /// A thread of this host has changed while another host ran.
    pub(crate) fn hold(&mut self, tid: Pid, change: Change) {
        let mut programs = self.programs.iter_mut();
        match programs.find(|program| program.running.first == Some(tid)) {
            Some(program) => program.running.first = None, // it has ended: its number may be another process's soon
            None => self.held.push((tid, change)),
        }
    }

    /// Kills all programs. Their end is still to be waited for.
    pub(crate) fn kill_all(&mut self) {
        for first in self.programs.iter_mut().filter_map(|program| program.running.first.take()) {
            // SAFETY: the call takes two numbers; the process is a child that nobody has waited for.
            unsafe { libc::kill(first, libc::SIGKILL) };
        }
    }
}

/// Refuses to go on, at this time of the network, if a run takes too long. `busy`: which programs do not wait, and why.
pub(crate) fn check_wall(
    setup: &Setup,
    began: Instant,
    now: Nanos,
    busy: impl FnOnce() -> Vec<String>,
) -> Result<(), ExecError> {
    if began.elapsed() <= setup.wall {
        return Ok(());
    }
    let mut busy = busy();
    busy.dedup();
    Err(ExecError::Wall {
        seconds: setup.wall.as_secs_f64(),
        virtual_s: now as f64 / 1e9,
        busy: if busy.is_empty() { "all programs wait".to_owned() } else { busy.join(", ") },
    })
}

/// True for a packet of TCP: no kernel gets it.
fn is_stream(packet: &[u8]) -> bool {
    Ipv6Header::parse_packet(packet).is_ok_and(|(header, _)| header.next_header == next_header::TCP)
}

/// Until when a thread waits.
fn deadline_of(thread: &Thread) -> Option<Nanos> {
    match &thread.state {
        State::Waiting(wait) => wait.call.deadline,
        State::Preempted(until) => Some(*until),
        _ => None,
    }
}

/// The number of the call that a thread is in (proc(5)).
fn call_of(tid: Pid) -> i64 {
    let text = std::fs::read_to_string(format!("/proc/{tid}/syscall")).unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(-1)
}
