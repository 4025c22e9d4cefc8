//! Every knob of a connection, and two presets.

use crate::clock::Duration;

use super::options::MAX_WINDOW_SCALE;

/// The largest initial window, in segments (RFC 6928).
const MAX_INITIAL_WINDOW: u8 = 10;

/// The largest buffer: the largest window that can be announced (RFC 7323 section 2.3).
const MAX_BUFFER: u32 = 1 << 30;

/// The smallest MSS: the 40 octets of options that a header can have must fit into it.
const MIN_MSS: u16 = 64;

/// What a connection does where the standards leave a choice. The two presets,
/// [`linux`](Self::linux) and [`constrained`](Self::constrained), are the ends between which
/// the experiments move; a scenario starts from one and changes single fields.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpConfig {
    /// The largest segment, in octets of payload and options: announced to the peer, and the
    /// limit of what is sent to it. Presets: 1220 and 536. Smaller segments mean more headers
    /// and fewer 6LoWPAN fragments that are lost together. Allowed: from 64.
    pub mss: u16,
    /// The octets that wait for an acknowledgment or to be sent. Presets: 65,536 and 2,144.
    pub send_buffer: u32,
    /// The octets that wait to be read; the largest window announced. Presets: as above.
    pub receive_buffer: u32,
    /// The shift of the windows we announce, or no window scale option (RFC 7323 section 2).
    /// Presets: 7 and none. Without it windows end at 65,535 octets; windows are
    /// multiples of 2^shift, so the shift may be log2 of the MSS at most.
    pub window_scale: Option<u8>,
    /// Whether to offer timestamps (RFC 7323 section 3). Presets: on and off. Costs 12 octets a
    /// segment; gives a round-trip time for each acknowledgment, of retransmissions too.
    pub timestamps: bool,
    /// Whether to offer SACK (RFC 2018) and recover by it (RFC 6675). Presets: on and on.
    /// Repairs many losses of a window in one round trip; off, it takes one for each.
    pub sack: bool,
    /// Whether to report duplicates in the first SACK block (RFC 2883). Presets: on and off.
    pub duplicate_sack: bool,
    /// Whether to negotiate ECN and react to it (RFC 3168). Presets: accept and off.
    pub ecn: Ecn,
    /// When a segment smaller than the MSS waits for more data. Presets: Minshall and off.
    pub nagle: Nagle,
    /// Whether and how acknowledgments wait for company; none: each segment is acknowledged at
    /// once. Presets: 40 ms and 200 ms.
    pub delayed_ack: Option<DelayedAck>,
    /// The congestion window that a connection starts with, in segments, 1 to 10. Presets: 10
    /// (RFC 6928) and 1.
    pub initial_window: u8,
    /// Whether the window opens exponentially until the first loss (RFC 5681 section 3.1). Off:
    /// it opens by one segment a round trip from the beginning, and also after a timeout.
    /// Presets: on and on.
    pub slow_start: bool,
    /// How many segments' worth one acknowledgment may open the window by in slow start: 1 as
    /// in RFC 5681, 2 as in RFC 3465, `u8::MAX` as in Linux, which counts all that was
    /// acknowledged. Presets: `u8::MAX` and 1.
    pub slow_start_limit: u8,
    /// How the window moves after slow start. Presets: CUBIC and Reno.
    pub congestion: CongestionControl,
    /// How losses are repaired where SACK was not negotiated. Presets: NewReno and NewReno.
    pub recovery: Recovery,
    /// Whether the first two duplicate acknowledgments release a new segment each (RFC 3042).
    /// Presets: on and on.
    pub limited_transmit: bool,
    /// Whether fewer duplicates suffice where fewer than four segments are in flight and
    /// nothing waits to be sent (RFC 5827, with SACK), after a quarter of a round trip in which
    /// late segments may still arrive. Presets: on and off. Linux gets there by RACK
    /// (RFC 8985), which is not modelled: this is what of it shows in the flights of a handshake.
    pub early_retransmit: bool,
    /// Whether a recovery by SACK that has nothing else to send may send the end of the flight
    /// again, once, in case it was lost too (RFC 6675 section 4, `NextSeg` rule 4, a SHOULD).
    /// Presets: off (Linux does not) and off (it is mostly in vain). Costs a segment for each
    /// recovery, saves a timeout where the tail was lost as well.
    pub rescue_retransmission: bool,
    /// Whether at most one segment is unacknowledged, as in uIP (Dunkels 2003, "Full TCP/IP for
    /// 8-bit architectures"). Presets: off and off. Removes pipelining: one round trip a
    /// segment, and with a peer that delays acknowledgments its delay on top.
    pub single_segment: bool,
    /// Whether the last segment of a flight is sent again (or a new one is sent) after two
    /// round trips without an acknowledgment, so that the loss of a tail is found before the
    /// retransmission timer (the TLP part of RFC 8985 section 7; needs SACK). Presets: on, off.
    pub tail_loss_probe: bool,
    /// The retransmission timer.
    pub rto: Rto,
    /// The retransmission of SYN and SYN-ACK.
    pub syn: Syn,
    /// How often data is retransmitted by timeout before the connection is given up. Presets:
    /// 15 (Linux `tcp_retries2`) and 12 (`TCP_MAXRTX` of lwIP).
    pub retries: u8,
    /// Probes on an idle connection; none: an idle connection lives for ever. Presets: none.
    pub keep_alive: Option<KeepAlive>,
    /// How long the side that closed first remembers the connection (RFC 9293 section 3.4.2:
    /// twice the maximum segment lifetime). Presets: 60 s (Linux `TCP_TIMEWAIT_LEN`) and 60 s.
    pub time_wait: Duration,
}

/// The part played in ECN (RFC 3168 section 6.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// Neither asked for nor accepted.
    Off,
    /// Accepted from a peer that asks (Linux `tcp_ecn` = 2, its default).
    Accept,
    /// Asked for, and accepted (Linux `tcp_ecn` = 1).
    Request,
}

/// When a segment smaller than the MSS waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nagle {
    /// Never (`TCP_NODELAY`): lowest delay, most headers.
    Off,
    /// While anything is unacknowledged (RFC 896; Algorithm 1 of Claeys et al. 2021).
    Rfc896,
    /// While a segment smaller than the MSS is unacknowledged (Minshall's variant, Linux's).
    Minshall,
}

/// Delayed acknowledgments (RFC 9293 section 3.8.6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedAck {
    /// How long one waits, at most 0.5 s.
    pub timer: Duration,
    /// With which full-sized segment the acknowledgment is due; RFC 5681 section 4.2 allows 2
    /// at most.
    pub every: u8,
    /// How many acknowledgments go out at once at the beginning and after a duplicate, to let
    /// the peer's window open; suspended while we answer data with data within the timer, and
    /// by the peer's FIN. Linux: 16 (`TCP_MAX_QUICKACKS`); no RFC has it.
    pub quick: u8,
}

impl DelayedAck {
    /// What RFC 5681 section 4.2 recommends: every second full-sized segment is acknowledged, the others after `timer`.
    pub const fn new(timer: Duration) -> Self {
        Self { timer, every: 2, quick: 0 }
    }
}

/// How the congestion window moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionControl {
    /// Additive increase, multiplicative decrease (RFC 5681).
    Reno,
    /// A cubic of the time since the last decrease (RFC 9438).
    Cubic,
}

/// How losses are repaired without SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Fast retransmit, and fast recovery that ends with the first new acknowledgment
    /// (RFC 5681 section 3.2).
    Reno,
    /// Fast recovery that goes on until all is acknowledged that was in flight when it began
    /// (RFC 6582, the variant that restarts the timer with each partial acknowledgment).
    NewReno,
}

/// The retransmission timer (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rto {
    /// Before there is a measurement. RFC 6298 section 2.1: 1 s.
    pub initial: Duration,
    /// Where a SYN or SYN-ACK had to be retransmitted and no round trip was measured.
    /// RFC 6298 section 5.7: 3 s.
    pub after_syn_loss: Duration,
    /// Never less. RFC 6298 section 2.4: 1 s; Linux 200 ms.
    pub min: Duration,
    /// Never more, with back-off. RFC 6298 section 2.5: at least 60 s; Linux 120 s.
    pub max: Duration,
    /// The least that is added to the smoothed round-trip time: the clock granularity G of
    /// RFC 6298 section 2. Linux adds its minimum of 200 ms here, to the round-trip time, where
    /// RFC 6298 applies its minimum to the sum.
    pub granularity: Duration,
}

/// The retransmission of SYN and SYN-ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Syn {
    /// How long before it is sent again for the first time; none: [`Rto::initial`]. Presets: none and none (RFC 6298
    /// section 2.1).
    pub timeout: Option<Duration>,
    /// Whether its round trip is a measurement. Presets: yes and yes (RFC 6298 section 2). Without it data begins with
    /// [`Rto::initial`], as on the nodes of Claeys et al. 2021 (section 4.1: "initialized at 1 s upon completion of the
    /// TCP handshake").
    pub measured: bool,
    /// How often a SYN (or SYN-ACK) is retransmitted before the connection is given up. Linux:
    /// 6 (`tcp_syn_retries`).
    pub retries: u8,
    /// How many of the first retransmissions of a SYN come without doubling the timeout. Linux:
    /// 4 (`tcp_syn_linear_timeouts`); RFC 6298: 0. A SYN-ACK always doubles.
    pub linear_timeouts: u8,
}

/// Probes on an idle connection (RFC 9293 section 3.8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// How long nothing is received before the first probe.
    pub idle: Duration,
    /// From one probe to the next.
    pub interval: Duration,
    /// How many probes stay without answer before the connection is given up.
    pub probes: u8,
}

impl TcpConfig {
    /// A host on the Internet with the defaults of Linux 6.18, over the minimum MTU of IPv6
    /// (1280 octets). Sources: the kernel's `Documentation/networking/ip-sysctl.rst` and
    /// `include/net/tcp.h`, and the golden traces in `tests/tcp_golden`, which were recorded
    /// from it.
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

    /// A class-1 device. From Claeys et al. 2021: MSS, Nagle, SACK and delayed ACKs are the
    /// options it has (Table 1; no others are named), the first timeout is 1 s and 3 s after a
    /// lost SYN-ACK (section 5), and Nagle is varied (Table 2, here off). From RFC 5681 and
    /// RFC 6298 the values they recommend for all else. Assumed: MSS 536 with buffers for four
    /// segments, initial window of one segment, an acknowledgment delay of 200 ms, and no window
    /// scale or timestamps, which windows this small do not need.
    pub fn constrained() -> Self {
        Self {
            mss: 536,
            send_buffer: 2_144,
            receive_buffer: 2_144,
            window_scale: None,
            timestamps: false,
            sack: true,
            duplicate_sack: false,
            ecn: Ecn::Off,
            nagle: Nagle::Off,
            delayed_ack: Some(DelayedAck::new(Duration::from_millis(200))),
            initial_window: 1,
            slow_start: true,
            slow_start_limit: 1,
            congestion: CongestionControl::Reno,
            recovery: Recovery::NewReno,
            limited_transmit: true,
            early_retransmit: false,
            rescue_retransmission: false,
            single_segment: false,
            tail_loss_probe: false,
            rto: Rto {
                initial: Duration::from_secs(1),
                after_syn_loss: Duration::from_secs(3),
                min: Duration::from_secs(1),
                max: Duration::from_secs(60),
                granularity: Duration::from_millis(1),
            },
            syn: Syn { timeout: None, measured: true, retries: 6, linear_timeouts: 0 },
            retries: 12,
            keep_alive: None,
            time_wait: Duration::from_secs(60),
        }
    }

    /// Whether the fields make sense together.
    ///
    /// # Errors
    /// The first field that does not, with what it may be.
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
            // A window of one segment must not be rounded to nothing.
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

/// A field of [`TcpConfig`] with a value that it cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tcp {field} = {value}: allowed are {min} to {max}")]
pub struct ConfigError {
    /// The field.
    pub field: &'static str,
    /// What was found.
    pub value: u64,
    /// The least allowed.
    pub min: u64,
    /// The most allowed.
    pub max: u64,
}
