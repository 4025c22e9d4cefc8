//! `[readers]`: who reads the value of a node, and how often.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::keys::table;
use super::nodes::MAX_NODE;
use super::{Mesh, ServerAt};
use crate::calendar::MOST_SECONDS;
use crate::input::{Document, InputError, Integer, PositiveSeconds};

table! {
    /// A node, the *producer*, has a value that many readers want: `slowhand oscar` runs this, in two ways. Each reader opens a session of
    /// DTLS to the producer. Or the producer signs and encrypts the value once, as an object, and readers get the access secret from
    /// an authorization server over DTLS (Vucinic et al., OSCAR, Ad Hoc Networks 32, 2015). All other commands ignore this table.
    ///
    /// The nodes run on `client.device`; readers on the Internet and the authorization server on `server.device`. The authorization
    /// server is the server of the scenario: `server.at` is its place. The sessions are those of `[session]`.
    pub struct Readers {
        /// The node that has the value. Default: the first of the clients (`client.nodes`).
        pub producer: Option<Integer<1, MAX_NODE>>,
        /// Where the readers are: on the `internet`, behind the border router, or in the `mesh`, one on each node but the root and the
        /// producer, from node 1 on. Default: `internet`.
        pub at: ReadersAt,
        /// With objects: true if a proxy at the border router keeps the object for `max_age_s` and answers the readers. Then they ask it,
        /// not the producer. With DTLS nobody can keep anything: the proxy has no part in it. Default: true.
        pub proxy: bool { true },
        /// The time for which an object is fresh, in whole seconds. The producer makes a new one when it is asked after that.
        /// Default: 60 (Max-Age, RFC 7252 section 5.10.5).
        pub max_age_s: Integer<1, 31_536_000> { Integer::constant(60) },
        /// Octets of the value. Default: 8 (assumed: a few readings).
        pub value_bytes: Integer<1, 512> { Integer::constant(8) },
        /// The time between two readings of a reader. Each reader begins at a random moment of the first such period. If this
        /// is shorter than `max_age_s`, a single reader gets the same object again. Default: 120 (assumed).
        pub period_s: PositiveSeconds { PositiveSeconds::constant(120.0) },
        /// The number of readings of each reader. Default: 10 (assumed).
        pub readings: Integer<1, 100_000> { Integer::constant(10) },
        /// The authorization server changes the access secret so often, for example to shut out a reader. The producer and the readers then
        /// ask for the new one, in the session that they have. Default: never.
        pub secret_lifetime_s: Option<PositiveSeconds>,
        /// The number of sessions of readers that the producer holds at the same time. It ignores the ClientHello of one more
        /// reader (assumed: as `server.policy = "refuse"`). The sessions stay open to the end; one that fails gives its slot
        /// back at once (assumed). Default: one for each reader.
        pub slots: Option<Integer<1, 1_000>>,
    }
}

/// Where the readers are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReadersAt {
    /// On the Internet, behind the border router.
    #[default]
    Internet,
    /// On nodes of the mesh.
    Mesh,
}

impl Readers {
    /// Checks that the readings have an end, and that the producer is a node that can have the value.
    pub(super) fn check(&self, mesh: &Mesh, server: ServerAt, document: &Document) -> Result<(), InputError> {
        let period = self.period_s.get();
        if self.period_s.micros() == 0 {
            return Err(document.blame(
                "readers.period_s",
                period.to_string(),
                "0.000001 or more: the clock has microseconds",
            ));
        }
        if f64::from(self.readings.get()) * period > MOST_SECONDS {
            let found = format!("{} readings, one in {period} s", self.readings.get());
            return Err(document.blame("readers.readings", found, "a hundred years at most, in all"));
        }
        let Some(producer) = self.producer else { return Ok(()) };
        let last = mesh.nodes() - 1;
        let refuse = |allowed| Err(document.blame("readers.producer", producer.get().to_string(), allowed));
        if producer.get() as usize > last {
            return refuse(format!("nodes 1 to {last}"));
        }
        match server {
            ServerAt::Node(node) if u32::from(node.0) == producer.get() => {
                refuse("another node than that of the authorization server (server.at)".to_owned())
            }
            _ => Ok(()),
        }
    }
}
