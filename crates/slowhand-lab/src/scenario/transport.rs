//! `[transport]`: TCP at both ends of a session that needs a stream.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use slowhand_net::clock::Duration;
use slowhand_net::transport::tcp;

use crate::input::{Integer, PositiveSeconds};

/// TCP (RFC 9293) at both ends, where the session's protocol is a TLS.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Transport {
    /// The client's TCP. Default: the `constrained` preset.
    pub client: Tcp,
    /// The server's TCP. Default: the `linux` preset where the server is on the Internet, else `constrained`.
    pub server: Tcp,
}

/// One end's TCP: a preset, and what differs from it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tcp {
    /// Where the other keys start from.
    pub preset: Option<Preset>,
    /// The largest segment in octets of payload, announced to the peer and kept to. Presets: 1220 (`linux`: the minimum
    /// MTU of IPv6 less 60), 536 (`constrained`, assumed).
    pub mss: Option<Integer<64, 65_535>>,
    /// Octets that wait to be sent or acknowledged. Presets: 65536, 2144; four segments at least.
    pub send_buffer: Option<Integer<64, 1_073_741_824>>,
    /// Octets that wait to be read: the largest window. Presets: 65536, 2144; four segments at least.
    pub receive_buffer: Option<Integer<64, 1_073_741_824>>,
    /// When a segment smaller than the MSS waits for more. Presets: `minshall`, `off`.
    pub nagle: Option<Nagle>,
    /// How long an acknowledgement waits for company; 0: not at all. Presets: 40 (and Linux's quick acknowledgements at
    /// the beginning), 200.
    pub delayed_ack_ms: Option<AckDelay>,
    /// Selective acknowledgements (RFC 2018, RFC 6675). Presets: true, true.
    pub sack: Option<bool>,
    /// Timestamps (RFC 7323). Presets: true, false.
    pub timestamps: Option<bool>,
    /// The congestion window at the beginning, in segments. Presets: 10 (RFC 6928), 1.
    pub initial_window: Option<Integer<1, 10>>,
    /// True if the window opens exponentially until the first loss. Presets: true, true.
    pub slow_start: Option<bool>,
    /// How the window moves after that. Presets: `cubic`, `reno`.
    pub congestion: Option<Congestion>,
    /// How losses are repaired without SACK. Presets: `newreno`, `newreno`.
    pub recovery: Option<Recovery>,
    /// Explicit congestion notification (RFC 3168). Presets: `accept`, `off`.
    pub ecn: Option<Ecn>,
    /// True if one segment at most is unacknowledged, as in uIP. Presets: false, false.
    pub single_segment: Option<bool>,
    /// Tail loss probes (RFC 8985 section 7). Presets: true, false.
    pub tail_loss_probe: Option<bool>,
    /// The retransmission timeout before a round trip was measured. Presets: 1, 1 (RFC 6298 section 2.1).
    pub initial_rto_s: Option<PositiveSeconds>,
    /// How long before a SYN or SYN-ACK is sent again for the first time. Default: `initial_rto_s`.
    pub syn_timeout_s: Option<PositiveSeconds>,
    /// True if the round trip of SYN and SYN-ACK is measured; else data begins with `initial_rto_s`. Presets: true, true.
    pub syn_measured: Option<bool>,
    /// The retransmission timeout with which data begins where a SYN or SYN-ACK had to be repeated. Presets: 3, 3 (RFC 6298 section 5.7).
    pub rto_after_syn_loss_s: Option<PositiveSeconds>,
    /// The least retransmission timeout. Presets: 0.2 (Linux), 1 (RFC 6298 section 2.4).
    pub min_rto_s: Option<PositiveSeconds>,
    /// The greatest retransmission timeout. Presets: 120 (Linux), 60 (RFC 6298 section 2.5).
    pub max_rto_s: Option<PositiveSeconds>,
    /// True if segments and timers wait while the device computes, as where network stack and cryptography are tasks of
    /// one scheduler that does not interrupt them. Default: false (Claeys et al. 2021, Fig. 8b: the segment is
    /// acknowledged, and the device computes).
    pub waits_while_computing: bool,
}

/// TCP at one end of a session.
#[derive(Debug)]
pub(crate) struct TcpEndpoint {
    pub(crate) tcp: tcp::TcpConfig,
    /// True if segments and timers wait while the device computes.
    pub(crate) waits_while_computing: bool,
}

/// A TCP that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// The defaults of Linux 6.
    Linux,
    /// A class-1 device: what Claeys et al. (Sensors 2021) name, and the values that the RFCs recommend.
    Constrained,
}

/// When a segment smaller than the MSS waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Nagle {
    /// Never.
    Off,
    /// While anything is unacknowledged (RFC 896).
    Rfc896,
    /// While a segment smaller than the MSS is unacknowledged (Linux).
    Minshall,
}

/// How the congestion window moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Congestion {
    /// RFC 5681.
    Reno,
    /// RFC 9438.
    Cubic,
}

/// How losses are repaired without SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Recovery {
    /// RFC 5681 section 3.2.
    Reno,
    /// RFC 6582.
    NewReno,
}

/// The part played in explicit congestion notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ecn {
    /// None.
    Off,
    /// It is accepted from a peer that asks.
    Accept,
    /// It is asked for.
    Request,
}

/// How long an acknowledgement waits, in milliseconds; RFC 9293 section 3.8.6.3 allows less than 500.
pub type AckDelay = Integer<0, 500>;

impl Tcp {
    /// What a world needs to know, starting from `preset` where the scenario names none.
    pub(crate) fn endpoint(&self, preset: Preset) -> TcpEndpoint {
        TcpEndpoint { tcp: self.config(preset), waits_while_computing: self.waits_while_computing }
    }

    /// The configuration, starting from `preset` where the scenario names none.
    pub fn config(&self, preset: Preset) -> tcp::TcpConfig {
        let mut config = match self.preset.unwrap_or(preset) {
            Preset::Linux => tcp::TcpConfig::linux(),
            Preset::Constrained => tcp::TcpConfig::constrained(),
        };
        if let Some(mss) = self.mss {
            config.mss = mss.get() as u16;
            // The buffers of the presets are for segments of the presets; four is what `constrained` has room for.
            config.send_buffer = config.send_buffer.max(4 * mss.get());
            config.receive_buffer = config.receive_buffer.max(4 * mss.get());
            config.window_scale = config.window_scale.map(|shift| shift.min(config.mss.ilog2() as u8));
        }
        let octets = |octets: Integer<64, 1_073_741_824>| octets.get();
        set(&mut config.send_buffer, self.send_buffer.map(octets));
        set(&mut config.receive_buffer, self.receive_buffer.map(octets));
        set(&mut config.nagle, self.nagle.map(Nagle::setting));
        if let Some(delay) = self.delayed_ack_ms {
            let timer = Duration::from_millis(delay.get().into());
            let preset = config.delayed_ack.unwrap_or(tcp::DelayedAck::new(timer));
            config.delayed_ack = (delay.get() > 0).then_some(tcp::DelayedAck { timer, ..preset });
        }
        set(&mut config.sack, self.sack);
        set(&mut config.timestamps, self.timestamps);
        set(&mut config.initial_window, self.initial_window.map(|window| window.get() as u8));
        set(&mut config.slow_start, self.slow_start);
        set(&mut config.congestion, self.congestion.map(Congestion::setting));
        set(&mut config.recovery, self.recovery.map(Recovery::setting));
        set(&mut config.ecn, self.ecn.map(Ecn::setting));
        set(&mut config.single_segment, self.single_segment);
        set(&mut config.tail_loss_probe, self.tail_loss_probe);
        set(&mut config.rto.initial, self.initial_rto_s.map(PositiveSeconds::duration));
        config.syn.timeout = self.syn_timeout_s.map(PositiveSeconds::duration);
        set(&mut config.syn.measured, self.syn_measured);
        set(&mut config.rto.after_syn_loss, self.rto_after_syn_loss_s.map(PositiveSeconds::duration));
        if let Some(min) = self.min_rto_s {
            // Linux adds its minimum to the round-trip time, in place of the granularity.
            let margin_is_minimum = config.rto.granularity == config.rto.min;
            config.rto.min = min.duration();
            if margin_is_minimum {
                config.rto.granularity = config.rto.min;
            }
        }
        set(&mut config.rto.max, self.max_rto_s.map(PositiveSeconds::duration));
        config
    }
}

impl Nagle {
    const fn setting(self) -> tcp::Nagle {
        match self {
            Self::Off => tcp::Nagle::Off,
            Self::Rfc896 => tcp::Nagle::Rfc896,
            Self::Minshall => tcp::Nagle::Minshall,
        }
    }
}

impl Congestion {
    const fn setting(self) -> tcp::CongestionControl {
        match self {
            Self::Reno => tcp::CongestionControl::Reno,
            Self::Cubic => tcp::CongestionControl::Cubic,
        }
    }
}

impl Recovery {
    const fn setting(self) -> tcp::Recovery {
        match self {
            Self::Reno => tcp::Recovery::Reno,
            Self::NewReno => tcp::Recovery::NewReno,
        }
    }
}

impl Ecn {
    const fn setting(self) -> tcp::Ecn {
        match self {
            Self::Off => tcp::Ecn::Off,
            Self::Accept => tcp::Ecn::Accept,
            Self::Request => tcp::Ecn::Request,
        }
    }
}

fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}
