//! The hosts side by side: each thread of a team has the programs of some of them.
//!
//! ptrace(2) and waitpid(2) belong to a thread, so a host stays with the one that has started its programs. Which one that is
//! changes nothing that programs can see: a host runs by itself, and what it sends is told when it rests.

use crate::error::ExecError;
use crate::linux::ticks::Ticks;
use crate::linux::tracee::{self, Change, Pid};
use crate::linux::tracer::{Stop, Task, Tracer};
use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// The time that the programs may take to end when they are killed. *Assumed*.
const PATIENCE: Duration = Duration::from_secs(10);

/// The pause between two looks at whether they have ended. *Assumed*.
const MOMENT: Duration = Duration::from_millis(1);

/// The place of a host, and what it has come to.
type Done = (usize, Result<Stop, ExecError>);

/// All hosts of a world.
pub(crate) struct Team<'scope, 'a> {
    /// The hosts of the calling thread.
    own: Group<'a>,
    others: Vec<Member<'scope, 'a>>,
    done: Receiver<Done>,
    _ticks: Ticks,
}

/// Another thread.
struct Member<'scope, 'a> {
    tasks: Sender<(usize, Task)>,
    thread: ScopedJoinHandle<'scope, Vec<(usize, Tracer<'a>)>>,
}

/// The hosts of one thread.
struct Group<'a> {
    /// With their places, in this order.
    hosts: Vec<(usize, Tracer<'a>)>,
    /// Changes of new threads, which came before their makers told of them.
    strays: Vec<(Pid, Change)>,
}

impl<'scope, 'a: 'scope> Team<'scope, 'a> {
    /// Of the calling thread and others, so many in all.
    ///
    /// # Errors
    /// The kernel refuses a timer.
    pub(crate) fn new<'env>(
        scope: &'scope Scope<'scope, 'env>,
        tracers: Vec<Tracer<'a>>,
        threads: usize,
    ) -> io::Result<Self> {
        let count = threads.clamp(1, tracers.len().max(1));
        let empty = || Group { hosts: Vec::new(), strays: Vec::new() };
        let (mut own, mut groups) = (empty(), Vec::from_iter((1..count).map(|_| empty())));
        for (place, tracer) in tracers.into_iter().enumerate() {
            let group = member_of(place, count).checked_sub(1).map_or(&mut own, |other| &mut groups[other]);
            group.hosts.push((place, tracer));
        }
        let (teller, done) = mpsc::channel();
        let member = |group: Group<'a>| {
            let (tasks, list) = mpsc::channel();
            let teller = teller.clone();
            Member { tasks, thread: scope.spawn(move || group.serve(&list, &teller)) }
        };
        Ok(Self { own, others: groups.into_iter().map(member).collect(), done, _ticks: Ticks::new()? })
    }

    /// Lets hosts run side by side, each with its task. Returns what they have come to, in the order of their places.
    ///
    /// # Errors
    /// That of the first host that has one. All others have come to rest.
    pub(crate) fn run(&mut self, tasks: Vec<(usize, Task)>) -> Result<Vec<(usize, Stop)>, ExecError> {
        let (members, mut count) = (self.others.len() + 1, 0);
        let mut own = Vec::new();
        for (place, task) in tasks {
            match member_of(place, members).checked_sub(1) {
                None => own.push((place, task)),
                Some(other) => {
                    let is_told = self.others[other].tasks.send((place, task)).is_ok();
                    count += usize::from(is_told); // else its thread has had a fault, which `end` finds
                }
            }
        }
        let mut done: Vec<Done> = own.into_iter().map(|(place, task)| (place, self.own.go_on(place, task))).collect();
        done.extend(self.done.iter().take(count));
        done.sort_by_key(|(place, _)| *place);
        done.into_iter().map(|(place, stop)| stop.map(|stop| (place, stop))).collect()
    }

    /// Kills all programs. Returns the hosts, in the order of their places.
    pub(crate) fn end(mut self) -> Vec<Tracer<'a>> {
        let threads: Vec<_> = self.others.into_iter().map(|member| member.thread).collect(); // they are told no more
        self.own.kill_all();
        let mut hosts = self.own.hosts;
        for thread in threads {
            hosts.extend(thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        hosts.sort_by_key(|(place, _)| *place);
        hosts.into_iter().map(|(_, tracer)| tracer).collect()
    }
}

/// Which of so many members has a host: multiples of the golden ratio spread evenly (Knuth, The Art of Computer Programming, volume 3,
/// section 6.4). So neighbours go to different members, and so do the hosts of a pattern in their order, such as all servers.
fn member_of(place: usize, members: usize) -> usize {
    const RATIO: u64 = 0x9e37_79b9_7f4a_7c15; // of 2^64
    let spread = (place as u64).wrapping_mul(RATIO) >> 32;
    ((spread * members as u64) >> 32) as usize
}

impl<'a> Group<'a> {
    /// Does what it is told, until nobody tells it any more.
    fn serve(mut self, tasks: &Receiver<(usize, Task)>, done: &Sender<Done>) -> Vec<(usize, Tracer<'a>)> {
        let ticks = Ticks::new();
        for (place, task) in tasks {
            let refused = |error: &io::Error| Err(ExecError::Fault(format!("a timer: {error}")));
            let stop = ticks.as_ref().map_or_else(refused, |_| self.go_on(place, task));
            let _ = done.send((place, stop)); // nobody listens: the world has ended
        }
        self.kill_all();
        self.hosts
    }

    /// Lets a host run until its threads wait. No program may end more than its own world, whatever it does: a panic is an error.
    fn go_on(&mut self, place: usize, task: Task) -> Result<Stop, ExecError> {
        catch_unwind(AssertUnwindSafe(|| self.let_run(place, task))).unwrap_or_else(|panic| Err(fault(&*panic)))
    }

    fn let_run(&mut self, place: usize, task: Task) -> Result<Stop, ExecError> {
        let number = self.hosts.binary_search_by_key(&place, |(place, _)| *place).expect("it is one of this group");
        let tracer = &mut self.hosts[number].1;
        tracer.strays = std::mem::take(&mut self.strays);
        let stop = tracer.go_on(task);
        let strays = std::mem::take(&mut tracer.strays);
        for (tid, change) in strays {
            match self.hosts.iter_mut().map(|(_, tracer)| tracer).find(|tracer| tracer.knows(tid)) {
                Some(owner) => owner.hold(tid, change),
                None if matches!(change, Change::Ended(_)) => {} // of a thread that is forgotten
                None => self.strays.push((tid, change)),
            }
        }
        stop
    }

    /// Kills all programs, and waits for their end.
    fn kill_all(&mut self) {
        self.hosts.iter_mut().for_each(|(_, tracer)| tracer.kill_all());
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            match tracee::next_change() {
                Ok(Some((tid, Change::Stopped { .. }))) => tracee::resume(tid, libc::SIGKILL),
                Ok(Some(_)) => {}
                Ok(None) => std::thread::sleep(MOMENT),
                Err(_) => return, // no child is left
            }
        }
    }
}

/// A panic, as an error.
pub(crate) fn fault(panic: &(dyn Any + Send)) -> ExecError {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    ExecError::Fault(text.unwrap_or("unknown").to_owned())
}

#[cfg(test)]
mod tests {
    use super::member_of;

    #[test]
    fn each_pattern_of_hosts_is_shared_out() {
        for members in 1..9 {
            for step in [1, 2, 3, 10] {
                let mut counts = vec![0; members];
                (0..300).for_each(|number| counts[member_of(number * step, members)] += 1);
                let fair = 300 / members;
                assert!(counts.iter().all(|count| fair / 2 <= *count && *count <= fair * 2), "{step}: {counts:?}");
            }
        }
    }
}
