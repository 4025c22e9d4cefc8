//! What is allowed in a scenario, and rarely what its author wants.

use crate::scenario::Scenario;

/// Warnings about a scenario, in words, each with the key that it is about.
pub fn warnings(scenario: &Scenario) -> Vec<String> {
    false_start(scenario).into_iter().collect()
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
