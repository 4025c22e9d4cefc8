//! The constants of a non-beacon PAN, their limits, and their sources.
//!
//! Tables and sections are those of IEEE 802.15.4-2006 unless they name another edition. File names are those of
//! OpenThread (commit 0291abe11).

use crate::address::{Addressing, NodeId};
use crate::clock::Duration;
use crate::radio::contention::{BACKOFF_PERIOD, Form, Kind, LIFS, PanError, TURNAROUND, symbols};
use crate::radio::frame::Security;
use crate::radio::medium::CCA_DURATION;
use crate::radio::phy::{MAX_PSDU, SYNCHRONISATION_OCTETS, air_time};

/// The unit of CSL periods and phases: 10 symbols (IEEE 802.15.4-2015, 7.4.2.3).
pub const CSL_UNIT: Duration = symbols(10);

/// From the first symbol of a frame to that of its MAC header. A CSL phase counts up to the MAC header (Thread 1.4,
/// 3.2.6.3.4, as `csl_tx_scheduler.cpp` quotes it).
pub const BEFORE_HEADER: Duration = symbols(2 * SYNCHRONISATION_OCTETS);

/// A parent takes a frame for a sample only this long before the frame begins (`OPENTHREAD_CONFIG_MAC_CSL_REQUEST_AHEAD_US`).
pub const CSL_REQUEST_AHEAD: Duration = Duration::from_micros(2_000);

/// From the start of the clear channel assessment to the first symbol of the frame.
pub const ASSESSED_START: Duration = Duration::from_micros(CCA_DURATION.as_micros() + TURNAROUND.as_micros());

/// The shortest time between the change to a shorter poll period and the poll (`OPENTHREAD_CONFIG_MAC_MINIMUM_POLL_PERIOD`).
pub const MIN_POLL_PERIOD: Duration = Duration::from_millis(10);

/// The poll period after a poll without acknowledgement (`OPENTHREAD_CONFIG_MAC_RETX_POLL_PERIOD`).
pub const RETRY_POLL_PERIOD: Duration = Duration::from_millis(1_000);

/// The number of polls in a row without acknowledgement that have that period (`OPENTHREAD_CONFIG_FAILED_CHILD_TRANSMISSIONS`).
pub const POLL_RETRIES: u8 = 4;

/// The number of such polls where polls synchronise CSL (`kMaxCslPollRetxAttempts` in `data_poll_sender.hpp`). Such a poll is not
/// retransmitted by the MAC.
pub const CSL_POLL_RETRIES: u8 = 15;

/// After so many polls in a row whose announced frame did not come, the device waits for its next regular poll
/// (`kQuickPollsAfterTimeout` in `data_poll_sender.hpp`).
pub const QUICK_POLLS: u8 = 5;

/// After so many frames in a row that a CSL receiver did not acknowledge, its parent waits for a poll
/// (`kMaxCslTriggeredTxAttempts` in `csl_tx_scheduler.hpp`).
pub const CSL_ATTEMPTS: u8 = 4;

/// 0xfffe and 0xffff are no short addresses of nodes (IEEE 802.15.4-2006, 7.2.1.4).
pub const MAX_SHORT_ADDRESSES: usize = 0xfffe;

/// The constants of a non-beacon PAN.
#[derive(Clone, Debug, PartialEq)]
pub struct CsmaConfig {
    /// The channel, 11..=26.
    pub channel: u8,
    /// The addresses in its frames.
    pub addressing: Addressing,
    /// Smallest and largest back-off exponent (macMinBE, macMaxBE).
    pub backoff_exponents: (u8, u8),
    /// The most back-offs after a busy channel (macMaxCSMABackoffs).
    pub max_csma_backoffs: u8,
    /// The most retransmissions of a frame (macMaxFrameRetries). Frames for sleepy children have no retransmissions
    /// of their own: see [`indirect_attempts`](Self::indirect_attempts).
    pub max_retries: u8,
    /// The largest exponent of the random delay before a retransmission of a frame without acknowledgement, in back-off
    /// periods. The exponent is 0 before the first retransmission of a frame, and grows by one with each. 0: no delay, as
    /// in the standard.
    pub retry_max_exponent: u8,
    /// True if a frame that found the channel busy in every attempt is also retransmitted. In the standard it is given
    /// up at once.
    pub retries_busy_channel: bool,
    /// True if the acknowledgement of a sleepy device's data frame tells it that frames wait for it. If false, only
    /// the acknowledgement of a poll does.
    pub pending_in_data_acks: bool,
    /// The number of times that a parent sends a frame, each time after a poll, until its child acknowledges it.
    pub indirect_attempts: u8,
    /// The time that a parent keeps a frame that its child does not fetch (macTransactionPersistenceTime).
    pub indirect_timeout: Duration,
    /// The polls of sleepy devices.
    pub polling: Polling,
    /// The samples of sleepy devices. `None` if they only poll.
    pub csl: Option<Csl>,
    /// The security of data frames, data requests and enhanced acknowledgements. `None`: none. It carries a frame counter.
    pub security: Option<Security>,
    /// The most frames in a node's queue, those for its parent and its children together.
    pub queue: usize,
}

/// When sleepy devices ask their parents for frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Polling {
    /// From one poll to the next.
    pub period: Duration,
    /// The time from one poll to the next while the device expects an answer.
    pub fast_period: Duration,
    /// When the device expects an answer.
    pub fast: FastPoll,
    /// The number of fast polls that follow a frame that the device has to send, with [`FastPoll::Data`].
    pub fast_polls: u8,
    /// The time that it listens for the frame that an acknowledgement has announced.
    pub data_wait: Duration,
}

/// When a sleepy device polls fast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum FastPoll {
    /// After each frame that it has to send.
    #[default]
    Data,
    /// While the client on it opens a session.
    // Its application announces that by `Mac::begin_burst`.
    #[cfg_attr(feature = "serde", serde(rename = "session"))]
    Burst,
    /// Never.
    Never,
}

/// Coordinated sampled listening (IEEE 802.15.4-2015, 6.12.2), as Thread has it from version 1.2 on: parent and child
/// are synchronised, and no wake-up frames are sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Csl {
    /// From one sample to the next, in units of [`CSL_UNIT`].
    pub period: u16,
    /// A parent that has not heard its child for this time no longer sends into its samples.
    pub timeout: Duration,
    /// The sum of the clock tolerances of parent and child, in millionths.
    pub accuracy_ppm: u32,
    /// The sum of the uncertainties with which parent and child know when a frame begins.
    pub uncertainty: Duration,
    /// The time that a sample lasts after the time at which the MAC header of a frame is expected.
    pub receive_after: Duration,
}

impl Csl {
    /// The time from one sample to the next.
    pub fn interval(&self) -> Duration {
        CSL_UNIT * u64::from(self.period)
    }

    /// The most that the clocks of parent and child may have drifted apart after this time.
    pub fn drift(&self, since: Duration) -> Duration {
        Duration::from_micros((since.as_micros() * u64::from(self.accuracy_ppm)).div_ceil(1_000_000))
    }
}

impl CsmaConfig {
    /// The defaults of OpenThread.
    ///
    /// - Exponents 3..5: `kCsmaMinBe`, `kCsmaMaxBe` (`sub_mac.hpp`), as in table 86.
    /// - 4 back-offs, 15 retries: `OPENTHREAD_CONFIG_MAC_MAX_CSMA_BACKOFFS_DIRECT`, `..._DEFAULT_MAX_FRAME_RETRIES_DIRECT`
    ///   (`config/mac.h`; table 86: 4 and 3). Also after a busy channel: `SubMac::HandleTransmitDone`.
    /// - A delay of up to 2^5 - 1 periods before a retransmission: `OPENTHREAD_CONFIG_MAC_RETX_DELAY_MAX_BACKOFF_EXPONENT`
    ///   (`config/mac.h`), which `OPENTHREAD_CONFIG_MAC_ADD_DELAY_ON_NO_ACK_ERROR_BEFORE_RETRY` switches on.
    /// - Frame pending in the acknowledgements of data: `radioPrepareAck` (`examples/platforms/simulation/radio.c`),
    ///   `DataPollSender::ProcessTxDone`.
    /// - 4 attempts: `OPENTHREAD_CONFIG_MAC_MAX_TX_ATTEMPTS_INDIRECT_POLLS`. 240 s: a parent forgets a child after
    ///   `OPENTHREAD_CONFIG_MLE_CHILD_TIMEOUT_DEFAULT`, and its frames with it (7.68 s in the standard: 500 times
    ///   aBaseSuperframeDuration).
    /// - Queue: `OPENTHREAD_CONFIG_NUM_MESSAGE_BUFFERS`, 44 buffers of 128 octets.
    /// - Channel 26: assumed (clear of IEEE 802.11). Extended addresses, as in the other link layers; in Thread a node has a
    ///   short address as soon as it is attached.
    pub fn openthread() -> Self {
        Self {
            channel: 26,
            addressing: Addressing::Extended,
            backoff_exponents: (3, 5),
            max_csma_backoffs: 4,
            max_retries: 15,
            retry_max_exponent: 5,
            retries_busy_channel: true,
            pending_in_data_acks: true,
            indirect_attempts: 4,
            indirect_timeout: Duration::from_secs(240),
            polling: Polling::openthread(),
            csl: None,
            security: None,
            queue: 44,
        }
    }

    /// The longest time from the start of contention to the end of a longest frame's interframe space, if the channel
    /// is clear and the frame arrives.
    pub fn longest_exchange(&self) -> Duration {
        let longest_ack = Form { addressing: self.addressing, kind: Kind::Csl(0), security: self.security };
        let contention = BACKOFF_PERIOD * ((1 << self.backoff_exponents.0) - 1) + ASSESSED_START;
        contention + air_time(MAX_PSDU) + TURNAROUND + air_time(longest_ack.ack_octets()) + LIFS
    }

    /// Checks the constants, independent of the network.
    ///
    /// # Errors
    /// The variant of [`CsmaConfigError`] for the invalid field.
    pub(super) fn check(&self) -> Result<(), CsmaConfigError> {
        PanError::check(self.channel, self.backoff_exponents)?;
        let Polling { period, fast_period, fast, .. } = &self.polling;
        if *fast != FastPoll::Never && fast_period > period {
            return Err(CsmaConfigError::FastPolls { fast: *fast_period, period: *period });
        }
        if *period < MIN_POLL_PERIOD || *fast_period < MIN_POLL_PERIOD {
            return Err(CsmaConfigError::PollPeriod((*period).min(*fast_period)));
        }
        if let Some(csl) = &self.csl {
            csl.check(*period)?;
        }
        Ok(())
    }
}

impl Polling {
    /// The defaults of OpenThread.
    ///
    /// - A period of 236 s: the child timeout of 240 s less four polls of 1 s (`DataPollSender::GetDefaultPollPeriod`).
    /// - 8 fast polls 188 ms apart: `kDefaultFastPolls`, `kFastPollPeriod` (`data_poll_sender.hpp`).
    /// - 100 ms for a frame: `OPENTHREAD_CONFIG_MAC_DATA_POLL_TIMEOUT`.
    pub const fn openthread() -> Self {
        Self {
            period: Duration::from_secs(236),
            fast_period: Duration::from_millis(188),
            fast: FastPoll::Data,
            fast_polls: 8,
            data_wait: Duration::from_millis(100),
        }
    }
}

impl Csl {
    /// The defaults of OpenThread for a period.
    ///
    /// - A timeout of 100 s: `OPENTHREAD_CONFIG_CSL_TIMEOUT`.
    /// - 20 ppm and 20 times 10 us for each end: what `radio.c` of several ports returns for `otPlatRadioGetCslAccuracy`
    ///   and `otPlatRadioGetCslUncertainty` (the Telink port, for example).
    /// - 5,504 us: `OPENTHREAD_CONFIG_MIN_RECEIVE_ON_AFTER`, the longest frame and acknowledgement.
    pub const fn openthread(period: u16) -> Self {
        Self {
            period,
            timeout: Duration::from_secs(100),
            accuracy_ppm: 2 * 20,
            uncertainty: Duration::from_micros(2 * 20 * 10),
            receive_after: Duration::from_micros((127 + 6 + 39) * 32),
        }
    }

    /// The poll period of OpenThread with this timeout: four polls of 1 s less (`DataPollSender::GetDefaultPollPeriod`).
    pub fn poll_period(&self) -> Duration {
        let ahead = RETRY_POLL_PERIOD * u64::from(POLL_RETRIES);
        if self.timeout > ahead { self.timeout - ahead } else { self.timeout }
    }

    fn check(&self, poll_period: Duration) -> Result<(), CsmaConfigError> {
        // The parent must have time to prepare a frame for each sample.
        if self.interval() < MIN_POLL_PERIOD {
            return Err(CsmaConfigError::CslPeriod(self.interval()));
        }
        if self.timeout < poll_period {
            return Err(CsmaConfigError::CslTimeout { timeout: self.timeout, poll_period });
        }
        // The phase in a frame is rounded down to its unit.
        if self.uncertainty < CSL_UNIT {
            return Err(CsmaConfigError::CslUncertainty(self.uncertainty));
        }
        Ok(())
    }
}

/// The reason why a non-beacon PAN cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CsmaConfigError {
    /// A constant of CSMA/CA, or the tree.
    #[error(transparent)]
    Pan(#[from] PanError),
    /// More nodes than short addresses ([`MAX_SHORT_ADDRESSES`]).
    #[error("{0} nodes with short addresses: at most {MAX_SHORT_ADDRESSES} can have one")]
    ShortAddresses(usize),
    /// Fast polls that are slower than the others.
    #[error("a fast poll period of {fast} is longer than the poll period of {period}")]
    FastPolls {
        /// The fast period.
        fast: Duration,
        /// The other.
        period: Duration,
    },
    /// A poll period that is too short.
    #[error("a poll period of {0} is too short; it must be at least 10 ms")]
    PollPeriod(Duration),
    /// A CSL period that is too short.
    #[error("a CSL period of {0} is too short; it must be at least 10 ms")]
    CslPeriod(Duration),
    /// The polls do not keep the child synchronised.
    #[error(
        "a CSL timeout of {timeout} is shorter than the poll period of {poll_period}: polls keep a child synchronised"
    )]
    CslTimeout {
        /// The timeout.
        timeout: Duration,
        /// The poll period.
        poll_period: Duration,
    },
    /// The uncertainty does not cover the rounding of phases.
    #[error("a CSL uncertainty of {0} is less than 160 us, the unit of the phase that frames carry")]
    CslUncertainty(Duration),
    /// A sleepy node that forwards frames.
    #[error("node {0} is sleepy and has children: a node that forwards frames must always listen")]
    SleepyParent(NodeId),
    /// The root sleeps.
    #[error("node {0} is sleepy, but it is the root, which must always listen")]
    SleepyRoot(NodeId),
}
