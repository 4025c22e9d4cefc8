//! Tables whose keys are fields of a configuration of the network: each key is declared once, with the field that it sets.

use slowhand_net::address::Addressing;
use slowhand_net::clock::Duration;
use slowhand_net::lowpan::reassembly;
use slowhand_net::network::LossSpread;
use slowhand_net::radio::{beacon, csma};
use slowhand_net::random;
use slowhand_net::transport::tcp;

use crate::input::{Integer, Milliseconds, PositiveMilliseconds, PositiveSeconds, Probability};

/// A key that sets a field of type `T`.
pub(super) trait Key<T>: Copy {
    /// The key where the field has this value, which is the default.
    fn of(field: T) -> Self;

    /// Sets the field.
    fn set(self, field: &mut T);
}

/// A key that can be left out: then the field keeps its value.
impl<T, K: Key<T>> Key<T> for Option<K> {
    fn of(_: T) -> Self {
        None
    }

    fn set(self, field: &mut T) {
        if let Some(key) = self {
            key.set(field);
        }
    }
}

impl Key<random::Probability> for Probability {
    fn of(field: random::Probability) -> Self {
        Self::constant(field.get())
    }

    fn set(self, field: &mut random::Probability) {
        *field = random::Probability::new(self.get());
    }
}

macro_rules! integers {
    ($($field:ty,)*) => {$(
        impl<const MIN: u32, const MAX: u32> Key<$field> for Integer<MIN, MAX> {
            fn of(field: $field) -> Self {
                Self::constant(field as u32)
            }

            fn set(self, field: &mut $field) {
                *field = self.get() as $field;
            }
        }
    )*};
}

integers! { u8, u16, u32, usize, }

macro_rules! times {
    ($($key:ty,)*) => {$(
        impl Key<Duration> for $key {
            fn of(field: Duration) -> Self {
                Self::of(field)
            }

            fn set(self, field: &mut Duration) {
                *field = self.duration();
            }
        }
    )*};
}

times! { Milliseconds, PositiveMilliseconds, PositiveSeconds, }

macro_rules! as_they_are {
    ($($key:ty,)*) => {$(
        impl Key<Self> for $key {
            fn of(field: Self) -> Self {
                field
            }

            fn set(self, field: &mut Self) {
                *field = self;
            }
        }
    )*};
}

as_they_are! {
    bool, Addressing, LossSpread, beacon::Downward, csma::FastPoll, reassembly::Timer, reassembly::WhenFull,
    tcp::CongestionControl, tcp::Ecn, tcp::Nagle, tcp::Recovery,
}

/// Defines a table: its keys, their defaults and the fields of a configuration that they set. In parentheses stands the type
/// of the configuration and one with the defaults, if there is one. After a key stands ` = field` if it sets a field, which has its
/// default. Another key has the default that stands in braces, or that of its type.
macro_rules! table {
    (
        $(#[$about:meta])*
        pub struct $name:ident($config:ty = $defaults:expr) {
            $($(#[$doc:meta])* pub $key:ident: $type:ty $(= $($field:tt).+)? $({ $default:expr })?,)*
        }
    ) => {
        $crate::scenario::keys::table!(@ struct $(#[$about])* $name { $($(#[$doc])* $key: $type,)* });

        impl Default for $name {
            fn default() -> Self {
                let defaults: $config = $defaults;
                Self { $($key: $crate::scenario::keys::table!(@ defaults $(= $($field).+)? $({ $default })?),)* }
            }
        }

        impl $name {
            /// Sets the fields for which there are keys.
            fn set(&self, config: &mut $config) {
                $($($crate::scenario::keys::Key::set(self.$key, &mut config.$($field).+);)?)*
            }
        }
    };
    (
        $(#[$about:meta])*
        pub struct $name:ident {
            $($(#[$doc:meta])* pub $key:ident: $type:ty $({ $default:expr })?,)*
        }
    ) => {
        $crate::scenario::keys::table!(@ struct $(#[$about])* $name { $($(#[$doc])* $key: $type,)* });

        impl Default for $name {
            fn default() -> Self {
                Self { $($key: $crate::scenario::keys::table!(@ defaults $({ $default })?),)* }
            }
        }
    };
    (@ struct $(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $key:ident: $type:ty,)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, serde::Deserialize, schemars::JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $($(#[$doc])* pub $key: $type,)*
        }
    };
    (@ $defaults:ident = $($field:tt).+) => { $crate::scenario::keys::Key::of($defaults.$($field).+) };
    (@ $defaults:ident { $default:expr }) => { $default };
    (@ $defaults:ident) => { Default::default() };
}

pub(super) use table;
