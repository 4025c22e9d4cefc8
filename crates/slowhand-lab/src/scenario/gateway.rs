//! `[gateway]`: what the border router does beyond forwarding, and who opens sessions in the name of nodes.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use slowhand_net::clock::Instant;
use slowhand_net::network::gateway::validation::Judge;
use slowhand_net::network::gateway::{GatewayConfig, suppression};
use slowhand_net::transport::{pep, tcp};
use slowhand_sessions::{Protocol, Role, Validator};

use super::keys::table;
use super::{Scenario, ServerAt};
use crate::input::{Document, InputError, Integer, PositiveSeconds};

table! {
    /// The services of the border router beyond forwarding, for sessions between the mesh and the Internet.
    pub struct Gateway {
        /// True if the border router is a TCP proxy (RFC 3135; Claeys et al., Sensors 2021, section 5). It acknowledges
        /// each segment at once, in the name of the other end. It sends lost segments into the mesh again, after a timeout
        /// that follows from the schedule. No effect on DTLS. Default: false.
        pub tcp_proxy: bool,
        /// The proxy's initial congestion window towards the mesh, in segments. Default: 2. Two segments of 844 octets
        /// (Claeys et al. 2021, table 2) are 20 frames, which is the queue of OpenWSN. Two segments of 1,220 octets are 28
        /// frames.
        pub tcp_initial_window: Integer<1, 10> { Integer::constant(pep::ProxyConfig::default().mesh.initial_window.into()) },
        /// True if the border router holds back a DTLS 1.2 flight that the Internet side sends again, while the first copy
        /// or its answer is still in the mesh. No effect on TLS. Default: false.
        pub suppress_spurious_flights: bool,
        /// The time that the device may take to compute its answer. The border router holds back a flight for at most this
        /// time plus the time in which the schedule carries the flight and its answer. Default: 9 (the timeout that
        /// RFC 7925 section 11 recommends for slow devices).
        pub answer_time_s: PositiveSeconds { PositiveSeconds::of(suppression::SuppressionConfig::default().answer_time) },
        /// Who opens sessions in the name of the clients (Hummen et al. 2014): the `border-router`, or another host on the `internet`,
        /// as far from the server as the border router is (assumed). A client asks its delegate by a message of CoAP that OSCORE protects
        /// (`session.coap`, with the key `session.psk`). The delegate opens the session with a full handshake, computed as fast as
        /// `server.device`, and hands it over. The client resumes it with the server, as `session.resumption` says. Then the delegate
        /// knows the master secret, and the client's private key. With DTLS 1.2 and certificates or raw public keys. Default: none,
        /// each client opens its own session.
        pub delegation: Option<Delegate>,
        /// True if the border router validates the certificates of servers (Hummen et al. 2013): it forwards a chain only if it is good,
        /// which takes it no time (assumed: it is a computer). So clients verify no signatures of certificates, and must trust
        /// the border router to know servers. With DTLS 1.2, and with mbedTLS or lean-dtls at the client. Default: false.
        pub pre_validation: bool,
    }
}

/// Who opens sessions in the name of clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Delegate {
    /// The border router.
    BorderRouter,
    /// A host on the Internet.
    Internet,
}

impl Delegate {
    /// The name of the value, as a file has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BorderRouter => "\"border-router\"",
            Self::Internet => "\"internet\"",
        }
    }
}

impl Gateway {
    /// Checks that the keys go together, and that there is something to do.
    pub(super) fn check(&self, scenario: &Scenario, document: &Document) -> Result<(), InputError> {
        let Self { tcp_proxy, suppress_spurious_flights, pre_validation, delegation, .. } = *self;
        let truth = |key, asked: bool| (key, "true", "false", asked);
        let asked = [
            truth("tcp_proxy", tcp_proxy),
            truth("suppress_spurious_flights", suppress_spurious_flights),
            truth("pre_validation", pre_validation),
            ("delegation", delegation.map_or("", Delegate::name), "no gateway.delegation", delegation.is_some()),
        ];
        let crosses = scenario.server.at == ServerAt::Internet;
        if let Some((key, found, allowed, _)) = asked.into_iter().find(|(.., asked)| *asked && !crosses) {
            let allowed = format!("{allowed} where the server is in the mesh: nothing crosses the border");
            return Err(document.blame(&format!("gateway.{key}"), found, allowed));
        }
        match delegation {
            Some(delegate) => check_delegation(delegate, scenario, document)?,
            None if pre_validation => check_pre_validation(scenario, document)?,
            None => {}
        }
        Ok(())
    }

    /// The configuration of the border router, without its judge.
    pub fn config(&self) -> GatewayConfig {
        let proxy = || {
            let config = pep::ProxyConfig::default();
            pep::ProxyConfig {
                mesh: tcp::TcpConfig { initial_window: self.tcp_initial_window.get() as u8, ..config.mesh },
                ..config
            }
        };
        let suppression = || suppression::SuppressionConfig { answer_time: self.answer_time_s.duration() };
        GatewayConfig {
            tcp_proxy: self.tcp_proxy.then(proxy),
            suppression: self.suppress_spurious_flights.then(suppression),
            judge: None,
        }
    }
}

/// Checks that a delegate can open the sessions of a scenario, and that it saves something.
fn check_delegation(delegate: Delegate, scenario: &Scenario, document: &Document) -> Result<(), InputError> {
    let (session, key) = (&scenario.session, "gateway.delegation");
    let refuse = |found: String, allowed: &str| {
        Err(document.blame(
            key,
            format!("{} with {found}", delegate.name()),
            format!("{allowed}; or no gateway.delegation"),
        ))
    };
    if session.protocol.transport() != Some(Protocol::Dtls12) || session.protocol.is_stream() {
        return refuse(session.protocol.to_string(), "session.protocol = \"dtls1.2\" or \"coap+dtls1.2\"");
    }
    let credential = session.credential_kind(session.stack);
    if !credential.is_asymmetric() {
        let allowed = "certificates or raw public keys, whose handshake is worth being done by another";
        return refuse(format!("session.credential = \"{credential}\""), allowed);
    }
    if session.resumption.is_none() {
        let allowed = "session.resumption = \"id\" or \"ticket\": a client resumes what its delegate has opened";
        return refuse("no session.resumption".to_owned(), allowed);
    }
    let others = [
        ("server.slots", document.has("server.slots")),
        ("client.joining", scenario.client.joining),
        ("application.pattern", document.has("application.pattern")),
        ("programs", document.has("programs")),
        ("gateway.pre_validation", scenario.gateway.pre_validation),
    ];
    match others.into_iter().find(|(_, is_there)| *is_there) {
        Some((other, _)) => refuse(other.to_owned(), &format!("no {other}: the two cannot be combined")),
        None => Ok(()),
    }
}

/// Checks that the border router sees the certificates of a scenario, and can validate them.
fn check_pre_validation(scenario: &Scenario, document: &Document) -> Result<(), InputError> {
    let key = "gateway.pre_validation";
    let others = [
        ("session.resumption: a session that is resumed has no certificates", scenario.session.resumption.is_some()),
        ("client.joining: the border router sees messages of joiner routers", scenario.client.joining),
        ("programs: they verify certificates themselves", document.has("programs")),
    ];
    if let Some((other, _)) = others.into_iter().find(|(_, is_there)| *is_there) {
        return Err(document.blame(key, "true", format!("false with {other}")));
    }
    let protocol = scenario.session.protocol;
    if protocol.transport() != Some(Protocol::Dtls12) || protocol.is_stream() {
        let allowed =
            "false, or session.protocol = \"dtls1.2\" or \"coap+dtls1.2\", where certificates are not encrypted";
        return Err(document.blame(key, format!("true with {protocol}"), allowed));
    }
    let client = scenario.session_config(Role::Client);
    let Err(error) = Validator::new(&client) else { return Ok(()) };
    let (found, allowed) = match error {
        slowhand_sessions::BuildError::Config(error) => (error.found, error.allowed),
        other => ("true".to_owned(), format!("false: {other}")),
    };
    Err(document.blame(key, found, allowed))
}

/// The judge of a border router that validates before its clients do.
#[derive(Debug)]
struct Before(Validator);

impl Judge for Before {
    fn is_good(&self, now: Instant, chain: &[&[u8]]) -> bool {
        self.0.is_good(std::time::Duration::from_micros(now.as_micros()), chain)
    }
}

impl Scenario {
    /// Who judges the certificates of servers. `None`: their clients.
    pub(super) fn judge(&self) -> Option<Arc<dyn Judge>> {
        // The check of the scenario says why there is none.
        let validator = self.gateway.pre_validation.then(|| Validator::new(&self.session_config(Role::Client)));
        Some(Arc::new(Before(validator?.ok()?)))
    }
}
