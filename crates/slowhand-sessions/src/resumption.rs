//! Sessions that resume one of before.

use std::sync::Arc;
use std::time::Duration;

use rustls::{ClientConfig, ServerConfig};

use crate::config::SessionConfig;
use crate::operation::{Processor, Weightless};
use crate::session::{Failure, Session, Status};
use crate::{BuildError, build_with};

/// What an end keeps of a session to resume it later, in its library's own form.
#[derive(Clone, Debug)]
pub struct Resumable(Kept);

#[derive(Clone, Debug)]
enum Kept {
    Mbedtls(Vec<u8>),
    RustlsClient(Arc<ClientConfig>),
    RustlsServer(Arc<ServerConfig>),
}

impl Resumable {
    pub(crate) fn mbedtls(octets: Vec<u8>) -> Self {
        Self(Kept::Mbedtls(octets))
    }

    pub(crate) fn rustls_client(config: Arc<ClientConfig>) -> Self {
        Self(Kept::RustlsClient(config))
    }

    pub(crate) fn rustls_server(config: Arc<ServerConfig>) -> Self {
        Self(Kept::RustlsServer(config))
    }

    pub(crate) fn as_mbedtls(&self) -> Option<&[u8]> {
        if let Kept::Mbedtls(octets) = &self.0 { Some(octets) } else { None }
    }

    pub(crate) fn as_rustls_client(&self) -> Option<&Arc<ClientConfig>> {
        if let Kept::RustlsClient(config) = &self.0 { Some(config) } else { None }
    }

    pub(crate) fn as_rustls_server(&self) -> Option<&Arc<ServerConfig>> {
        if let Kept::RustlsServer(config) = &self.0 { Some(config) } else { None }
    }
}

/// Builds both ends of a session, client first, on devices that compute as fast as `processors` say.
///
/// Where the client is to resume a session ([`SessionConfig::resumption`]), a first session of the same configurations
/// happens before: in memory, at the beginning of the world, on devices that take no time, with randomness that follows
/// from the seeds. Nothing of it is reported. Each end then has what it keeps of that session. Whether the server accepts
/// is its library's business; if it does not, the handshake is a full one.
///
/// # Errors
/// As [`build`](crate::build), for either end; or the first session fails.
pub fn build_pair(
    configs: [&SessionConfig; 2],
    processors: [Arc<dyn Processor>; 2],
) -> Result<[Box<dyn Session>; 2], BuildError> {
    let [client, server] = configs;
    let previous = if client.resumption.is_some() { first_session(configs)? } else { [None, None] };
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
            Status::Handshaking => {
                let text = "the session that was to be resumed did not come about".to_owned();
                return Err(BuildError::Library(Failure::Library { code: 0, text }));
            }
        }
    }
    Ok([client.resumable(), server.resumable()])
}

/// Hands over what one end has to send; `false` when that is nothing.
fn hand_over(from: &mut dyn Session, to: &mut dyn Session) -> bool {
    let mut any = false;
    while let Some(transmit) = from.poll_transmit() {
        to.handle_input(Duration::ZERO, transmit.bytes);
        any = true;
    }
    any
}
