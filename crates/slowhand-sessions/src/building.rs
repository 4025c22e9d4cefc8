//! Builds sessions.

use std::sync::Arc;
use std::time::Duration;

use crate::anchor::Anchored;
use crate::check::{check_coap, check_help};
use crate::config::{ConfigError, Parts, SessionConfig};
use crate::device::Clock;
use crate::heap;
use crate::library::LibrarySession;
use crate::memory::{End, Path};
use crate::messages::{CoapEnd, CoapOverTls, DtlsInCoap, LessEnd, below_coap};
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
    /// The session that this one resumes was not established. Why, in words.
    #[error("resumption: the first session, which the later one resumes, was not established: {0}")]
    FirstSession(String),
}

/// The time before the world in which the first session of [`build_pair`] runs. *Assumed*: longer than any handshake
/// here takes, and shorter than the lifetime of a ticket (mbedTLS and rustls: a day).
const BEFORE: Duration = Duration::from_secs(3600);

/// The most datagrams of that session. *Assumed*: a limit for two ends that answer each other forever.
const DATAGRAM_LIMIT: usize = 10_000;

/// The seeds of that session, client first. *Assumed*: any two that differ.
const SEEDS: [[u8; 32]; 2] = [[0xFF; 32], [0xFE; 32]];

/// Builds one end of a session, on a device whose operations take the time that `processor` says.
///
/// # Errors
/// The error of [`SessionConfig::validate`], or the library's own error.
pub fn build(config: &SessionConfig, processor: Arc<dyn Processor>) -> Result<Box<dyn Session>, BuildError> {
    build_resuming(config, processor, Clock::before(Duration::ZERO), None)
}

/// Like [`build`], but the device has this clock, and the end resumes an earlier session, of which it has kept `previous`.
///
/// # Errors
/// The errors of [`build`].
pub fn build_resuming(
    config: &SessionConfig,
    processor: Arc<dyn Processor>,
    clock: Clock,
    previous: Option<&Resumable>,
) -> Result<Box<dyn Session>, BuildError> {
    check_help(config)?;
    match config.parts() {
        Parts::Messages(coap, protection) => {
            check_coap(config)?;
            let session = LibrarySession::new(config, processor, clock, || CoapEnd::new(config, coap, protection));
            Ok(Box::new(session.map_err(BuildError::Library)?))
        }
        Parts::Less(coap) => {
            check_coap(config)?;
            let session = LibrarySession::new(config, processor, clock, || Ok(LessEnd::new(config, coap)));
            let session = Box::new(session.map_err(BuildError::Library)?);
            Ok(Box::new(CoapOverTls::new(session, coap, config)))
        }
        Parts::Transport(transport, coap) => {
            let session = match &transport.trust_anchor {
                None => build_tls(&transport, processor, clock, previous)?,
                Some(of_anchor) => {
                    // A configuration that is refused is refused before there is a key.
                    config.validate()?;
                    let by = Arc::clone(&processor);
                    let make = move |config: &SessionConfig, clock| {
                        build_tls(config, Arc::clone(&by), clock, None).map_err(|error| match error {
                            BuildError::Library(failure) => failure,
                            error => Failure::library(0, error.to_string()),
                        })
                    };
                    let session = Anchored::new(&transport, of_anchor, processor, clock, Box::new(make));
                    Box::new(session.map_err(BuildError::Library)?)
                }
            };
            match coap {
                None => Ok(session),
                Some(coap) => Ok(Box::new(CoapOverTls::new(session, coap, config))),
            }
        }
    }
}

/// Builds a session of TLS or DTLS, whose flights may be in CoAP.
fn build_tls(
    config: &SessionConfig,
    processor: Arc<dyn Processor>,
    clock: Clock,
    previous: Option<&Resumable>,
) -> Result<Box<dyn Session>, BuildError> {
    let capabilities = config.stack.capabilities();
    let session = |config: &SessionConfig| {
        let checked = capabilities.check(config)?;
        stacks::session(&checked, processor, clock, previous).map_err(BuildError::Library)
    };
    match &config.in_coap {
        None => session(config),
        Some(coap) => {
            let dtls = session(&below_coap(config, capabilities))?;
            Ok(Box::new(DtlsInCoap::new(dtls, coap, config)))
        }
    }
}

/// Builds both ends of a session. The client is first in each array.
///
/// If the client resumes a session ([`Tls::resumption`](crate::Tls::resumption)), this function first runs a session
/// with the same configurations, in memory. It runs before the world begins, on devices that take no time. No result of
/// it is reported, but each end has what it keeps of that session. Its randomness is always the same: for the same
/// configurations, this function succeeds with all seeds or with none. The server's library decides if it accepts the
/// resumption. If not, the handshake is a full one.
///
/// # Errors
/// The errors of [`build`] for either end, or [`BuildError::FirstSession`].
pub fn build_pair(
    configs: [&SessionConfig; 2],
    processors: [Arc<dyn Processor>; 2],
) -> Result<[Box<dyn Session>; 2], BuildError> {
    let [client, server] = configs;
    let previous = match client.family.tls().and_then(|tls| tls.resumption) {
        Some(_) => heap::uncounted(|| first_session(configs))?,
        None => [None, None],
    };
    let [for_client, for_server] = processors;
    let build = |config, processor, previous: &Option<Resumable>| {
        build_resuming(config, processor, Clock::before(Duration::ZERO), previous.as_ref())
    };
    Ok([build(client, for_client, &previous[0])?, build(server, for_server, &previous[1])?])
}

fn first_session(configs: [&SessionConfig; 2]) -> Result<[Option<Resumable>; 2], BuildError> {
    let build = |side: usize| {
        let config = SessionConfig { seed: SEEDS[side], ..configs[side].clone() };
        build_resuming(&config, Arc::new(Weightless), Clock::before(BEFORE), None)
    };
    let [mut client, mut server] = [build(0)?, build(1)?];
    let path = Path { delay: Duration::ZERO, time_limit: BEFORE, datagram_limit: DATAGRAM_LIMIT, ..Path::default() };
    let transcript = path.run_until_quiet(&mut *client, &mut *server);
    let reason = match (transcript.end, transcript.client, transcript.server) {
        (End::Completed, ..) => {
            let kept = [client.resumable(), server.resumable()];
            match (client.status(), server.status()) {
                (Status::Failed(failure), _) => format!("client: {failure}"),
                (_, Status::Failed(failure)) => format!("server: {failure}"),
                _ => return Ok(kept),
            }
        }
        (_, Status::Failed(failure), _) => format!("client: {failure}"),
        (_, _, Status::Failed(failure)) => format!("server: {failure}"),
        (End::TimeLimitReached, ..) => {
            format!("it takes longer than {} s (first_timeout may be too long)", BEFORE.as_secs())
        }
        (End::DatagramLimitReached, ..) => format!("the two ends have sent more than {DATAGRAM_LIMIT} datagrams"),
        _ => "both ends wait for each other".to_owned(),
    };
    Err(BuildError::FirstSession(reason))
}
