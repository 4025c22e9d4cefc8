//! The heap that a session takes.

use std::sync::Arc;

use crate::building::{BuildError, build_pair};
use crate::config::{Arithmetic, SessionConfig};
use crate::heap;
use crate::memory::{End, Path};
use crate::operation::{Processor, Weightless};
use crate::stacks;

/// The most octets that each end of a session has on the heap during its handshake, client first.
///
/// Runs the handshake in memory, on a path without faults, and counts what the two libraries allocate. They compute with their
/// own arithmetic. What a library makes once and keeps for all sessions, such as tables, is not counted: an earlier handshake
/// makes it. Static variables and the stack are not counted either. The numbers are those of this computer: on a processor of
/// 32 bits, pointers take half of that. The same configurations give the same numbers, on any thread.
///
/// An end is `None` if its library is written in Rust and [`CountingAllocator`](crate::CountingAllocator) is not the allocator
/// of the program. Both are `None` if the handshake does not complete.
///
/// # Errors
/// The errors of [`build_pair`].
pub fn session_heap(configs: [&SessionConfig; 2]) -> Result<[Option<usize>; 2], BuildError> {
    let configs = configs.map(|config| SessionConfig { arithmetic: Arithmetic::Library, ..config.clone() });
    handshake(&configs)?;
    let (is_complete, most) = heap::counted(|| handshake(&configs));
    let is_complete = is_complete?;
    let is_in_c = |config: &SessionConfig| config.transport().is_some() && stacks::is_in_c(config.stack);
    let is_counted = |config: &SessionConfig| is_in_c(config) || heap::is_installed();
    Ok([0, 1].map(|end| (is_complete && is_counted(&configs[end])).then_some(most[end])))
}

/// Runs a handshake. True if it completes.
fn handshake(configs: &[SessionConfig; 2]) -> Result<bool, BuildError> {
    let processors = [0, 1].map(|_| Arc::new(Weightless) as Arc<dyn Processor>);
    let [mut client, mut server] = build_pair(configs.each_ref(), processors)?;
    Ok(Path::default().run(&mut *client, &mut *server).end == End::Completed)
}
