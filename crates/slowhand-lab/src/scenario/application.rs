//! `[application]`: what runs above the sessions, and what it does when a handshake fails.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::keys::table;
use super::{Scenario, Session};
use crate::exchange::Exchange;
use crate::input::{Document, InputError, Integer, PositiveSeconds, Probability};
use crate::requests::{Keeping, Requests, Sizes, When};
use crate::retry::RetryPolicy;
use slowhand_net::clock::Duration;
use slowhand_sessions::{Delivery, Protocol, REQUEST_OVERHEAD, RESPONSE_OVERHEAD};

table! {
    /// The application above the sessions.
    ///
    /// `retry`, `requests`, `request_bytes` and `response_bytes` count in every run. The other keys say what a client does over a
    /// long time, for `slowhand battery`. Messages are those of CoAP: a request that is not answered is sent again after 2 to 3 s,
    /// then after twice as long, four times at most (RFC 7252 section 4.8; `session.coap` where the protocol has CoAP); over TCP it
    /// is not sent again, and fails after 93 s (section 4.8.2). A client that is still busy with a request when the next one is due
    /// leaves that one out. After a request that failed, the next one opens a new session (assumed).
    pub struct Application {
        /// The client's action after a handshake that failed. `never`: it gives up at once. `fixed`: it tries again after
        /// equal waits. `exponential`: after waits that double. Each attempt may take `session.give_up_s`. A live network
        /// does not retry. Default: `never`.
        pub retry: Retry,
        /// The number of requests that the client of a run sends after its handshake, each when the one before is answered;
        /// the columns `data_...` of the result are about them. The protocol has CoAP (`session.protocol`), or it is QUIC or
        /// a version of TLS: what DTLS alone carries is not sent again after a loss. Default: 0, a run opens its sessions and
        /// stops.
        pub requests: Integer<0, 1_000> { Integer::constant(0) },
        /// The client of a run observes (RFC 7641): it asks once, with FETCH, and the other `requests` less 1 answers are notifications, which
        /// the server sends by itself. The protocol has CoAP. An answer that is lost for good, or that a later one replaces before it
        /// is sent (section 4.5.2), never comes: then `data_outcome` is `gave_up` after `session.give_up_s`. Default: none, the client
        /// asks for each answer.
        pub observe: Option<Observe>,
        /// When the client sends requests in `slowhand battery`. `periodic`: every `period_s`, from a random phase on. `poisson`:
        /// after times drawn from
        /// the exponential distribution with the mean `period_s`. `once`: it fetches `bytes` once, for example a firmware image, in
        /// pieces of `piece_bytes`, one after the other (RFC 7959). Default: none, it sends no requests.
        pub pattern: Option<RequestPattern>,
        /// The time between two requests, or its mean. Needed with `periodic` and `poisson`, and only there.
        pub period_s: Option<PositiveSeconds>,
        /// Octets of a request, above the session: the header of CoAP, its options, the payload. In a run over TCP or TLS a message
        /// with the same payload has up to two octets less (RFC 8323 section 3.2). Default: 40 (assumed).
        pub request_bytes: Integer<4, 1_024> { Integer::constant(40) },
        /// Octets of a response; with `once` those beside the piece. Default: 12 (assumed).
        pub response_bytes: Integer<4, 1_024> { Integer::constant(12) },
        /// The octets to fetch. Needed with `once`, and only there.
        pub bytes: Option<Integer<1, 100_000_000>>,
        /// Octets of a piece. Default: 64 (assumed: a size of RFC 7959 section 2.2 that leaves few fragments).
        pub piece_bytes: Integer<16, 1_024> { Integer::constant(64) },
        /// The fate of a session after a request. `kept`: the next request uses it. `resumed`: it is closed, and the next
        /// request resumes it (`session.resumption` says how). `anew`: it is closed, and the next request opens a new one
        /// with a full handshake. The first handshake is always a full one. Default: `kept`.
        pub session: SessionUse,
        /// A NAT on the way forgets the session after so long without a datagram. RFC 4787 REQ-5 asks for at least 120, and
        /// recommends 300. With a connection ID (`session.connection_id`), with OSCORE, and with CoAP alone over UDP a kept session goes
        /// on all the same; else the next request needs a new handshake, which resumes the session if `session.resumption` is set.
        /// The client knows this time (assumed). With `kept` only. Default: none, it never forgets.
        pub idle_timeout_s: Option<PositiveSeconds>,
        /// The client sends an empty message (RFC 7252 section 4.3) after so long without a datagram, and the server answers it.
        /// With `kept` only, and where the protocol has no CoAP (`session.protocol`). Default: none, it sends none.
        pub keep_alive_s: Option<PositiveSeconds>,
        /// A session that is so old when a request is due is closed, and replaced by a new one, which resumes it if
        /// `session.resumption` is set. With `kept` only. Default: none, the session is kept forever.
        pub rekey_after_s: Option<PositiveSeconds>,
    }
}

/// The answers of a server to a client that observes.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Observe {
    /// The time between two answers of the server, from the first one on.
    pub period_s: PositiveSeconds,
    /// True if notifications are confirmable: sent again until they are acknowledged. RFC 7641 section 4.5 leaves the choice to the
    /// server. If they are not, `period_s` is 3 or more (section 4.5.1). No effect over TCP and TLS. Default: true, as requests are.
    #[serde(default = "confirmable")]
    pub confirmable: bool,
}

/// When a client sends requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RequestPattern {
    /// After equal times.
    Periodic,
    /// After exponential times.
    Poisson,
    /// Many octets at once.
    Once,
}

/// The fate of a session after a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SessionUse {
    /// It is kept.
    #[default]
    Kept,
    /// It is closed, and resumed.
    Resumed,
    /// It is closed, and the next one is new.
    Anew,
}

/// The client's action after a handshake that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
#[schemars(tag = "kind")]
pub enum Retry {
    /// It gives up at once.
    #[default]
    Never,
    /// It tries again after equal waits.
    Fixed {
        /// The wait between the end of an attempt and the next one.
        wait_s: PositiveSeconds,
        /// The share of each wait by which it may be shorter or longer: it is drawn uniformly from `wait_s` times 1 less
        /// this share to `wait_s` times 1 plus this share. Default: 0.2 (gRPC, doc/connection-backoff.md).
        #[serde(default = "share")]
        jitter: Probability,
        /// The number of attempts in all, the first included. Then the client gives up for good. Default: 10 (assumed).
        #[serde(default = "ten")]
        attempts: Integer<1, MAX_ATTEMPTS>,
    },
    /// It tries again after waits that double.
    Exponential {
        /// The wait after the first attempt that failed. Default: 1 (gRPC, doc/connection-backoff.md).
        #[serde(default = "one_second")]
        first_s: PositiveSeconds,
        /// The longest wait. Default: 120 (gRPC, doc/connection-backoff.md).
        #[serde(default = "two_minutes")]
        longest_s: PositiveSeconds,
        /// The share of each wait by which it may be shorter or longer, as with `fixed`. Default: 0.2 (gRPC,
        /// doc/connection-backoff.md).
        #[serde(default = "share")]
        jitter: Probability,
        /// The number of attempts in all, the first included. Then the client gives up for good. Default: 10 (assumed).
        #[serde(default = "ten")]
        attempts: Integer<1, MAX_ATTEMPTS>,
    },
}

/// Seconds between non-confirmable notifications, at least, where round trips are not measured (RFC 7641 section 4.5.1).
const FASTEST_UNCONFIRMED_S: f64 = 3.0;

/// The most attempts of a client (assumed: each is kept until the end of the world).
const MAX_ATTEMPTS: u32 = 1_000;

impl Retry {
    /// When a client tries again. `None`: never.
    pub fn policy(&self) -> Option<RetryPolicy> {
        let (first, longest, jitter, attempts) = match *self {
            Self::Never => return None,
            Self::Fixed { wait_s, jitter, attempts } => (wait_s, wait_s, jitter, attempts),
            Self::Exponential { first_s, longest_s, jitter, attempts } => (first_s, longest_s, jitter, attempts),
        };
        Some(RetryPolicy {
            first: first.duration(),
            longest: longest.duration(),
            jitter: jitter.get(),
            attempts: attempts.get(),
        })
    }
}

impl Application {
    /// Checks that the keys go together.
    pub(super) fn check(&self, session: &Session, document: &Document) -> Result<(), InputError> {
        if let Retry::Exponential { first_s, longest_s, .. } = self.retry
            && longest_s < first_s
        {
            let allowed = format!("application.retry.first_s ({}) or more", first_s.get());
            return Err(document.blame("application.retry.longest_s", longest_s.get().to_string(), allowed));
        }
        self.check_requests(session.protocol, document)?;
        if let Some(observe) = self.observe {
            self.check_observe(observe, session, document)?;
        }
        self.check_pattern(document)?;
        self.check_session(session, document)
    }

    fn check_requests(&self, protocol: Protocol, document: &Document) -> Result<(), InputError> {
        if self.requests.get() == 0 && self.pattern.is_none() {
            return Ok(());
        }
        if self.requests.get() > 0 && !protocol.is_coap() && !protocol.is_reliable() {
            let allowed =
                format!("0 with {protocol}; or session.protocol = \"coap+{protocol}\", which repeats what is lost");
            return Err(document.blame("application.requests", self.requests.get().to_string(), allowed));
        }
        let [request, response] = overheads(protocol);
        for (key, octets, overhead) in
            [("request_bytes", self.request_bytes, request), ("response_bytes", self.response_bytes, response)]
        {
            if octets.get() as usize <= overhead {
                let allowed = format!("more than {overhead}, the octets of a CoAP message without payload");
                return Err(document.blame(&format!("application.{key}"), octets.get().to_string(), allowed));
            }
        }
        Ok(())
    }

    fn check_observe(&self, observe: Observe, session: &Session, document: &Document) -> Result<(), InputError> {
        let blame = |key: &str, found: String, allowed: String| {
            Err(document.blame(&format!("application.{key}"), found, allowed))
        };
        let protocol = session.protocol;
        if !protocol.is_coap() {
            let allowed = format!("none with {protocol}; or a session.protocol that has CoAP");
            return blame("observe", "a resource to observe".to_owned(), allowed);
        }
        if self.pattern.is_some() {
            let allowed = "none with application.pattern: over a long time a client asks for each answer".to_owned();
            return blame("observe", "a resource to observe".to_owned(), allowed);
        }
        let Some(notifications) = self.requests.get().checked_sub(1) else {
            let allowed = "none without application.requests, which says how many answers the client wants".to_owned();
            return blame("observe", "a resource to observe".to_owned(), allowed);
        };
        let (period, longest) = (observe.period_s.get(), session.give_up_s.get());
        if f64::from(notifications) * period >= longest {
            let allowed = format!(
                "less than {}: all {notifications} notifications before session.give_up_s ({longest}) is over",
                longest / f64::from(notifications)
            );
            return blame("observe.period_s", period.to_string(), allowed);
        }
        if !observe.confirmable && !protocol.is_stream() && period < FASTEST_UNCONFIRMED_S {
            let allowed = format!(
                "{FASTEST_UNCONFIRMED_S} or more with application.observe.confirmable = false (RFC 7641 section 4.5.1)"
            );
            return blame("observe.period_s", period.to_string(), allowed);
        }
        let block = session.coap.block_bytes.get() as usize;
        let octets = [("request_bytes", self.request_bytes), ("response_bytes", self.response_bytes)];
        for ((key, octets), (data, overhead)) in
            octets.into_iter().zip(self.data_octets(protocol).into_iter().zip(overheads(protocol)))
        {
            if data > block && !protocol.is_stream() {
                let most = block + overhead;
                let allowed = format!(
                    "at most {most} with application.observe: what is observed goes in one message, not in blocks; or a \
                     larger session.coap.block_bytes"
                );
                return blame(key, octets.get().to_string(), allowed);
            }
        }
        Ok(())
    }

    /// The way in which the server of a run sends notifications. `None`: the client observes nothing.
    pub(crate) fn notifications(&self) -> Option<Delivery> {
        let delivery = |observe: Observe| match observe.confirmable {
            true => Delivery::Confirmable,
            false => Delivery::NonConfirmable,
        };
        self.observe.map(delivery)
    }

    /// The messages that each end of a run sends above its session. `None`: nothing.
    pub(crate) fn exchange(&self, protocol: Protocol) -> Option<Exchange> {
        let requests = Some(self.requests.get()).filter(|&requests| requests > 0)?;
        let [request, response] = self.data_octets(protocol);
        let period = self.observe.map(|observe| observe.period_s.duration());
        Some(Exchange { requests, request, response, period })
    }

    /// The octets of data in a request and in a response: what [`overheads`] leaves, which `check` has seen.
    fn data_octets(&self, protocol: Protocol) -> [usize; 2] {
        let [of_request, of_response] = overheads(protocol);
        [self.request_bytes.get() as usize - of_request, self.response_bytes.get() as usize - of_response]
    }

    fn check_pattern(&self, document: &Document) -> Result<(), InputError> {
        let blame = |key: &str, found: &str, allowed: &str| {
            Err(document.blame(&format!("application.{key}"), found.to_owned(), allowed))
        };
        let is_repeated = matches!(self.pattern, Some(RequestPattern::Periodic | RequestPattern::Poisson));
        match (is_repeated, self.period_s) {
            (true, None) => return blame("period_s", "nothing", "seconds between two requests"),
            (false, Some(_)) => {
                let allowed = "this key with application.pattern = \"periodic\" or \"poisson\" only";
                return blame("period_s", "a time between requests", allowed);
            }
            _ => {}
        }
        match (self.pattern, self.bytes) {
            (Some(RequestPattern::Once), None) => blame("bytes", "nothing", "how many octets are fetched"),
            (Some(RequestPattern::Once), Some(_)) | (_, None) => Ok(()),
            (_, Some(_)) => blame("bytes", "octets to fetch", "this key with application.pattern = \"once\" only"),
        }
    }

    fn check_session(&self, session: &Session, document: &Document) -> Result<(), InputError> {
        let blame = |key: &str, found: String, allowed: &str| Err(document.blame(key, found, allowed));
        let of_kept = [
            ("idle_timeout_s", self.idle_timeout_s),
            ("keep_alive_s", self.keep_alive_s),
            ("rekey_after_s", self.rekey_after_s),
        ];
        for (key, seconds) in of_kept {
            if let Some(seconds) = seconds
                && self.session != SessionUse::Kept
            {
                let allowed = "this key with application.session = \"kept\" only";
                return blame(&format!("application.{key}"), seconds.get().to_string(), allowed);
            }
        }
        let protocol = session.protocol;
        if protocol.is_coap()
            && let Some(seconds) = self.keep_alive_s
        {
            let allowed = format!("none with {protocol}: its sessions send no empty message");
            return blame("application.keep_alive_s", seconds.get().to_string(), &allowed);
        }
        if !protocol.has_handshake()
            && let Some(seconds) = self.rekey_after_s
        {
            let allowed = format!("none with {protocol}, which has no handshake that could be repeated");
            return blame("application.rekey_after_s", seconds.get().to_string(), &allowed);
        }
        match (self.session, session.resumption) {
            (SessionUse::Anew, _) if !protocol.has_handshake() => {
                let allowed = format!("\"kept\" with {protocol}, which has no handshake that could be repeated");
                return blame("application.session", "\"anew\"".to_owned(), &allowed);
            }
            (SessionUse::Resumed, _) if protocol.transport().is_none() => {
                let allowed = format!("another one with {protocol}, which resumes nothing");
                return blame("application.session", "\"resumed\"".to_owned(), &allowed);
            }
            (SessionUse::Resumed, None) => {
                let allowed = "\"resumed\" together with session.resumption, which says how";
                return blame("application.session", "\"resumed\"".to_owned(), allowed);
            }
            (SessionUse::Anew, Some(_)) => {
                let allowed = "\"anew\" without session.resumption";
                return blame("application.session", "\"anew\"".to_owned(), allowed);
            }
            _ => {}
        }
        if let (Some(keep_alive), Some(idle)) = (self.keep_alive_s, self.idle_timeout_s)
            && keep_alive >= idle
        {
            let allowed =
                format!("less than application.idle_timeout_s ({}), or the NAT has forgotten before", idle.get());
            return blame("application.keep_alive_s", keep_alive.get().to_string(), &allowed);
        }
        Ok(())
    }

    /// The requests of the client. `None`: nothing. Sizes are those of data: what CoAP adds, its messages have.
    pub(crate) fn requests(&self, protocol: Protocol) -> Option<Requests> {
        let period = || self.period_s.map_or(Duration::ZERO, PositiveSeconds::duration);
        let (octets, piece) = (self.bytes.map_or(1, Integer::get), self.piece_bytes.get());
        let when = match self.pattern? {
            RequestPattern::Periodic => When::Periodic(period()),
            RequestPattern::Poisson => When::Poisson(period()),
            RequestPattern::Once => When::Once { octets, piece },
        };
        let [request, response] = self.data_octets(protocol);
        let sizes = Sizes {
            request,
            response,
            piece: piece as usize,
            last_piece: (octets - (octets.div_ceil(piece) - 1) * piece) as usize,
        };
        let session = match self.session {
            SessionUse::Kept => Keeping::Kept,
            SessionUse::Resumed => Keeping::Resumed,
            SessionUse::Anew => Keeping::Anew,
        };
        let [idle_timeout, keep_alive, rekey_after] = [self.idle_timeout_s, self.keep_alive_s, self.rekey_after_s]
            .map(|time| time.map(PositiveSeconds::duration));
        Some(Requests { when, sizes, session, idle_timeout, keep_alive, rekey_after })
    }
}

/// The octets that CoAP adds to a request and to a response, over datagrams: the payload is the same with each protocol. The data of
/// other protocols have them already.
fn overheads(protocol: Protocol) -> [usize; 2] {
    if protocol.is_coap() { [REQUEST_OVERHEAD, RESPONSE_OVERHEAD] } else { [0; 2] }
}

impl Scenario {
    /// The longest time from the beginning of a client's first attempt to the end of its last one.
    pub(crate) fn longest_attempts(&self) -> Duration {
        let give_up = self.session.give_up_s.duration();
        self.application.retry.policy().map_or(give_up, |policy| {
            let attempts = Duration::from_micros(give_up.as_micros().saturating_mul(policy.attempts.into()));
            attempts + policy.longest_in_all()
        })
    }
}

fn confirmable() -> bool {
    true
}

fn share() -> Probability {
    Probability::constant(0.2)
}

fn ten() -> Integer<1, MAX_ATTEMPTS> {
    Integer::constant(10)
}

fn one_second() -> PositiveSeconds {
    PositiveSeconds::constant(1.0)
}

fn two_minutes() -> PositiveSeconds {
    PositiveSeconds::constant(120.0)
}
