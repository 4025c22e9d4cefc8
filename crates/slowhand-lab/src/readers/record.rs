//! The result: what the readers got, and what it cost.

use serde::{Deserialize, Serialize};
use slowhand_net::clock::Duration;

use crate::record::{Column, Field, Table, row_schema};

/// The way in which readers get the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// Each opens a session of DTLS to the producer.
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

/// The results of one world of readers.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadersRecord {
    /// The seed of the world.
    pub seed: u64,
    /// The way.
    pub way: Way,
    /// The number of readers.
    pub readers: u32,
    /// The number of readings that were due.
    pub readings: u64,
    /// The number of these that brought a value before the next was due.
    pub got: u64,
    /// Sessions of DTLS that failed, or were not established in time.
    pub failed_sessions: u64,
    /// Messages that an end was not able to send.
    pub unsent: u64,
    /// Why the first of these was not sent.
    pub unsent_reason: Option<String>,
    /// Readers for which the producer had no session slot.
    pub refused: u64,
    /// Signatures that the producer made for objects.
    pub signatures: u64,
    /// Requests of the proxy, or without it of a reader, to the producer, without repetitions.
    pub requests_to_producer: u64,
    /// Frames of handshakes and of access secrets, over all hops, repeated ones included, without acknowledgements.
    pub setup_frames: u64,
    /// The octets of these frames, from the MAC header to the check sequence.
    pub setup_octets: u64,
    /// Frames of requests and values, over all hops, repeated ones included, without acknowledgements.
    pub reading_frames: u64,
    /// The octets of these frames.
    pub reading_octets: u64,
    /// From the moment at which a reader began until it had its first value, handshake included: the mean of those that had one.
    pub first_s: Option<f64>,
    /// The longest of these.
    pub first_longest_s: Option<f64>,
    /// The time that a later reading took, on average.
    pub later_s: Option<f64>,
    /// The time for which the producer computed cryptography of sessions and objects.
    pub producer_compute_s: f64,
    /// The energy that the producer used from the start of the world to its end.
    pub producer_mj: f64,
    /// The energy that it would have used if nobody had read.
    pub producer_idle_mj: f64,
    /// The energy that all other nodes but the root used.
    pub others_mj: f64,
    /// The energy that they would have used if nobody had read.
    pub others_idle_mj: f64,
    /// The time that the world lasted, which is equal for both ways.
    pub world: Duration,
}

type Values = fn(&[ReadersRecord]) -> Column;

/// Each column: its name, its meaning, its values.
const COLUMNS: [(&str, &str, Values); 24] = [
    ("seed", "The seed of the world.", |r| counts(r, |r| r.seed)),
    (
        "way",
        "How readers get the value: dtls, a session of each to the producer; oscar, objects that are signed once.",
        |r| Column::Text(r.iter().map(|r| r.way.name().to_owned()).collect()),
    ),
    ("readers", "How many readers there were.", |r| counts(r, |r| r.readers.into())),
    ("readings", "How many readings were due.", |r| counts(r, |r| r.readings)),
    ("got", "How many of these brought a value before the next was due.", |r| counts(r, |r| r.got)),
    ("failed_sessions", "Sessions of DTLS that failed, or were not established in time.", |r| {
        counts(r, |r| r.failed_sessions)
    }),
    ("unsent", "Messages that an end was not able to send.", |r| counts(r, |r| r.unsent)),
    ("unsent_reason", "Why the first of these was not sent. Null if there was none.", |r| {
        Column::OptText(r.iter().map(|r| r.unsent_reason.clone()).collect())
    }),
    ("refused", "Readers for which the producer had no session slot.", |r| counts(r, |r| r.refused)),
    ("signatures", "Signatures that the producer made for objects.", |r| counts(r, |r| r.signatures)),
    ("requests_to_producer", "What the producer was asked for, without repetitions.", |r| {
        counts(r, |r| r.requests_to_producer)
    }),
    ("setup_frames", "Frames of handshakes and access secrets over all hops, without acknowledgements.", |r| {
        counts(r, |r| r.setup_frames)
    }),
    ("setup_octets", "The octets of these frames, from the MAC header to the check sequence.", |r| {
        counts(r, |r| r.setup_octets)
    }),
    ("reading_frames", "Frames of requests and values over all hops, without acknowledgements.", |r| {
        counts(r, |r| r.reading_frames)
    }),
    ("reading_octets", "The octets of these frames.", |r| counts(r, |r| r.reading_octets)),
    ("first_s", "Until a reader had its first value, handshake included: the mean. Null if none had one.", |r| {
        numbers(r, |r| r.first_s)
    }),
    ("first_longest_s", "The longest of these times.", |r| numbers(r, |r| r.first_longest_s)),
    ("later_s", "How long a later reading took, on average. Null if there was none.", |r| numbers(r, |r| r.later_s)),
    ("producer_compute_s", "How long the producer computed cryptography of sessions and objects.", |r| {
        Column::F64(r.iter().map(|r| r.producer_compute_s).collect())
    }),
    ("producer_mj", "The energy of the producer from the start of the world to its end.", |r| {
        Column::F64(r.iter().map(|r| r.producer_mj).collect())
    }),
    ("producer_idle_mj", "The energy of the producer in the same time if nobody reads.", |r| {
        Column::F64(r.iter().map(|r| r.producer_idle_mj).collect())
    }),
    ("others_mj", "The energy of all other nodes but the root.", |r| {
        Column::F64(r.iter().map(|r| r.others_mj).collect())
    }),
    ("others_idle_mj", "The energy of these nodes in the same time if nobody reads.", |r| {
        Column::F64(r.iter().map(|r| r.others_idle_mj).collect())
    }),
    ("world_s", "How long the world lasted.", |r| Column::F64(r.iter().map(|r| r.world.as_secs_f64()).collect())),
];

/// The records as a table.
pub fn columns(records: &[ReadersRecord]) -> Table {
    COLUMNS.iter().map(|&(name, about, values)| (Field { name, about }, values(records))).collect()
}

/// The JSON Schema of a row.
pub fn schema() -> serde_json::Value {
    row_schema("What it cost that so many readers read the value of a node.", &columns(&[]))
}

fn counts(records: &[ReadersRecord], of: fn(&ReadersRecord) -> u64) -> Column {
    Column::U64(records.iter().map(of).collect())
}

fn numbers(records: &[ReadersRecord], of: fn(&ReadersRecord) -> Option<f64>) -> Column {
    Column::OptF64(records.iter().map(of).collect())
}
