//! The libraries of the laboratory, by their adapters in slowhand-sessions.

use std::sync::Arc;

use slowhand_sessions::{
    Credential, Dtls, Family, Resumable, Session, SessionConfig, Stack, Timers, Tls, Weightless, build_resuming,
};

use crate::setup::{Group, Setup, Version};

/// Makes one end of a session.
///
/// # Errors
/// Why the library, or its adapter, refuses this.
pub(crate) fn build(stack: Stack, setup: &Setup, previous: Option<&Resumable>) -> Result<Box<dyn Session>, String> {
    if setup.version == Version::Dtls13 {
        return Err(format!("{stack} has no DTLS 1.3"));
    }
    if setup.record_size_limit.is_some() || setup.heartbeat {
        return Err(format!("the adapter of {stack} has no such extension"));
    }
    if setup.group == Some(Group::X25519) {
        return Err(format!("the adapter of {stack} has no X25519"));
    }
    let suite = slowhand_sessions::Suite::from_iana(setup.suite.iana());
    let suite = suite.ok_or_else(|| format!("the adapter of {stack} has no {}", setup.suite))?;
    let (cookie, connection_id) = (setup.cookie, setup.connection_id);
    let version = Dtls { cookie, connection_id, ..Dtls::DEFAULT };
    let version = slowhand_sessions::Version::Dtls12(version);
    let tls = Tls {
        suite: Some(suite),
        resumption: setup.resumption,
        max_fragment_length: setup.max_fragment_length,
        ..Tls::new(version)
    };
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&setup.seed.to_le_bytes());
    let config = SessionConfig {
        timers: Timers { first: Some(setup.first_timeout), maximum: None, floor: None },
        mtu: setup.mtu,
        seed,
        ..SessionConfig::new(setup.role, stack, Family::Tls(tls), Credential::from(setup.credential))
    };
    build_resuming(&config, Arc::new(Weightless), setup.before, previous).map_err(|error| error.to_string())
}
