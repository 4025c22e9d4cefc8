//! The programs in virtual time: one thread of all of them runs at a time, and time goes on when all wait.

use crate::error::ExecError;
use crate::linux::clocks::{Clocks, Nanos, SECOND};
use crate::linux::filter;
use crate::linux::firmware::Link;
use crate::linux::kernel::Kernel;
use crate::linux::names::NameFile;
use crate::linux::notes::Notes;
use crate::linux::spawn::{self, Streams};
use crate::linux::streams;
use crate::linux::threads::{
    Call, Direction, FileTimer, MOST_THREADS, Process, Running, State, Thread, Threads, deliverable, stat,
};
use crate::linux::tracee::{self, Change, Pid};
use crate::linux::world::World;
use crate::setup::{Ending, Setup, Until};
use rand_xoshiro::Xoshiro256PlusPlus;
use slowhand_net::address::{Host, NodeId};
use slowhand_net::ip::{Ipv6Header, next_header};
use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

/// How long a run goes on when it has come to its end, for what is still on its way. *Assumed*: as in a live network.
const LINGER: Nanos = 2 * SECOND;

/// How often a thread that does not stop is looked at. *Assumed*.
const LOOK: Duration = Duration::from_millis(5);

/// How often in a row a thread must be asleep until it waits in the kernel. *Assumed*: on a busy machine a call may take
/// milliseconds that does not wait for others.
const ASLEEP: u32 = 8;

/// After this share of the bound of `Setup::cpu`, a thread that computes is stopped for a moment if its process has others: it may
/// wait for them. *Assumed*: what is no such wait takes less.
const COMPUTING_SHARE: f64 = 0.1;

/// How long the others may run then, in virtual time. *Assumed*.
const PAUSE: Nanos = 1_000_000;

/// Ticks of the processor's time in a second (Linux, `USER_HZ`).
const TICKS: f64 = 100.0;

/// A thing that never has happened: what was tried then is tried again.
const NEVER_TRIED: u64 = u64::MAX;

/// A program that runs.
pub(crate) struct Program {
    pub(crate) name: String,
    /// The place of the kernel of its host.
    pub(crate) kernel: usize,
    pub(crate) is_client: bool,
    pub(crate) start: Nanos,
    pub(crate) compute: Nanos,
    pub(crate) streams: Streams,
    /// What is written to its standard input, and when, in the order of time, the last one first.
    pub(crate) input: Vec<(Nanos, Vec<u8>)>,
    pub(crate) random: Xoshiro256PlusPlus,
    pub(crate) running: Running,
    pub(crate) argv: Vec<std::ffi::OsString>,
    pub(crate) environment: Vec<(std::ffi::OsString, std::ffi::OsString)>,
}

pub(crate) struct Tracer<'a> {
    pub(crate) clocks: Clocks,
    pub(crate) world: World<'a>,
    pub(crate) kernels: Vec<Kernel>,
    /// The interface that firmware at each host has made.
    pub(crate) links: Vec<Option<Link>>,
    pub(crate) programs: Vec<Program>,
    pub(crate) threads: Threads,
    pub(crate) processes: BTreeMap<Pid, Process>,
    /// Timers that are files, by the number of their file.
    pub(crate) file_timers: BTreeMap<u64, FileTimer>,
    pub(crate) notes: Notes,
    /// How often something has happened at each host: what waits there is tried again.
    pub(crate) activity: Vec<u64>,
    /// What had happened at each host when its packets were taken last.
    drained: Vec<u64>,
    /// The ports that the sockets of each host got.
    pub(crate) ports: Vec<u16>,
    /// The sockets of TCP.
    pub(crate) streams: streams::Streams,
    /// What had happened at each host when the octets of its streams were moved last.
    pub(crate) moved: Vec<u64>,
    /// How many calls were trapped.
    pub(crate) traps: u64,
    /// True if a signal may have come for a thread that waits.
    pub(crate) is_signalled: bool,
    /// True if threads may have died that had stopped.
    pub(crate) is_unsettled: bool,
    /// The thread that runs.
    running: Pid,
    /// New threads that stopped before their maker told of them.
    early: Vec<Pid>,
    /// What threads that waited in the kernel came to while another one ran.
    held: Vec<(Pid, Change)>,
    names: NameFile,
    setup: &'a Setup,
    began: Instant,
    client_nodes: Vec<NodeId>,
    /// When the run came to its end.
    over: Option<Nanos>,
}

impl<'a> Tracer<'a> {
    pub(crate) fn new(
        setup: &'a Setup,
        world: World<'a>,
        streams: streams::Streams,
        kernels: Vec<Kernel>,
        programs: Vec<Program>,
        names: NameFile,
    ) -> Self {
        let client_nodes = programs
            .iter()
            .filter(|program| program.is_client)
            .filter_map(|program| match kernels[program.kernel].host {
                Host::Node(node) => Some(node),
                Host::Internet => None,
            })
            .collect();
        Self {
            clocks: Clocks::new(setup.date_s),
            world,
            activity: vec![0; kernels.len()],
            drained: vec![0; kernels.len()],
            streams,
            moved: vec![0; kernels.len()],
            ports: vec![0; kernels.len()],
            links: kernels.iter().map(|_| None).collect(),
            kernels,
            programs,
            threads: Threads::default(),
            processes: BTreeMap::new(),
            file_timers: BTreeMap::new(),
            notes: Notes::default(),
            traps: 0,
            is_signalled: false,
            is_unsettled: false,
            running: 0,
            early: Vec::new(),
            held: Vec::new(),
            names,
            setup,
            began: Instant::now(),
            client_nodes,
            over: None,
        }
    }

    /// Runs the programs to the end of the run.
    pub(crate) fn run(&mut self) -> Result<Ending, ExecError> {
        loop {
            self.start_due()?;
            self.run_all()?;
            self.world.run_until(self.clocks.now); // before packets come into it, which are of this instant
            if self.drain() {
                continue;
            }
            self.world.run_until(self.clocks.now);
            if self.hand_over() || self.feed() {
                continue;
            }
            self.note_end();
            let programs = self.next_deadline();
            if programs.is_some_and(|next| self.forget_file_timers(Some(next))) {
                continue;
            }
            if let Some(ending) = self.go_on(programs)? {
                return Ok(ending);
            }
            self.fire();
        }
    }

    /// Lets time go on until a program has something to do: its deadline, or a packet that has arrived.
    fn go_on(&mut self, programs: Option<Nanos>) -> Result<Option<Ending>, ExecError> {
        loop {
            let next = earlier(programs, self.world.deadline());
            if let Some(over) = self.over
                && next.is_none_or(|next| next > over.saturating_add(LINGER))
            {
                return Ok(Some(if self.is_finished() { Ending::Finished } else { Ending::Established }));
            }
            let Some(next) = next else { return Ok(Some(Ending::Quiet)) };
            if next > self.setup.duration {
                self.clocks.now = self.setup.duration.max(self.clocks.now);
                return Ok(Some(Ending::Duration));
            }
            self.check_wall()?;
            self.clocks.now = next.max(self.clocks.now);
            if programs.is_some_and(|programs| programs <= next) {
                return Ok(None);
            }
            self.world.run_until(self.clocks.now);
            if self.world.has_arrivals() {
                return Ok(None);
            }
        }
    }

    /// Starts the programs whose time has come.
    fn start_due(&mut self) -> Result<(), ExecError> {
        for place in 0..self.programs.len() {
            let program = &self.programs[place];
            if program.running.started.is_some() || program.start > self.clocks.now {
                continue;
            }
            let refused = |error| ExecError::Kernel { what: "enter a network namespace", error };
            self.kernels[program.kernel].enter().map_err(refused)?;
            let first =
                spawn::start(&program.name, &program.argv, &program.environment, &program.streams, self.names.path())?;
            let running = &mut self.programs[place].running;
            (running.first, running.started) = (Some(first), Some(self.clocks.now));
            self.programs[place].streams.begin();
            tracee::resume(first, 0);
            while self.programs[place].running.main.is_none() && self.programs[place].running.first.is_some() {
                let change = tracee::change_of(first).map_err(refused)?;
                self.handle(first, change)?;
            }
        }
        Ok(())
    }

    /// Lets all threads run until each of them waits.
    fn run_all(&mut self) -> Result<(), ExecError> {
        loop {
            self.check_wall()?;
            let mut has_run = self.interrupt_all()?;
            for (tid, change) in std::mem::take(&mut self.held) {
                has_run = true;
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
                return Ok(());
            }
        }
    }

    /// Lets a thread run if it may. Returns true if that may have changed anything for others.
    fn turn(&mut self, tid: Pid) -> Result<bool, ExecError> {
        let Some(thread) = self.threads.get(tid) else { return Ok(false) };
        let kernel = self.programs[thread.program].kernel;
        match &thread.state {
            State::Runnable => {
                self.go(tid, |tid| tracee::resume(tid, 0))?;
                self.note_turn(tid, kernel);
                Ok(true)
            }
            State::Waiting(wait) if wait.call.what.may_change() && wait.tried != self.activity[kernel] => {
                let (before, traps) = (self.activity[kernel], self.traps);
                self.begin_again(tid);
                self.go(tid, |tid| tracee::resume(tid, 0))?;
                // A thread that only asked again, and waits again, has changed nothing.
                let has_only_asked = self.traps == traps + 1 && self.activity[kernel] == before;
                if let Some(thread) = self.threads.get_mut(tid)
                    && let State::Waiting(wait) = &mut thread.state
                    && has_only_asked
                {
                    wait.tried = before;
                    return Ok(false);
                }
                self.note_turn(tid, kernel);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn note_turn(&mut self, tid: Pid, kernel: usize) {
        self.activity[kernel] += 1;
        if let Some(thread) = self.threads.get_mut(tid)
            && let State::Waiting(wait) = &mut thread.state
        {
            wait.tried = self.activity[kernel];
        }
    }

    /// Lets a thread run until it waits, or is gone.
    fn go(&mut self, tid: Pid, resume: impl FnOnce(Pid)) -> Result<(), ExecError> {
        if let Some(thread) = self.threads.get_mut(tid) {
            thread.state = State::Running;
        }
        self.running = tid;
        resume(tid);
        self.follow()
    }

    /// Goes on with a thread that came out of the kernel.
    fn take_up(&mut self, tid: Pid, change: Change) -> Result<(), ExecError> {
        let Some(thread) = self.threads.get_mut(tid) else { return self.handle(tid, change) };
        let kernel = self.programs[thread.program].kernel;
        if let State::InKernel { .. } = thread.state {
            thread.state = State::Running;
            self.running = tid;
        }
        self.handle(tid, change)?;
        self.follow()?;
        self.note_turn(tid, kernel);
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
        loop {
            match tracee::next_change() {
                Ok(Some(found)) => return Ok(Some(found)),
                Ok(None) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => {
                    self.threads.remove(self.running); // no child is left
                    return Ok(None);
                }
            }
            if wait_for_child(LOOK) {
                continue;
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
                    let program = self.name_of(self.running);
                    let what = format!("waits in {}, outside of virtual time", filter::name(call));
                    self.notes.add(&program, &what, true);
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
        let program = self.programs[thread.program].name.clone();
        let what = "computes for long, or waits for another thread without a call: the others went on";
        self.notes.add(&program, what, true);
        true
    }

    fn set_state(&mut self, tid: Pid, state: State) {
        if let Some(thread) = self.threads.get_mut(tid) {
            thread.state = state;
        }
    }

    pub(crate) fn name_of(&self, tid: Pid) -> String {
        let program = self.threads.get(tid).map(|thread| thread.program);
        program.map_or_else(|| "a program".to_owned(), |program| self.programs[program].name.clone())
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
                wait_for_child(Duration::from_millis(1));
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
                matches!(thread.state, State::Runnable | State::Waiting(_))
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
                    wait_for_child(Duration::from_millis(1));
                }
                Err(_) => return Ok(()),
            }
        }
    }

    /// Interrupts the threads that wait and for which signals have come, before anything else makes them go on.
    fn interrupt_all(&mut self) -> Result<bool, ExecError> {
        let mut any = false;
        while std::mem::take(&mut self.is_signalled)
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

    /// Takes the packets that the kernels and firmware have sent. Returns true if a thread may go on: it waits for the room that they
    /// leave, or its router has answered.
    fn drain(&mut self) -> bool {
        let mut may_go_on = false;
        for (place, kernel) in self.kernels.iter_mut().enumerate() {
            if std::mem::replace(&mut self.drained[place], self.activity[place]) == self.activity[place] {
                continue; // nothing has happened there
            }
            let (host, mut any) = (kernel.host, false);
            while let Some(packet) = kernel.read() {
                self.world.send(host, packet);
                any = true;
            }
            if let Some(link) = &mut self.links[place] {
                let mut has_answered = false;
                while let Some(packet) = link.read(&mut has_answered) {
                    self.world.send(host, &packet);
                }
                if has_answered {
                    self.activity[place] += 1;
                    self.is_signalled = true; // it may have asked for a signal (`O_ASYNC`)
                    may_go_on = true;
                }
            }
            let waits = any
                && self.threads.iter().any(|thread| {
                    let is_here = self.programs[thread.program].kernel == place;
                    let is_out = |call: &Call| matches!(call, Call::Transfer { direction: Direction::Out, .. });
                    is_here && matches!(&thread.state, State::Waiting(wait) if is_out(&wait.call.what))
                });
            if waits {
                self.activity[place] += 1;
                may_go_on = true;
            }
        }
        let has_moved = self.drain_streams();
        may_go_on || has_moved
    }

    /// Hands over the packets that have arrived. Returns true if there were any.
    fn hand_over(&mut self) -> bool {
        let mut any = false;
        for (host, packet) in self.world.arrivals() {
            let Some(place) = self.kernels.iter().position(|kernel| kernel.host == host) else { continue };
            any = true;
            if let Some(link) = &mut self.links[place]
                && link.write(&packet)
            {
                self.is_signalled = true; // it may have asked for a signal (`O_ASYNC`)
            } else if is_stream(&packet) {
                let now = self.instant();
                self.streams.receive(&self.kernels, place, &packet, now);
                continue;
            } else if !self.kernels[place].write(&packet) {
                self.notes.add("the network", "a kernel did not take a packet", false);
            }
            self.activity[place] += 1;
        }
        self.streams.take_changes(&mut self.activity);
        any
    }

    /// Everything that is due.
    fn fire(&mut self) {
        let now = self.clocks.now;
        self.feed();
        self.fire_timers();
        let instant = self.instant();
        self.streams.fire(&self.kernels, instant);
        self.streams.take_changes(&mut self.activity);
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
                self.activity[program.kernel] += 1;
                any = true;
            }
        }
        any
    }

    /// When a program has something to do.
    fn next_deadline(&self) -> Option<Nanos> {
        let programs = self.programs.iter().flat_map(|program| {
            let start = program.running.started.is_none().then_some(program.start);
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

    /// True if all clients have ended.
    fn is_finished(&self) -> bool {
        let mut clients = self.programs.iter().filter(|program| program.is_client).peekable();
        clients.peek().is_some() && clients.all(|program| program.running.ended.is_some())
    }

    /// Notes when the run has come to its end.
    fn note_end(&mut self) {
        let is_over = || {
            (self.is_finished() && !self.streams.are_busy())
                || (self.setup.until == Until::Established && self.world.are_established(&self.client_nodes))
        };
        if self.over.is_none() && is_over() {
            self.over = Some(self.clocks.now);
        }
    }

    fn check_wall(&self) -> Result<(), ExecError> {
        if self.began.elapsed() <= self.setup.wall {
            return Ok(());
        }
        let mut busy: Vec<String> = self
            .threads
            .iter()
            .filter(|thread| !matches!(thread.state, State::Waiting(_) | State::Preempted(_)))
            .map(|thread| {
                let what = match thread.state {
                    State::InKernel { call } => format!("waits in {}", filter::name(call)),
                    State::InVfork => "waits for a child".to_owned(),
                    _ => "runs".to_owned(),
                };
                format!("{} {what}", self.programs[thread.program].name)
            })
            .collect();
        busy.dedup();
        Err(ExecError::Wall {
            seconds: self.setup.wall.as_secs_f64(),
            virtual_s: self.clocks.now as f64 / 1e9,
            busy: if busy.is_empty() { "all programs wait".to_owned() } else { busy.join(", ") },
        })
    }

    /// What waits at the hosts of a program is tried again.
    pub(crate) fn note_activity(&mut self, program: usize) {
        self.activity[self.programs[program].kernel] += 1;
    }

    /// A thread has come to be, which has stopped or is about to.
    pub(crate) fn adopt(&mut self, tid: Pid, program: usize, of: Option<Pid>) -> Result<bool, ExecError> {
        match self.early.iter().position(|early| *early == tid) {
            Some(place) => drop(self.early.swap_remove(place)),
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

    pub(crate) fn note_early(&mut self, tid: Pid) {
        self.early.push(tid);
    }

    /// The thread that runs has another number now.
    pub(crate) fn renumber_running(&mut self, tid: Pid) {
        self.running = tid;
    }

    /// Notes the packets that no kernel had room for.
    pub(crate) fn note_dropped(&mut self) {
        for (place, kernel) in self.kernels.iter().enumerate() {
            let count = kernel.dropped();
            let program = self.programs.iter().find(|program| program.kernel == place);
            if let Some(program) = program.filter(|_| count > 0) {
                let what =
                    format!("sent faster than its kernel has room for: {count} packets did not reach the network");
                self.notes.add(&program.name, &what, false);
            }
        }
    }

    /// Kills all programs, and waits for their end.
    pub(crate) fn kill_all(&mut self) {
        for first in self.programs.iter_mut().filter_map(|program| program.running.first.take()) {
            // SAFETY: the call takes two numbers; the process is a child that nobody has waited for.
            unsafe { libc::kill(first, libc::SIGKILL) };
        }
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(10) {
            match tracee::next_change() {
                Ok(Some((tid, Change::Stopped { .. }))) => tracee::resume(tid, libc::SIGKILL),
                Ok(Some(_)) => {}
                Ok(None) => {
                    wait_for_child(Duration::from_millis(1));
                }
                Err(_) => return, // no child is left
            }
        }
    }
}

fn earlier(one: Option<Nanos>, other: Option<Nanos>) -> Option<Nanos> {
    one.into_iter().chain(other).min()
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

/// Waits until a child may have changed. Returns false if none has.
fn wait_for_child(most: Duration) -> bool {
    let time = libc::timespec { tv_sec: most.as_secs() as i64, tv_nsec: most.subsec_nanos().into() };
    let mut set = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `set` is initialised by sigemptyset, and the kernel only reads it and `time`.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
        libc::sigtimedwait(set.as_ptr(), std::ptr::null_mut(), &raw const time) >= 0
    }
}

/// Blocks SIGCHLD while it lives, so that it can be waited for.
pub(crate) struct Blocked(libc::sigset_t);

impl Blocked {
    pub(crate) fn new() -> Self {
        let mut set = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        let mut old = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: both sets are initialised by these calls.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
            libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), old.as_mut_ptr());
            Self(old.assume_init())
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: it is a set of signals.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut()) };
    }
}
