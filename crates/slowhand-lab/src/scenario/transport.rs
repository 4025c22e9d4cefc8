//! `[transport]`: TCP at both ends of a TLS session, or DCCP below one of DTLS.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use slowhand_net::clock::Duration;
use slowhand_net::transport::dccp;
use slowhand_net::transport::tcp::{CongestionControl, DelayedAck, Ecn, Nagle, Recovery, TcpConfig};

use super::keys::table;
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

table! {
    /// DCCP (RFC 4340) with CCID 2 (RFC 4341), the same at both ends.
    pub struct Dccp(dccp::DccpConfig = dccp::DccpConfig::default()) {
        /// The initial congestion window, in packets. Default: 4 (RFC 4341 section 5, for packets of up to 1095 octets).
        pub initial_window: Option<Integer<1, 4>> = initial_window,
        /// The number of datagrams that wait at an end while its congestion window is full. One more is lost
        /// (`send_queue_full`). Default: 5 (`tx_qlen` of Linux).
        pub send_queue: Option<Integer<1, 1_000>> = send_queue,
        /// The number of data packets that an end acknowledges together. It acknowledges fewer of them 0.2 s after the first
        /// (RFC 4340 section 11.3). Default: 2 (RFC 4340 section 11.3); Linux uses 1.
        pub ack_ratio: Option<Integer<1, 2>> = ack_ratio,
        /// The first timeout of the connection's Request (RFC 4340 section 8.1.1), and the timeout after which data without an
        /// acknowledgement counts as lost, until a round trip is measured (RFC 6298 section 2.1): at most 60. Default: 1.
        pub initial_rto_s: Option<PositiveSeconds> = initial_rto,
    }
}

impl Dccp {
    /// The configuration.
    pub fn config(&self) -> dccp::DccpConfig {
        let mut config = dccp::DccpConfig::default();
        self.set(&mut config);
        config
    }
}

table! {
    /// TCP at one end: a preset, and the fields that differ from it.
    pub struct Tcp(TcpConfig = TcpConfig::linux()) {
        /// The preset that gives each key that is left out its value.
        pub preset: Option<Preset>,
        /// The maximum segment size, in octets of payload and options. The end announces it to the peer, and never sends
        /// larger segments. Presets: 1220 (`linux`: the minimum MTU of IPv6 less 60), 536 (`constrained`, assumed).
        pub mss: Option<Integer<64, 65_535>>,
        /// The size of the send buffer, in octets: data to send, and data without acknowledgement. Presets: 65536, 2144; at
        /// least four segments.
        pub send_buffer: Option<Integer<64, 1_073_741_824>> = send_buffer,
        /// The size of the receive buffer, in octets, and so the largest window. Presets: 65536, 2144; at least four
        /// segments.
        pub receive_buffer: Option<Integer<64, 1_073_741_824>> = receive_buffer,
        /// When a segment that is smaller than the MSS waits for more data. Presets: `minshall`, `off`.
        pub nagle: Option<Nagle> = nagle,
        /// The longest delay of an acknowledgement; 0: each segment is acknowledged at once. Presets: 40 (with Linux's quick
        /// acknowledgements at the beginning), 200 (assumed; the first author of Claeys et al. 2021 published 150).
        pub delayed_ack_ms: Option<AckDelay>,
        /// True to offer SACK (RFC 2018) and to use it for loss recovery (RFC 6675). Presets: true, true.
        pub sack: Option<bool> = sack,
        /// True to offer timestamps (RFC 7323). Presets: true, false.
        pub timestamps: Option<bool> = timestamps,
        /// The initial congestion window, in segments. Presets: 10 (RFC 6928), 1.
        pub initial_window: Option<Integer<1, 10>> = initial_window,
        /// True if the congestion window grows exponentially until the first loss (RFC 5681 section 3.1). Presets: true,
        /// true.
        pub slow_start: Option<bool> = slow_start,
        /// The congestion control after slow start. Presets: `cubic`, `reno`.
        pub congestion: Option<CongestionControl> = congestion,
        /// Loss recovery without SACK. Presets: `newreno`, `newreno`.
        pub recovery: Option<Recovery> = recovery,
        /// Explicit congestion notification (RFC 3168). Presets: `accept`, `off`.
        pub ecn: Option<Ecn> = ecn,
        /// True if at most one segment is unacknowledged, as in uIP. Presets: false, false.
        pub single_segment: Option<bool> = single_segment,
        /// True if the last segment of a flight is sent again after two round trips without an acknowledgement (tail loss
        /// probe, RFC 8985 section 7). Presets: true, false.
        pub tail_loss_probe: Option<bool> = tail_loss_probe,
        /// The retransmission timeout before the first measurement of the round-trip time. Presets: 1, 1 (RFC 6298
        /// section 2.1).
        pub initial_rto_s: Option<PositiveSeconds> = rto.initial,
        /// The first retransmission timeout of a SYN or SYN-ACK. Default: `initial_rto_s`.
        pub syn_timeout_s: Option<PositiveSeconds>,
        /// True if the handshake's round-trip time is measured. If false, the first data starts with `initial_rto_s`.
        /// Presets: true, true.
        pub syn_measured: Option<bool> = syn.measured,
        /// The retransmission timeout of the first data if the SYN or SYN-ACK was sent again. Presets: 3, 3 (RFC 6298
        /// section 5.7).
        pub rto_after_syn_loss_s: Option<PositiveSeconds> = rto.after_syn_loss,
        /// The minimum retransmission timeout. Presets: 0.2 (Linux), 1 (RFC 6298 section 2.4).
        pub min_rto_s: Option<PositiveSeconds>,
        /// The maximum retransmission timeout. Presets: 120 (Linux), 60 (RFC 6298 section 2.5).
        pub max_rto_s: Option<PositiveSeconds> = rto.max,
        /// True if segments and timers wait while the device computes. This models a scheduler that does not interrupt its
        /// tasks, when the network stack and the cryptography are such tasks. Default: false (Claeys et al. 2021, Fig. 8b:
        /// the device acknowledges the segment while it computes).
        pub waits_while_computing: bool,
    }
}

/// TCP at one end of a session.
#[derive(Debug)]
pub(crate) struct TcpEndpoint {
    pub(crate) tcp: TcpConfig,
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

/// The longest delay of an acknowledgement, in milliseconds; RFC 9293 section 3.8.6.3 allows less than 500.
pub type AckDelay = Integer<0, 500>;

impl Tcp {
    /// The end's TCP for a world. It starts from `preset` if the scenario names no preset.
    pub(crate) fn endpoint(&self, preset: Preset) -> TcpEndpoint {
        TcpEndpoint { tcp: self.config(preset), waits_while_computing: self.waits_while_computing }
    }

    /// The configuration. It starts from `preset` if the scenario names no preset.
    pub fn config(&self, preset: Preset) -> TcpConfig {
        let mut config = match self.preset.unwrap_or(preset) {
            Preset::Linux => TcpConfig::linux(),
            Preset::Constrained => TcpConfig::constrained(),
        };
        if let Some(mss) = self.mss {
            config.mss = mss.get() as u16;
            // The buffers of the presets are for segments of the presets; four is what `constrained` has room for.
            config.send_buffer = config.send_buffer.max(4 * mss.get());
            config.receive_buffer = config.receive_buffer.max(4 * mss.get());
            config.window_scale = config.window_scale.map(|shift| shift.min(config.mss.ilog2() as u8));
        }
        self.set(&mut config);
        if let Some(delay) = self.delayed_ack_ms {
            let timer = Duration::from_millis(delay.get().into());
            let preset = config.delayed_ack.unwrap_or(DelayedAck::new(timer));
            config.delayed_ack = (delay.get() > 0).then_some(DelayedAck { timer, ..preset });
        }
        config.syn.timeout = self.syn_timeout_s.map(PositiveSeconds::duration);
        if let Some(min) = self.min_rto_s {
            // Linux adds its minimum to the round-trip time, in place of the granularity.
            let margin_is_minimum = config.rto.granularity == config.rto.min;
            config.rto.min = min.duration();
            if margin_is_minimum {
                config.rto.granularity = config.rto.min;
            }
        }
        config
    }
}
