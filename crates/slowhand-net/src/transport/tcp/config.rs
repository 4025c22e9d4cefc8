//! The configuration of a connection, and two presets.

use crate::clock::Duration;

use super::options::MAX_WINDOW_SCALE;

/// The largest initial window, in segments (RFC 6928).
const MAX_INITIAL_WINDOW: u8 = 10;

/// The largest buffer: the largest window that can be announced (RFC 7323 section 2.3).
const MAX_BUFFER: u32 = 1 << 30;

/// The smallest MSS: the largest options of a header, 40 octets, must fit into it.
const MIN_MSS: u16 = 64;

/// The parameters that the standards leave open. A scenario starts from one of two presets,
/// [`linux`](Self::linux) and [`constrained`](Self::constrained), and changes single fields. Each field
/// names the values of both presets, in this order.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpConfig {
    /// The maximum segment size, in octets of payload and options. The connection announces it to the
    /// peer, and never sends larger segments. Presets: 1220 and 536. Smaller segments need more headers,
    /// but fewer 6LoWPAN fragments are lost together. Allowed: from 64.
    pub mss: u16,
    /// The size of the send buffer, in octets: data to send, and data without acknowledgement. Presets: 65,536 and
    /// 2,144.
    pub send_buffer: u32,
    /// The size of the receive buffer, in octets, and so the largest window. Presets: 65,536 and 2,144.
    pub receive_buffer: u32,
    /// The shift of the announced windows; none: no window scale option (RFC 7323 section 2). Presets:
    /// 7 and none. Without the option, the largest window is 65,535 octets. Windows are multiples of
    /// 2^shift, so the shift may be log2 of the MSS at most.
    pub window_scale: Option<u8>,
    /// True to offer timestamps (RFC 7323 section 3). Presets: on and off. They cost 12 octets in each
    /// segment. They give a round-trip time for each acknowledgement, also of retransmissions.
    pub timestamps: bool,
    /// True to offer SACK (RFC 2018) and to use it for loss recovery (RFC 6675). Presets: on and on.
    /// SACK repairs several losses in a window in one round trip; without it, each takes one.
    pub sack: bool,
    /// True to report duplicates in the first SACK block (RFC 2883). Presets: on and off.
    pub duplicate_sack: bool,
    /// The use of ECN (RFC 3168). Presets: accept and off.
    pub ecn: Ecn,
    /// When a segment that is smaller than the MSS waits for more data. Presets: Minshall and off.
    pub nagle: Nagle,
    /// The delay of acknowledgements; none: each segment is acknowledged at once. Presets: 40 ms and
    /// 200 ms.
    pub delayed_ack: Option<DelayedAck>,
    /// The initial congestion window, in segments, 1 to 10. Presets: 10 (RFC 6928) and 1.
    pub initial_window: u8,
    /// True if the window grows exponentially until the first loss (RFC 5681 section 3.1). Off: it grows
    /// by one segment in each round trip from the beginning, and also after a timeout. Presets: on and
    /// on.
    pub slow_start: bool,
    /// The largest increase of the window by one acknowledgement in slow start, in segments: 1 as in RFC
    /// 5681, 2 as in RFC 3465, `u8::MAX` as in Linux, which has no limit. Presets: `u8::MAX` and 1.
    pub slow_start_limit: u8,
    /// The congestion control after slow start. Presets: CUBIC and Reno.
    pub congestion: CongestionControl,
    /// Loss recovery without SACK. Presets: NewReno and NewReno.
    pub recovery: Recovery,
    /// True if each of the first two duplicate acknowledgements allows one new segment (RFC 3042).
    /// Presets: on and on.
    pub limited_transmit: bool,
    /// True if fewer than three duplicate acknowledgements indicate a loss while fewer than four segments
    /// are in flight and there is nothing to send (RFC 5827, with SACK). The sender then waits for a
    /// quarter of a round trip, in case segments are only late. Presets: on and off. Linux uses RACK
    /// (RFC 8985) for this, which is not modelled. For the short flights of a handshake, the effect is
    /// the same.
    pub early_retransmit: bool,
    /// True if a recovery by SACK may send the end of the flight again, once, when there is nothing else
    /// to send (RFC 6675 section 4, `NextSeg` rule 4, a SHOULD). Presets: off (as in Linux) and off (it
    /// is mostly spurious). It costs a segment for each recovery, but saves a timeout if the end of the
    /// flight was lost too.
    pub rescue_retransmission: bool,
    /// True if at most one segment is unacknowledged, as in uIP (Dunkels 2003, "Full TCP/IP for
    /// 8-bit architectures"). Presets: off and off. Then each segment takes a round trip, and also the
    /// peer's delay of acknowledgements.
    pub single_segment: bool,
    /// True if the last segment of a flight is sent again (or a new one is sent) after two round trips
    /// without an acknowledgement. This detects the loss of the last segments before the retransmission
    /// timer does (tail loss probe, RFC 8985 section 7; it needs SACK). Presets: on and off.
    pub tail_loss_probe: bool,
    /// The retransmission timer.
    pub rto: Rto,
    /// The retransmission of SYN and SYN-ACK.
    pub syn: Syn,
    /// The number of timeouts for the same data before the connection fails. Presets: 15 (Linux
    /// `tcp_retries2`) and 12 (`TCP_MAXRTX` of lwIP).
    pub retries: u8,
    /// Probes on an idle connection; none: an idle connection never fails. Presets: none and none.
    pub keep_alive: Option<KeepAlive>,
    /// The time in TIME-WAIT (RFC 9293 section 3.4.2: twice the maximum segment lifetime). Presets: 60 s
    /// (Linux `TCP_TIMEWAIT_LEN`) and 60 s.
    pub time_wait: Duration,
}

/// An end's part in the negotiation of ECN (RFC 3168 section 6.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Ecn {
    /// The end neither requests nor accepts ECN.
    Off,
    /// The end accepts ECN if the peer requests it (Linux `tcp_ecn` = 2, the default there).
    Accept,
    /// The end requests and accepts ECN (Linux `tcp_ecn` = 1).
    Request,
}

/// When a segment that is smaller than the MSS waits for more data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Nagle {
    /// Never (`TCP_NODELAY`): lowest delay, most headers.
    Off,
    /// While anything is unacknowledged (RFC 896; Algorithm 1 of Claeys et al. 2021).
    Rfc896,
    /// While a segment smaller than the MSS is unacknowledged (Minshall's variant, Linux's).
    Minshall,
}

/// Delayed acknowledgements (RFC 9293 section 3.8.6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedAck {
    /// The longest delay, at most 0.5 s.
    pub timer: Duration,
    /// The number of full-sized segments for each acknowledgement; RFC 5681 section 4.2 allows 2 at most.
    pub every: u8,
    /// The number of acknowledgements without delay at the beginning and after a duplicate, so that the
    /// peer's window grows fast. They are suspended while this side answers data with data before the
    /// timer expires, and by the peer's FIN. Linux: 16 (`TCP_MAX_QUICKACKS`); it is in no RFC.
    pub quick: u8,
}

impl DelayedAck {
    /// As RFC 5681 section 4.2 recommends: an acknowledgement for every second full-sized segment, and otherwise after
    /// `timer`.
    pub const fn new(timer: Duration) -> Self {
        Self { timer, every: 2, quick: 0 }
    }
}

/// The congestion control after slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum CongestionControl {
    /// Additive increase, multiplicative decrease (RFC 5681).
    Reno,
    /// A cubic function of the time since the last decrease (RFC 9438).
    Cubic,
}

/// Loss recovery without SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Recovery {
    /// Fast retransmit, and fast recovery that ends with the first new acknowledgement
    /// (RFC 5681 section 3.2).
    Reno,
    /// Fast recovery that lasts until all data is acknowledged that was in flight when it began
    /// (RFC 6582, the variant that restarts the timer with each partial acknowledgement).
    NewReno,
}

/// The retransmission timer (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rto {
    /// The timeout before the first measurement. RFC 6298 section 2.1: 1 s.
    pub initial: Duration,
    /// The timeout after a retransmission of SYN or SYN-ACK, if no round trip was measured.
    /// RFC 6298 section 5.7: 3 s.
    pub after_syn_loss: Duration,
    /// The minimum. RFC 6298 section 2.4: 1 s; Linux: 200 ms.
    pub min: Duration,
    /// The maximum, back-off included. RFC 6298 section 2.5: at least 60 s; Linux: 120 s.
    pub max: Duration,
    /// The smallest value that is added to the smoothed round-trip time: the clock granularity G of
    /// RFC 6298 section 2. Linux uses its minimum of 200 ms here, while RFC 6298 applies the minimum to
    /// the sum.
    pub granularity: Duration,
}

/// The retransmission of SYN and SYN-ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Syn {
    /// The first timeout; none: [`Rto::initial`]. Presets: none and none (RFC 6298 section 2.1).
    pub timeout: Option<Duration>,
    /// True if the round trip of the SYN is a measurement. Presets: on and on (RFC 6298 section 2). Off: data begins
    /// with [`Rto::initial`], as on the nodes of Claeys et al. 2021 (section 4.1: "initialized at 1 s upon completion
    /// of the TCP handshake").
    pub measured: bool,
    /// The number of retransmissions of SYN or SYN-ACK before the connection fails. Linux: 6
    /// (`tcp_syn_retries`).
    pub retries: u8,
    /// The number of first retransmissions of a SYN that do not double the timeout. Linux: 4
    /// (`tcp_syn_linear_timeouts`); RFC 6298: 0. Retransmissions of a SYN-ACK always double it.
    pub linear_timeouts: u8,
}

/// Probes on an idle connection (RFC 9293 section 3.8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// The idle time before the first probe.
    pub idle: Duration,
    /// The time between two probes.
    pub interval: Duration,
    /// The number of probes without an answer before the connection fails.
    pub probes: u8,
}

impl TcpConfig {
    /// A host on the Internet with the defaults of Linux 6.18, and the minimum MTU of IPv6 (1280
    /// octets). Sources: the kernel's `Documentation/networking/ip-sysctl.rst` and
    /// `include/net/tcp.h`, and the traces in `tests/net/tcp/golden`, which were recorded from this kernel.
    pub fn linux() -> Self {
        Self {
            mss: 1220,
            send_buffer: 65_536,
            receive_buffer: 65_536,
            window_scale: Some(7),
            timestamps: true,
            sack: true,
            duplicate_sack: true,
            ecn: Ecn::Accept,
            nagle: Nagle::Minshall,
            delayed_ack: Some(DelayedAck { quick: 16, ..DelayedAck::new(Duration::from_millis(40)) }),
            initial_window: 10,
            slow_start: true,
            slow_start_limit: u8::MAX,
            congestion: CongestionControl::Cubic,
            recovery: Recovery::NewReno,
            limited_transmit: true,
            early_retransmit: true,
            rescue_retransmission: false,
            single_segment: false,
            tail_loss_probe: true,
            rto: Rto {
                initial: Duration::from_secs(1),
                after_syn_loss: Duration::from_secs(3),
                min: Duration::from_millis(200),
                max: Duration::from_secs(120),
                granularity: Duration::from_millis(200),
            },
            syn: Syn { timeout: None, measured: true, retries: 6, linear_timeouts: 4 },
            retries: 15,
            keep_alive: None,
            time_wait: Duration::from_secs(60),
        }
    }

    /// A class-1 device. From Claeys et al. 2021: its TCP has MSS, Nagle, SACK and delayed ACKs (Table
    /// 1; no other options are named). The first timeout is 1 s, and 3 s after a lost SYN-ACK (section
    /// 5). Nagle is varied (Table 2), here it is off. Other values are those that RFC 5681 and RFC 6298
    /// recommend. Assumed: MSS 536, buffers for four segments, an initial window of one segment, an
    /// acknowledgement delay of 200 ms, and no window scale or timestamps, because such small windows do
    /// not need them. Fields that are not set here are as in [`linux`](Self::linux).
    ///
    /// The paper does not give the acknowledgement delay. Its first author published a TCP with 150 ms, which
    /// the scenario of the paper has (papers/claeys2021/README.md). The paper's tables do not tell 150 ms
    /// from 200 ms. The preset keeps 200 ms: it is for any such device, and it is the delay that Linux
    /// expects of a peer (its tail loss probe waits so long for the acknowledgement of one segment).
    pub fn constrained() -> Self {
        let linux = Self::linux();
        Self {
            mss: 536,
            send_buffer: 2_144,
            receive_buffer: 2_144,
            window_scale: None,
            timestamps: false,
            duplicate_sack: false,
            ecn: Ecn::Off,
            nagle: Nagle::Off,
            delayed_ack: Some(DelayedAck::new(Duration::from_millis(200))),
            initial_window: 1,
            slow_start_limit: 1,
            congestion: CongestionControl::Reno,
            early_retransmit: false,
            tail_loss_probe: false,
            rto: Rto {
                min: Duration::from_secs(1),
                max: Duration::from_secs(60),
                granularity: Duration::from_millis(1),
                initial: Duration::from_secs(1),
                after_syn_loss: Duration::from_secs(3),
            },
            syn: Syn { linear_timeouts: 0, ..linux.syn },
            retries: 12,
            ..linux
        }
    }

    /// Checks that all fields have allowed values.
    ///
    /// # Errors
    /// The first field that does not, with its allowed range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let in_range = |field, value: u64, min: u64, max: u64| {
            if (min..=max).contains(&value) { Ok(()) } else { Err(ConfigError { field, value, min, max }) }
        };
        let us = Duration::as_micros;
        let day = us(Duration::from_secs(86_400));
        let smallest_buffer = u64::from(self.mss);
        let buffer_limit = u64::from(MAX_BUFFER);
        in_range("mss", self.mss.into(), MIN_MSS.into(), u16::MAX.into())?;
        in_range("send_buffer", self.send_buffer.into(), smallest_buffer, buffer_limit)?;
        in_range("receive_buffer", self.receive_buffer.into(), smallest_buffer, buffer_limit)?;
        if let Some(shift) = self.window_scale {
            // A window of one segment must not be rounded to zero.
            let coarsest = self.mss.ilog2().min(MAX_WINDOW_SCALE.into());
            in_range("window_scale", shift.into(), 0, coarsest.into())?;
        }
        in_range("initial_window", self.initial_window.into(), 1, MAX_INITIAL_WINDOW.into())?;
        in_range("slow_start_limit", self.slow_start_limit.into(), 1, u8::MAX.into())?;
        if let Some(delayed) = self.delayed_ack {
            in_range("delayed_ack.timer (us)", us(delayed.timer), 1, 500_000)?;
            in_range("delayed_ack.every", delayed.every.into(), 1, 2)?;
        }
        in_range("rto.max (us)", us(self.rto.max), 1, day)?;
        in_range("rto.min (us)", us(self.rto.min), 1, us(self.rto.max))?;
        in_range("rto.initial (us)", us(self.rto.initial), 1, us(self.rto.max))?;
        in_range("rto.after_syn_loss (us)", us(self.rto.after_syn_loss), 1, us(self.rto.max))?;
        if let Some(timeout) = self.syn.timeout {
            in_range("syn.timeout (us)", us(timeout), 1, us(self.rto.max))?;
        }
        in_range("rto.granularity (us)", us(self.rto.granularity), 0, us(self.rto.max))?;
        if let Some(keep) = self.keep_alive {
            in_range("keep_alive.idle (us)", us(keep.idle), 1, 30 * day)?;
            in_range("keep_alive.interval (us)", us(keep.interval), 1, 30 * day)?;
        }
        in_range("time_wait (us)", us(self.time_wait), 0, day)
    }
}

/// A field of [`TcpConfig`] with a value that is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tcp {field} = {value}: allowed are {min} to {max}")]
pub struct ConfigError {
    /// The field.
    pub field: &'static str,
    /// The value.
    pub value: u64,
    /// The smallest allowed value.
    pub min: u64,
    /// The largest allowed value.
    pub max: u64,
}
