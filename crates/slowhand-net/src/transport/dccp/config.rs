//! The configuration of a connection.

use crate::clock::Duration;
use crate::transport::tcp::Rto;

/// The choices that the standards leave open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DccpConfig {
    /// The application that the client wants to speak with, and that the server offers. Default: `?DTL`, assumed: IANA has
    /// registered no code for the applications here, and codes that begin with `?` are for private use (RFC 4340 section 8.1.2).
    pub service_code: u32,
    /// The initial congestion window, in packets. Default: 4 (RFC 4341 section 5: at most that of RFC 3390, which is four
    /// packets of up to 1095 octets). Allowed: 1 to 4.
    pub initial_window: u32,
    /// The number of datagrams that wait at most until the congestion window lets them out. One more is dropped. RFC 4340 leaves it to
    /// the application. Default: 5 (Linux, `tx_qlen`). Allowed: 1 to 1000.
    pub send_queue: usize,
    /// The number of data packets that the peer acknowledges together. Default: 2 (RFC 4340 section 11.3). Linux uses 1. Larger values need a window that is twice as large (RFC 4341 section 6.1.2); windows here
    /// are small. Allowed: 1 and 2.
    pub ack_ratio: u16,
    /// The timeout of the first Request (RFC 4340 section 8.1.1), and that of data before the first measurement of a round trip (RFC
    /// 6298 section 2.1). Default: 1 s, which both have. Allowed: 1 ms to 60 s.
    pub initial_rto: Duration,
}

impl Default for DccpConfig {
    fn default() -> Self {
        Self {
            service_code: u32::from_be_bytes(*b"?DTL"),
            initial_window: 4,
            send_queue: 5,
            ack_ratio: 2,
            initial_rto: Duration::from_secs(1),
        }
    }
}

/// A field of [`DccpConfig`] has a value that is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {value}, allowed: from {min} to {max}")]
pub struct ConfigError {
    /// The field.
    pub field: &'static str,
    /// Its value.
    pub value: u64,
    /// The smallest value.
    pub min: u64,
    /// The largest value.
    pub max: u64,
}

impl DccpConfig {
    /// Checks all fields.
    ///
    /// # Errors
    /// The first field with a value that is not allowed.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let check = |field, value: u64, min, max| match (min..=max).contains(&value) {
            true => Ok(()),
            false => Err(ConfigError { field, value, min, max }),
        };
        check("initial_window", self.initial_window.into(), 1, 4)?;
        check("send_queue", self.send_queue as u64, 1, 1_000)?;
        check("ack_ratio", self.ack_ratio.into(), 1, 2)?;
        check("initial_rto (us)", self.initial_rto.as_micros(), 1_000, 60_000_000)
    }

    /// The limits of the retransmission timer.
    pub(super) fn rto(&self) -> Rto {
        /// Linux' minimum, which it adds to the round trip. RFC 4341 section 5: the second of TCP is not needed. It leaves
        /// time for the delay of an acknowledgement.
        const MARGIN: Duration = Duration::from_millis(200);
        Rto {
            initial: self.initial_rto,
            after_syn_loss: self.initial_rto, // not asked for
            min: MARGIN,
            max: Duration::from_secs(60), // RFC 6298 section 2.5: at least
            granularity: MARGIN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_allowed_and_other_values_are_named() {
        assert_eq!(DccpConfig::default().validate(), Ok(()));
        let error = DccpConfig { ack_ratio: 3, ..DccpConfig::default() }.validate().unwrap_err();
        assert_eq!(error.to_string(), "ack_ratio is 3, allowed: from 1 to 2");
        let error = DccpConfig { initial_window: 0, ..DccpConfig::default() }.validate().unwrap_err();
        assert_eq!(error.field, "initial_window");
        let error = DccpConfig { send_queue: 0, ..DccpConfig::default() }.validate().unwrap_err();
        assert_eq!(error.field, "send_queue");
    }
}
