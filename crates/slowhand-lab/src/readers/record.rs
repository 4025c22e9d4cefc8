//! The result: what the readers got, and what it cost.

use serde::{Deserialize, Serialize};
use slowhand_net::clock::Duration;

use crate::record::Value::{F64, OptF64, OptText, Text, U64};
use crate::record::row;

/// The way in which readers get the value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// Each opens a session of DTLS to the producer.
    #[default]
    Dtls,
    /// Objects that are signed and encrypted once.
    Oscar,
}

impl Way {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Dtls, Self::Oscar];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dtls => "dtls",
            Self::Oscar => "oscar",
        }
    }

    /// The way of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|way| way.name() == name)
    }
}

row! {
    /// The results of one world of readers.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct ReadersRecord = "What it cost that so many readers read the value of a node." {
        /// The seed of the world.
        pub seed: u64 => (U64(|r| r.seed)),
        /// The way to the value: dtls, a session of each reader to the producer; oscar, objects that are signed once.
        pub way: Way => (Text(|r| r.way.name().to_owned())),
        /// The number of readers.
        pub readers: u32 => (U64(|r| r.readers.into())),
        /// The number of readings that were due.
        pub readings: u64 => (U64(|r| r.readings)),
        /// The number of these that brought a value before the next was due.
        pub got: u64 => (U64(|r| r.got)),
        /// Sessions of DTLS that failed, or were not established in time.
        pub failed_sessions: u64 => (U64(|r| r.failed_sessions)),
        /// Messages that an end was not able to send.
        pub unsent: u64 => (U64(|r| r.unsent)),
        /// Why the first of these was not sent. Null if there was none.
        pub unsent_reason: Option<String> => (OptText(|r| r.unsent_reason.clone())),
        /// Readers for which the producer had no session slot.
        pub refused: u64 => (U64(|r| r.refused)),
        /// Signatures that the producer made for objects.
        pub signatures: u64 => (U64(|r| r.signatures)),
        /// Requests to the producer, without repetitions.
        pub requests_to_producer: u64 => (U64(|r| r.requests_to_producer)),
        /// Frames of handshakes and access secrets over all hops, repeated ones included, without acknowledgements.
        pub setup_frames: u64 => (U64(|r| r.setup_frames)),
        /// The octets of these frames, from the MAC header to the check sequence.
        pub setup_octets: u64 => (U64(|r| r.setup_octets)),
        /// Frames of requests and values over all hops, without acknowledgements.
        pub reading_frames: u64 => (U64(|r| r.reading_frames)),
        /// The octets of these frames.
        pub reading_octets: u64 => (U64(|r| r.reading_octets)),
        /// From the start of a reader until it had its first value, handshake included: the mean. Null if none had one.
        pub first_s: Option<f64> => (OptF64(|r| r.first_s)),
        /// The longest of these times.
        pub first_longest_s: Option<f64> => (OptF64(|r| r.first_longest_s)),
        /// The time that a later reading took, on average. Null if there was none.
        pub later_s: Option<f64> => (OptF64(|r| r.later_s)),
        /// The time for which the producer computed cryptography of sessions and objects.
        pub producer_compute_s: f64 => (F64(|r| r.producer_compute_s)),
        /// The energy of the producer from the start of the world to its end.
        pub producer_mj: f64 => (F64(|r| r.producer_mj)),
        /// The energy of the producer in the same time if nobody reads.
        pub producer_idle_mj: f64 => (F64(|r| r.producer_idle_mj)),
        /// The energy of all other nodes but the root.
        pub others_mj: f64 => (F64(|r| r.others_mj)),
        /// The energy of these nodes in the same time if nobody reads.
        pub others_idle_mj: f64 => (F64(|r| r.others_idle_mj)),
        /// The length of the world, which is equal for both ways.
        pub world: Duration => (world_s: F64(|r| r.world.as_secs_f64())),
    }
}
