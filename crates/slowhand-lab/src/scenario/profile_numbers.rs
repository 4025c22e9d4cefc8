//! The numbers of each [`Profile`], which are defaults of keys.

mod table;

use serde::Serialize;
use serde_json::{Value, json};
use slowhand_net::lowpan::reassembly::{Timer, WhenFull};

use super::join::{Dis, Join};
use super::lowpan::{Lowpan, Reassembly};
use super::mac::{Csma, Mac, Tsch};
use super::profile::Profile;
use crate::input::{Document, Factor, Integer, PositiveSeconds, Probability, Seconds};

/// A number, and where it was read. "assumed: " and the reason, if nowhere.
#[derive(Clone, Copy, Debug)]
struct Sourced<T> {
    value: T,
    source: &'static str,
}

/// The numbers of a profile.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    /// The project, and the version that was read.
    version: &'static str,
    lowpan: LowpanNumbers,
    /// `None`: the project has no such link layer.
    tsch: Option<TschNumbers>,
    csma: Option<CsmaNumbers>,
    /// `None`: the numbers of the standards.
    join: Option<JoinNumbers>,
}

/// Defines the numbers that are defaults of a section's keys: each has the name and the type of its key.
macro_rules! numbers {
    ($(#[$doc:meta])* $name:ident: $section:ident in $table:literal { $($key:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        struct $name { $($key: Sourced<$type>,)* }

        impl $name {
            /// Gives the keys that the document has not these numbers.
            fn fill(&self, section: &mut $section, document: &Document) {
                $(if !document.has(concat!($table, ".", stringify!($key))) {
                    section.$key = self.$key.value;
                })*
            }

            fn list(&self) -> Vec<ProfileNumber> {
                vec![$(ProfileNumber {
                    key: concat!($table, ".", stringify!($key)),
                    value: json!(self.$key.value),
                    source: self.$key.source,
                },)*]
            }
        }
    };
}

numbers! {
    /// Reassembly.
    LowpanNumbers: Lowpan in "lowpan" {
        reassembly_timeout_s: PositiveSeconds,
        reassembly_timer: Timer,
        reassembly_buffers: Integer<1, 65_535>,
        reassembly_buffer_octets: Integer<1, 2_047>,
        reassembly_octets: Option<Integer<1, 4_294_967_295>>,
        reassembly_when_full: WhenFull,
        whole_datagrams: bool,
    }
}

numbers! {
    TschNumbers: Tsch in "mac" {
        queue: Integer<1, 65_535>,
        max_retries: Integer<0, 254>,
        min_be: Integer<0, 8>,
        max_be: Integer<0, 8>,
    }
}

numbers! {
    /// Joining a TSCH network.
    JoinNumbers: Join in "join" {
        channel_s: PositiveSeconds,
        beacon_probability: Probability,
        beacons_shared: bool,
        beacon_sources: Integer<1, 255>,
        beacon_wait_s: Seconds,
        first_request_s: Seconds,
        confirmable: bool,
        timeout_s: PositiveSeconds,
        timeout_random_factor: Factor,
        timeout_doubles: bool,
        retries: Integer<0, 65_535>,
        dis: Dis,
        dis_period_s: PositiveSeconds,
        dio_probability: Probability,
        dio_interval_min: Integer<0, 20>,
        dio_doublings: Integer<0, 20>,
        dio_redundancy: Integer<0, 255>,
        dao_probability: Probability,
        dao_delay_s: Seconds,
        dao_period_s: PositiveSeconds,
    }
}

numbers! {
    CsmaNumbers: Csma in "mac" {
        queue: Integer<1, 65_535>,
        max_retries: Integer<0, 255>,
        retry_max_be: Integer<0, 8>,
        retries_busy_channel: bool,
        min_be: Integer<0, 8>,
        max_be: Integer<0, 8>,
        max_csma_backoffs: Integer<0, 5>,
    }
}

/// A number of a profile, which is the default of a key.
#[derive(Clone, Debug, Serialize)]
pub struct ProfileNumber {
    /// The key.
    pub key: &'static str,
    /// Its value. Null: no limit.
    pub value: Value,
    /// The file and the line where it was read, or "assumed: " and why.
    pub source: &'static str,
}

/// All numbers of a profile.
#[derive(Clone, Debug, Serialize)]
pub struct ProfileNumbers {
    /// The name of the profile.
    pub name: Profile,
    /// The project, and the version that was read.
    pub version: &'static str,
    /// The link layers for which it is the default, by `mac.kind`.
    pub default_of: Vec<&'static str>,
    /// Of 6LoWPAN.
    pub lowpan: Vec<ProfileNumber>,
    /// Of `mac.kind = "tsch"`. None: the project has no TSCH, and the numbers are those of `rfc`.
    pub tsch: Option<Vec<ProfileNumber>>,
    /// Of `mac.kind = "csma"`; none likewise.
    pub csma: Option<Vec<ProfileNumber>>,
    /// Of joining a TSCH network; none likewise.
    pub join: Option<Vec<ProfileNumber>>,
}

impl Profile {
    const fn numbers(self) -> &'static Numbers {
        match self {
            Self::ContikiNg => &table::CONTIKI_NG,
            Self::OpenThread => &table::OPENTHREAD,
            Self::Riot => &table::RIOT,
            Self::Zephyr => &table::ZEPHYR,
            Self::OpenWsn => &table::OPENWSN,
            Self::Rfc => &table::RFC,
        }
    }

    /// Its numbers, and where they were read.
    pub fn list(self) -> ProfileNumbers {
        let Numbers { version, lowpan, tsch, csma, join } = self.numbers();
        let every = Mac::every();
        let kinds = every.iter().filter(|mac| mac.link_layer().default_profile() == self);
        ProfileNumbers {
            name: self,
            version,
            default_of: kinds.map(Mac::kind).collect(),
            lowpan: lowpan.list(),
            tsch: tsch.as_ref().map(TschNumbers::list),
            csma: csma.as_ref().map(CsmaNumbers::list),
            join: join.as_ref().map(JoinNumbers::list),
        }
    }

    /// Gives the keys of 6LoWPAN that the document has not their defaults. None of these projects recovers fragments by
    /// default, and recovery takes longer than their timers: it has the numbers of the standards.
    pub(super) fn fill_lowpan(self, lowpan: &mut Lowpan, document: &Document) {
        let profile = if lowpan.reassembly == Reassembly::Recovery { Self::Rfc } else { self };
        profile.numbers().lowpan.fill(lowpan, document);
        // The memory of a project is that of its own buffers.
        if document.has("lowpan.reassembly_buffers") && !document.has("lowpan.reassembly_octets") {
            lowpan.reassembly_octets = None;
        }
    }

    /// Fills the numbers of the link layer. One that only one of the projects has keeps its own numbers.
    pub(super) fn fill_mac(self, mac: &mut Mac, document: &Document) {
        match mac {
            Mac::Tsch(tsch) => self.numbers().tsch.as_ref().unwrap_or(&table::RFC_TSCH).fill(tsch, document),
            Mac::Csma(csma) => self.numbers().csma.as_ref().unwrap_or(&table::RFC_CSMA).fill(csma, document),
            Mac::Xmac(_) | Mac::Beacon(_) => {}
        }
    }

    /// Fills the numbers of joining.
    pub(super) fn fill_join(self, join: &mut Join, document: &Document) {
        self.numbers().join.as_ref().unwrap_or(&table::RFC_JOIN).fill(join, document);
    }
}

impl Default for Join {
    /// With the numbers of the standards. Those of the profile replace them before anybody sees them.
    fn default() -> Self {
        let numbers = &table::RFC_JOIN;
        Self {
            start_spread_s: Seconds::constant(1.0),
            channel_s: numbers.channel_s.value,
            beacon_probability: numbers.beacon_probability.value,
            beacons_shared: numbers.beacons_shared.value,
            beacon_sources: numbers.beacon_sources.value,
            beacon_wait_s: numbers.beacon_wait_s.value,
            first_request_s: numbers.first_request_s.value,
            confirmable: numbers.confirmable.value,
            timeout_s: numbers.timeout_s.value,
            timeout_random_factor: numbers.timeout_random_factor.value,
            timeout_doubles: numbers.timeout_doubles.value,
            retries: numbers.retries.value,
            dis: numbers.dis.value,
            dis_period_s: numbers.dis_period_s.value,
            dio_probability: numbers.dio_probability.value,
            dio_interval_min: numbers.dio_interval_min.value,
            dio_doublings: numbers.dio_doublings.value,
            dio_redundancy: numbers.dio_redundancy.value,
            dao_probability: numbers.dao_probability.value,
            dao_delay_s: numbers.dao_delay_s.value,
            dao_period_s: numbers.dao_period_s.value,
            packet_octets: Integer::constant(20),
            packet_period_s: PositiveSeconds::constant(60.0),
            give_up_s: PositiveSeconds::constant(7_200.0),
        }
    }
}

#[cfg(test)]
mod tests;
