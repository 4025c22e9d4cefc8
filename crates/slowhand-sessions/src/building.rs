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
    /// The library cannot do what the configuration asks for.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The library refused a configuration that should suit it.
    #[error("the library could not be set up: {0}")]
    Library(Failure),
}

/// Builds one end of a session on a device that computes as fast as `processor` says.
///
/// # Errors
/// What [`SessionConfig::validate`] finds, or the library's own error.
pub fn build(config: &SessionConfig, processor: Arc<dyn Processor>) -> Result<Box<dyn Session>, BuildError> {
    build_with(config, processor, None)
}

/// As [`build`], with what an end has kept of an earlier session.
fn build_with(
    config: &SessionConfig,
    processor: Arc<dyn Processor>,
    previous: Option<&Resumable>,
) -> Result<Box<dyn Session>, BuildError> {
    let checked = config.stack.capabilities().check(config)?;
    stacks::session(&checked, processor, previous).map_err(BuildError::Library)
}

/// Builds both ends of a session, client first, on devices that compute as fast as `processors` say.
///
/// If the client is to resume a session ([`Tls::resumption`](crate::Tls::resumption)), a first session of the same
/// configurations happens before: in memory, at the beginning of the world, on devices that take no time, with randomness
/// that follows from the seeds. Nothing of it is reported. Each end then has what it keeps of that session. Whether the
/// server accepts is its library's business; if it does not, the handshake is a full one.
///
/// # Errors
/// As [`build`], for either end; or the first session fails.
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
        // Any other randomness than that of the session to come.
        let config = SessionConfig { seed: config.seed.map(|octet| !octet), ..config.clone() };
        build_with(&config, Arc::new(Weightless), None)
    };
    let [mut client, mut server] = [build(configs[0])?, build(configs[1])?];
    client.start(Duration::ZERO);
    while hand_over(&mut *client, &mut *server) || hand_over(&mut *server, &mut *client) {}
    for end in [&client, &server] {
        match end.status() {
            Status::Established { .. } => {}
            Status::Failed(failure) => return Err(BuildError::Library(failure)),
            Status::Handshaking | Status::Closed => {
                let text = "the session that was to be resumed did not come about".to_owned();
                return Err(BuildError::Library(Failure::Library { code: 0, text }));
            }
        }
    }
    Ok([client.resumable(), server.resumable()])
}

/// Hands over what one end has to send; `false` if that is nothing.
fn hand_over(from: &mut dyn Session, to: &mut dyn Session) -> bool {
    let mut any = false;
    while let Some(transmit) = from.poll_transmit() {
        to.handle_input(Duration::ZERO, transmit.bytes);
        any = true;
    }
    any
}
