//! Settings that are allowed in a scenario, and rarely what its author wants.

use std::sync::Arc;

use slowhand_sessions::memory::Path;
use slowhand_sessions::{Operation, Processor, Resumption, Role, SessionConfig, Weightless, build_pair};

use crate::scenario::{Scenario, Session};

/// Warnings about a scenario, in words, each with the key that it is about.
pub fn warnings(scenario: &Scenario) -> Vec<String> {
    let found = [no_early_data(scenario), false_start(scenario), delegation(scenario), no_resumption(scenario)];
    found.into_iter().flatten().collect()
}

/// A client that may send data early, and has none.
fn no_early_data(scenario: &Scenario) -> Option<String> {
    (scenario.session.false_start && scenario.application.requests.get() == 0).then(|| {
        "session.false_start: it has no effect, since the client sends no data; set application.requests, with \
         session.protocol = \"coap+dtls1.2\""
            .to_owned()
    })
}

/// A server that cannot repeat its last flight when data have come.
fn false_start(scenario: &Scenario) -> Option<String> {
    let session = &scenario.session;
    let server = session.server_stack();
    (session.false_start && server.capabilities().tls.forgets_flight_on_data).then(|| {
        format!(
            "session.server_stack: {server} takes data as a sign that its last flight has arrived, and with \
             session.false_start data come before: if the flight is lost, it is never sent again; choose another library, or \
             session.false_start = false"
        )
    })
}

/// A client that does not resume what its delegate hands over.
fn delegation(scenario: &Scenario) -> Option<String> {
    scenario.gateway.delegation?;
    full_handshakes(&scenario.session, "what the delegate of gateway.delegation hands over has no use, and each")
}

/// A client that does not resume its own sessions.
fn no_resumption(scenario: &Scenario) -> Option<String> {
    if scenario.gateway.delegation.is_some() {
        return None;
    }
    full_handshakes(&scenario.session, "each")
}

/// `each`: the words before "handshake".
fn full_handshakes(session: &Session, each: &str) -> Option<String> {
    let kind = session.resumption?;
    let other = match kind {
        Resumption::Id => Resumption::Ticket,
        Resumption::Ticket => Resumption::Id,
    };
    let (client, server) = (session.stack, session.server_stack());
    (!resumes(session)).then(|| {
        format!(
            "session.resumption: with \"{kind}\", {client} does not resume a session of {server}: {each} handshake is a full \
             one; choose \"{other}\", or another library"
        )
    })
}

/// True if the second of two sessions with public keys resumes the first one: its client verifies no signature. It is tried.
fn resumes(session: &Session) -> bool {
    let configs = [(Role::Client, 1), (Role::Server, 2)]
        .map(|(role, seed)| SessionConfig { seed: [seed; 32], ..session.config(role) });
    let idle = || Arc::new(Weightless) as Arc<dyn Processor>;
    // If they cannot be made, the run says why.
    let Ok([mut client, mut server]) = build_pair(configs.each_ref(), [idle(), idle()]) else { return true };
    Path::default().run(&mut *client, &mut *server);
    let mut has_verified = false;
    client.drain_operations(&mut |performed| {
        has_verified |= matches!(performed.operation, Operation::EcdsaVerify(_) | Operation::RsaVerify(_));
    });
    !has_verified
}
