//! The constants of X-MAC, and where they come from.

use super::retry::Retry;
use crate::clock::Duration;
use crate::radio::frame::FCS;
use crate::radio::phy::{SYMBOL, air_time};

/// From receiving to sending: aTurnaroundTime, 12 symbols (IEEE 802.15.4-2015, table 11-1).
pub const TURNAROUND: Duration = Duration::from_micros(12 * SYMBOL.as_micros());

/// The constants of an X-MAC network. [`XmacConfig::cxmac`] gives those of Contiki.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XmacConfig {
    /// How often a node wakes up.
    pub check_interval: Duration,
    /// How long its radio is on then, if nothing happens; shorter than the check interval.
    pub awake: Duration,
    /// From the start of one strobe to that of the next. Before the first strobe the radio listens as long.
    pub strobe_gap: Duration,
    /// No strobe is sent later than this after the radio was switched on for the train.
    pub strobe_limit: Duration,
    /// From the decision to send a strobe to its first symbol.
    pub strobe_delay: Duration,
    /// From the last symbol of a strobe to the first of its acknowledgement.
    pub strobe_ack_delay: Duration,
    /// From the last symbol of a strobe acknowledgement to the first of the data frame.
    pub data_delay: Duration,
    /// How long before a neighbour's expected wake-up strobing begins.
    pub phase_lead: Duration,
    /// Of how many neighbours a node remembers when they were awake; none switches phase learning off.
    pub encounters: usize,
    /// Whether a node that is sending cannot run its wake-up timer: a wake-up (or its end) that falls due meanwhile
    /// happens when it has sent, and later ones count from there.
    pub sending_delays_wake_ups: bool,
    /// Whether a frame that began during a wake-up is received to its end, even if that comes after the wake-up's.
    pub finishes_reception: bool,
    /// Whether the radio assesses the channel before each frame, and does not send when it is busy. Nothing
    /// above notices: a data frame held back so counts as sent.
    pub assess_channel: bool,
    /// Whether data frames are acknowledged (and repeated if they are not): the variant without which a lost data
    /// frame goes unnoticed.
    pub data_ack: bool,
    /// How long an acknowledgement of a data frame is waited for.
    pub data_ack_wait: Duration,
    /// What happens to a frame that was not sent.
    pub retry: Retry,
    /// How many frames a node can queue.
    pub queue: usize,
    /// To how many neighbours a node can have frames queued at once.
    pub neighbor_queues: usize,
}

impl XmacConfig {
    /// Contiki's CX-MAC on a WiSMote: the X-MAC that reports data frames as sent without an acknowledgement.
    ///
    /// Sources: Contiki, commit 32b5b17f6: `core/net/mac/cxmac/cxmac.c` for the MAC, `core/net/mac/csma.c` for the
    /// layer of retries above it, `dev/cc2520/cc2520.c` for the radio, `platform/wismote/contiki-conf.h`. One tick of
    /// its fast clock is 1/32,768 s, one of its slow clock 1/128 s. `check_interval` is 1 s divided by
    /// `NETSTACK_RDC_CHANNEL_CHECK_RATE`, a power of two. Releases up to 2.7 have the same MAC under another layer of
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
            // Channel assessment of 8 symbols and turnaround of 12: the 320 us that the driver allows for. What the
            // processor takes to load the radio is left out.
            strobe_delay: Duration::from_micros(320),
            // `WAIT_TIME_BEFORE_STROBE_ACK`, 1/1000 s: what the sender once granted the receiver for it.
            strobe_ack_delay: Duration::from_millis(1),
            // Assumed: the processor does the same things as for a strobe acknowledgement.
            data_delay: Duration::from_millis(1),
            // "2 * DEFAULT_ON_TIME".
            phase_lead: on * 2,
            encounters: 4,                 // `MAX_ENCOUNTERS`
            sending_delays_wake_ups: true, // sending waits actively in a process, callback timers fire between processes
            finishes_reception: false,     // `cc2520_off` only spares a frame that is being sent
            assess_channel: true,          // `WITH_SEND_CCA`
            data_ack: false,
            // macAckWaitDuration (IEEE 802.15.4-2015, table 8-94): a unit back-off period of 20 symbols, turnaround,
            // and the acknowledgement itself.
            data_ack_wait: SYMBOL * 20 + TURNAROUND + air_time(super::frame::ACK + FCS),
            retry: Retry::EXPONENTIAL,
            queue: 8,           // `QUEUEBUF_CONF_NUM` of the WiSMote
            neighbor_queues: 2, // `CSMA_MAX_NEIGHBOR_QUEUES`
        }
    }

    /// Contiki's X-MAC as it was before it came to acknowledge data frames.
    ///
    /// Source: Contiki, `core/net/mac/xmac.c` before commit 09c223f54 (January 2011). CX-MAC is a copy of it whose
    /// power cycle runs on another timer; here it runs in interrupts, to the tick and whatever the processor is doing,
    /// and does not end a wake-up while a frame is coming in (where the source then prolongs it by a whole on-time,
    /// this model receives the frame). The layer above is that of Contiki 2.7.
    pub fn xmac_2010(check_interval: Duration) -> Self {
        Self {
            awake: Self::ON_TIME,
            sending_delays_wake_ups: false,
            finishes_reception: true,
            retry: Retry::LINEAR,
            ..Self::cxmac(check_interval)
        }
    }

    /// The same with acknowledged data frames, as the older `xmac.c` had them.
    pub fn with_data_ack(self) -> Self {
        Self { data_ack: true, ..self }
    }

    /// `DEFAULT_ON_TIME`, 1/160 s in whole ticks of the fast clock: 204.
    const ON_TIME: Duration = Duration::from_micros(204 * 1_000_000 / 32_768);
}
