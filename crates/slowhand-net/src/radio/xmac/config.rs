//! The constants of X-MAC, and their sources.

use super::frame::ack_octets;
use super::retry::Retry;
use crate::clock::Duration;
use crate::radio::contention::{BACKOFF_PERIOD, TURNAROUND};
use crate::radio::frame::{FCS, Security};
use crate::radio::phy::air_time;

/// The constants of an X-MAC network. [`XmacConfig::cxmac`] gives those of Contiki.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XmacConfig {
    /// The period of a node's wake-ups.
    pub check_interval: Duration,
    /// The time that its radio is on in each wake-up, if nothing happens. Shorter than the check interval.
    pub awake: Duration,
    /// From the start of one strobe to that of the next. The radio also listens for this time before the first strobe.
    pub strobe_gap: Duration,
    /// The node sends no strobe later than this after it switched the radio on for the train.
    pub strobe_limit: Duration,
    /// From the decision to send a strobe to its first symbol.
    pub strobe_delay: Duration,
    /// From the last symbol of a strobe to the first of its acknowledgement.
    pub strobe_ack_delay: Duration,
    /// From the last symbol of a strobe acknowledgement to the first of the data frame.
    pub data_delay: Duration,
    /// The strobes begin this long before the expected wake-up of the neighbour.
    pub phase_lead: Duration,
    /// The number of neighbours whose wake-up times a node remembers. 0 switches phase learning off.
    pub encounters: usize,
    /// True if a node cannot run its wake-up timer while it sends. A wake-up (or its end) that is due meanwhile happens
    /// after sending, and later ones count from there.
    pub sending_delays_wake_ups: bool,
    /// True if a node receives a frame to its end, although the wake-up in which it began ends before.
    pub finishes_reception: bool,
    /// True if the radio assesses the channel before each frame, and does not send if it is busy. The layer above does
    /// not notice: such a data frame counts as sent.
    pub assess_channel: bool,
    /// True if data frames are acknowledged, and repeated without acknowledgement. If false, the loss of a data frame
    /// is not noticed.
    pub data_ack: bool,
    /// The time that a node waits for the acknowledgement of a data frame.
    pub data_ack_wait: Duration,
    /// The security of all frames, strobes included. `None`: none. It carries a frame counter.
    pub security: Option<Security>,
    /// The fate of a frame that was not sent.
    pub retry: Retry,
    /// The most frames in a node's queue.
    pub queue: usize,
    /// The most neighbours for which a node can queue frames at the same time.
    pub neighbor_queues: usize,
}

impl XmacConfig {
    /// Contiki's CX-MAC on a WiSMote: an X-MAC that reports data frames as sent without an acknowledgement.
    ///
    /// Sources: Contiki, commit 32b5b17f6: `core/net/mac/cxmac/cxmac.c` for the MAC, `core/net/mac/csma.c` for the
    /// layer of retries above it, `dev/cc2520/cc2520.c` for the radio, `platform/wismote/contiki-conf.h`. One tick of
    /// its fast clock is 1/32,768 s, one of its slow clock 1/128 s. `check_interval` is 1 s divided by
    /// `NETSTACK_RDC_CHANNEL_CHECK_RATE`, a power of two. Releases up to 2.7 have the same MAC with another layer of
    /// retries: [`Retry::LINEAR`].
    pub fn cxmac(check_interval: Duration) -> Self {
        let on = Self::ON_TIME;
        Self {
            check_interval,
            // The timer of the power cycle runs on the slow clock: the on-time becomes one tick.
            awake: Duration::from_micros(1_000_000 / 128),
            // `DEFAULT_STROBE_WAIT_TIME`, 7/8 of the on-time: 178 fast ticks.
            strobe_gap: Duration::from_micros(178 * 1_000_000 / 32_768),
            // `strobe_time`, 4 on-times and the off-time.
            strobe_limit: check_interval + on * 3,
            // Channel assessment of 8 symbols and turnaround of 12: the 320 us of the driver. The time that the
            // processor needs to load the radio is left out.
            strobe_delay: Duration::from_micros(320),
            // `WAIT_TIME_BEFORE_STROBE_ACK`, 1/1000 s: the time that earlier versions gave the receiver.
            strobe_ack_delay: Duration::from_millis(1),
            // Assumed: the processor needs the same time as for a strobe acknowledgement.
            data_delay: Duration::from_millis(1),
            // "2 * DEFAULT_ON_TIME".
            phase_lead: on * 2,
            encounters: 4,                 // `MAX_ENCOUNTERS`
            sending_delays_wake_ups: true, // sending busy-waits in a process, callback timers fire between processes
            finishes_reception: false,     // `cc2520_off` only waits for a frame that is being sent
            assess_channel: true,          // `WITH_SEND_CCA`
            data_ack: false,
            data_ack_wait: data_ack_wait(None),
            security: None,
            retry: Retry::EXPONENTIAL,
            queue: 8,           // `QUEUEBUF_CONF_NUM` of the WiSMote
            neighbor_queues: 2, // `CSMA_MAX_NEIGHBOR_QUEUES`
        }
    }

    /// Contiki's X-MAC before it acknowledged data frames.
    ///
    /// Source: Contiki, `core/net/mac/xmac.c` before commit 09c223f54 (January 2011). CX-MAC is a copy of it with
    /// another timer for the power cycle. Here the power cycle runs in interrupts, exact to the tick, whatever the
    /// processor does. It does not end a wake-up while a frame arrives. (The source then extends the wake-up by a whole
    /// on-time; this model receives the frame.) The layer above is that of Contiki 2.7.
    pub fn xmac_2010(check_interval: Duration) -> Self {
        Self {
            awake: Self::ON_TIME,
            sending_delays_wake_ups: false,
            finishes_reception: true,
            retry: Retry::LINEAR,
            ..Self::cxmac(check_interval)
        }
    }

    /// These constants with acknowledged data frames, as in the older `xmac.c`.
    pub fn with_data_ack(self) -> Self {
        Self { data_ack: true, ..self }
    }

    /// These constants with secured frames. The sender waits as long as a secured acknowledgement needs.
    pub fn with_security(self, security: Security) -> Self {
        Self { security: Some(security), data_ack_wait: data_ack_wait(Some(security)), ..self }
    }

    /// `DEFAULT_ON_TIME`, 1/160 s in whole ticks of the fast clock: 204.
    const ON_TIME: Duration = Duration::from_micros(204 * 1_000_000 / 32_768);
}

/// macAckWaitDuration (IEEE 802.15.4-2015, table 8-94): a unit back-off period, turnaround, and the
/// acknowledgement itself.
fn data_ack_wait(security: Option<Security>) -> Duration {
    BACKOFF_PERIOD + TURNAROUND + air_time(ack_octets(security) + FCS)
}
