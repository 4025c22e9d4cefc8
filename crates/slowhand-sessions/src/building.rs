//! Builds sessions.

use std::sync::Arc;
use std::time::Duration;

use crate::config::{ConfigError, Family, SessionConfig};
use crate::operation::{Processor, Weightless};
use crate::session::{Failure, Resumable, Session, Status};
use crate::stacks;

/// Why a session could not be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The library does not support the configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The library refused a configuration that it should support.
    #[error("the library could not be set up: {0}")]
    Library(Failure),
}

/// Builds one end of a session, on a device whose operations take the time that `processor` says.
///
/// # Errors
/// The error of [`SessionConfig::validate`], or the library's own error.
pub fn build(config: &SessionConfig, processor: Arc<dyn Processor>) -> Result<Box<dyn Session>, BuildError> {
    build_with(config, processor, None)
}

/// Like [`build`], but the end resumes an earlier session.
fn build_with(
    config: &SessionConfig,
    processor: Arc<dyn Processor>,
    previous: Option<&Resumable>,
) -> Result<Box<dyn Session>, BuildError> {
    let checked = config.stack.capabilities().check(config)?;
    stacks::session(&checked, processor, previous).map_err(BuildError::Library)
}

/// Builds both ends of a session. The client is first in each array.
///
/// If the client resumes a session ([`Tls::resumption`](crate::Tls::resumption)), this function first runs a session with the
/// same configurations. It runs in memory, at the beginning of the world, on devices that take no time, and its randomness
/// follows from the seeds. No result of it is reported, but each end has what it keeps of that session. The server's library
/// decides if it accepts the resumption. If not, the handshake is a full one.
///
/// # Errors
/// The errors of [`build`] for either end, or the failure of the first session.
pub fn build_pair(
    configs: [&SessionConfig; 2],
    processors: [Arc<dyn Processor>; 2],
) -> Result<[Box<dyn Session>; 2], BuildError> {
    let [client, server] = configs;
    let Family::Tls(tls) = &client.family;
    let previous = if tls.resumption.is_some() { first_session(configs)? } else { [None, None] };
    let [for_client, for_server] = processors;
    Ok([build_with(client, for_client, previous[0].as_ref())?, build_with(server, for_server, previous[1].as_ref())?])
}

fn first_session(configs: [&SessionConfig; 2]) -> Result<[Option<Resumable>; 2], BuildError> {
    let build = |config: &SessionConfig| {
        // The randomness must differ from that of the second session.
        let config = SessionConfig { seed: config.seed.map(|octet| !octet), ..config.clone() };
        build_with(&config, Arc::new(Weightless), None)
    };
    let [mut client, mut server] = [build(configs[0])?, build(configs[1])?];
    client.start(Duration::ZERO);
    while deliver(&mut *client, &mut *server) || deliver(&mut *server, &mut *client) {}
    for end in [&client, &server] {
        match end.status() {
            Status::Established { .. } => {}
            Status::Failed(failure) => return Err(BuildError::Library(failure)),
            Status::Handshaking | Status::Closed => {
                let text = "the first session, which the second one resumes, was not established".to_owned();
                return Err(BuildError::Library(Failure::library(0, text)));
            }
        }
    }
    Ok([client.resumable(), server.resumable()])
}

/// Delivers all that one end sends. Returns true if there was something.
fn deliver(from: &mut dyn Session, to: &mut dyn Session) -> bool {
    let mut any = false;
    while let Some(transmit) = from.poll_transmit() {
        to.handle_input(Duration::ZERO, transmit.bytes);
        any = true;
    }
    any
}
