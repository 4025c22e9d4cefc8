//! `[transport]`: TCP at both ends of a TLS session, or DCCP below one of DTLS.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use slowhand_net::clock::Duration;
use slowhand_net::transport::{dccp, tcp};

use crate::input::{Integer, PositiveSeconds};

/// TCP (RFC 9293) at both ends. It carries the session if `session.protocol` is a version of TLS.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Transport {
    /// The client's TCP. Default: the `constrained` preset.
    pub client: Tcp,
    /// The server's TCP. Default: the `linux` preset if the server is on the Internet, else `constrained`.
    pub server: Tcp,
    /// DCCP at both ends. It carries the session if `session.carrier` is `dccp`.
    pub dccp: Dccp,
}

/// DCCP (RFC 4340) with CCID 2 (RFC 4341), the same at both ends.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dccp {
    /// The initial congestion window, in packets. Default: 4 (RFC 4341 section 5, for packets of up to 1095 octets).
    pub initial_window: Option<Integer<1, 4>>,
    /// How many datagrams wait at an end while its congestion window is full. One more is lost (`send_queue_full`). Default: 5
    /// (`tx_qlen` of Linux).
    pub send_queue: Option<Integer<1, 1_000>>,
    /// How many data packets an end acknowledges together. It acknowledges fewer of them 0.2 s after the first (RFC 4340 section
    /// 11.3). Default: 2 (RFC 4340 section 11.3); Linux uses 1.
    pub ack_ratio: Option<Integer<1, 2>>,
    /// The first timeout of the connection's Request (RFC 4340 section 8.1.1), and the timeout after which data without an
    /// acknowledgement counts as lost, until a round trip is measured (RFC 6298 section 2.1): at most 60. Default: 1.
    pub initial_rto_s: Option<PositiveSeconds>,
}

impl Dccp {
    /// The configuration.
    pub fn config(&self) -> dccp::DccpConfig {
        let mut config = dccp::DccpConfig::default();
        set(&mut config.initial_window, self.initial_window.map(Integer::get));
        set(&mut config.send_queue, self.send_queue.map(|datagrams| datagrams.get() as usize));
        set(&mut config.ack_ratio, self.ack_ratio.map(|ratio| ratio.get() as u16));
        set(&mut config.initial_rto, self.initial_rto_s.map(PositiveSeconds::duration));
        config
    }
}

/// TCP at one end: a preset, and the fields that differ from it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tcp {
    /// The preset that gives each key that is left out its value.
    pub preset: Option<Preset>,
    /// The maximum segment size, in octets of payload and options. The end announces it to the peer, and never sends
    /// larger segments. Presets: 1220 (`linux`: the minimum MTU of IPv6 less 60), 536 (`constrained`, assumed).
    pub mss: Option<Integer<64, 65_535>>,
    /// The size of the send buffer, in octets: data to send, and data without acknowledgment. Presets: 65536, 2144; at
    /// least four segments.
    pub send_buffer: Option<Integer<64, 1_073_741_824>>,
    /// The size of the receive buffer, in octets, and so the largest window. Presets: 65536, 2144; at least four
    /// segments.
    pub receive_buffer: Option<Integer<64, 1_073_741_824>>,
    /// When a segment that is smaller than the MSS waits for more data. Presets: `minshall`, `off`.
    pub nagle: Option<Nagle>,
    /// The longest delay of an acknowledgment; 0: each segment is acknowledged at once. Presets: 40 (with Linux's quick
    /// acknowledgments at the beginning), 200 (assumed; the first author of Claeys et al. 2021 published 150).
    pub delayed_ack_ms: Option<AckDelay>,
    /// True to offer SACK (RFC 2018) and to use it for loss recovery (RFC 6675). Presets: true, true.
    pub sack: Option<bool>,
    /// True to offer timestamps (RFC 7323). Presets: true, false.
    pub timestamps: Option<bool>,
    /// The initial congestion window, in segments. Presets: 10 (RFC 6928), 1.
    pub initial_window: Option<Integer<1, 10>>,
    /// True if the congestion window grows exponentially until the first loss (RFC 5681 section 3.1). Presets: true,
    /// true.
    pub slow_start: Option<bool>,
    /// The congestion control after slow start. Presets: `cubic`, `reno`.
    pub congestion: Option<Congestion>,
    /// Loss recovery without SACK. Presets: `newreno`, `newreno`.
    pub recovery: Option<Recovery>,
    /// Explicit congestion notification (RFC 3168). Presets: `accept`, `off`.
    pub ecn: Option<Ecn>,
    /// True if at most one segment is unacknowledged, as in uIP. Presets: false, false.
    pub single_segment: Option<bool>,
    /// True if the last segment of a flight is sent again after two round trips without an acknowledgment (tail loss
    /// probe, RFC 8985 section 7). Presets: true, false.
    pub tail_loss_probe: Option<bool>,
    /// The retransmission timeout before the first measurement of the round-trip time. Presets: 1, 1 (RFC 6298
    /// section 2.1).
    pub initial_rto_s: Option<PositiveSeconds>,
    /// The first retransmission timeout of a SYN or SYN-ACK. Default: `initial_rto_s`.
    pub syn_timeout_s: Option<PositiveSeconds>,
    /// True if the handshake's round-trip time is measured. If false, the first data starts with `initial_rto_s`.
    /// Presets: true, true.
    pub syn_measured: Option<bool>,
    /// The retransmission timeout of the first data if the SYN or SYN-ACK was sent again. Presets: 3, 3 (RFC 6298
    /// section 5.7).
    pub rto_after_syn_loss_s: Option<PositiveSeconds>,
    /// The minimum retransmission timeout. Presets: 0.2 (Linux), 1 (RFC 6298 section 2.4).
    pub min_rto_s: Option<PositiveSeconds>,
    /// The maximum retransmission timeout. Presets: 120 (Linux), 60 (RFC 6298 section 2.5).
    pub max_rto_s: Option<PositiveSeconds>,
    /// True if segments and timers wait while the device computes. This models a scheduler that does not interrupt its
    /// tasks, when the network stack and the cryptography are such tasks. Default: false (Claeys et al. 2021, Fig. 8b:
    /// the device acknowledges the segment while it computes).
    pub waits_while_computing: bool,
}

/// TCP at one end of a session.
#[derive(Debug)]
pub(crate) struct TcpEndpoint {
    pub(crate) tcp: tcp::TcpConfig,
    /// True if segments and timers wait while the device computes.
    pub(crate) waits_while_computing: bool,
}

/// The values of a TCP implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// The defaults of Linux 6.
    Linux,
    /// A class-1 device (RFC 7228): the values of Claeys et al. (Sensors 2021), otherwise those that the RFCs
    /// recommend, or assumed ones.
    Constrained,
}

/// When a segment that is smaller than the MSS waits for more data.
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

/// The congestion control after slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Congestion {
    /// RFC 5681.
    Reno,
    /// RFC 9438.
    Cubic,
}

/// Loss recovery without SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Recovery {
    /// RFC 5681 section 3.2.
    Reno,
    /// RFC 6582.
    NewReno,
}

/// How an end negotiates ECN (RFC 3168 section 6.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ecn {
    /// The end neither requests nor accepts ECN.
    Off,
    /// The end accepts ECN if the peer requests it.
    Accept,
    /// The end requests and accepts ECN.
    Request,
}

/// The longest delay of an acknowledgment, in milliseconds; RFC 9293 section 3.8.6.3 allows less than 500.
pub type AckDelay = Integer<0, 500>;

impl Tcp {
    /// The end's TCP for a world. It starts from `preset` if the scenario names no preset.
    pub(crate) fn endpoint(&self, preset: Preset) -> TcpEndpoint {
        TcpEndpoint { tcp: self.config(preset), waits_while_computing: self.waits_while_computing }
    }

    /// The configuration. It starts from `preset` if the scenario names no preset.
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
