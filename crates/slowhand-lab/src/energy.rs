//! The energy a device uses: the time in each state of CPU and radio, times the state's current, times the supply
//! voltage (the method of Contiki's Energest: Dunkels et al., EmNets 2007). What takes a device time between these states, such
//! as the start of its oscillator, counts if the device says how long it takes.

use crate::device::{Device, Milliamperes};
use crate::record::Energy;
use slowhand_net::address::NodeId;
use slowhand_net::clock::Instant;
use slowhand_net::network::Network;
use slowhand_net::observer::{HandledFrames, RadioTimes, RadioWork, Slots};
use std::time::Duration;

/// The time of a device, by state, and what it did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    /// The whole time.
    pub(crate) elapsed: Duration,
    /// The radio's states.
    pub(crate) radio: RadioTimes,
    /// The other work of the radio.
    pub(crate) work: RadioWork,
    /// The CPU computing cryptography.
    pub(crate) computed: Duration,
    /// The part of that in which the TPM computes and the CPU waits for it.
    pub(crate) tpm: Duration,
    /// The CPU waiting actively for the MAC.
    pub(crate) waited: Duration,
    /// The CPU handling frames, in time of the network.
    pub(crate) handled: Duration,
    /// The frames that it handled.
    pub(crate) frames: HandledFrames,
    /// The slots in which its radio was on, where the link layer has slots. The energy does not need them.
    pub(crate) slots: Slots,
}

impl Times {
    /// The time of a node of a network until `now`, without what computes on it.
    pub(crate) fn of(network: &Network, node: NodeId, now: Instant) -> Self {
        let std = |time: slowhand_net::clock::Duration| Duration::from_micros(time.as_micros());
        Self {
            elapsed: std(now.since(Instant::ZERO)),
            radio: network.mac().radio_times(node, now),
            work: network.mac().radio_work(node, now),
            computed: Duration::ZERO,
            tpm: Duration::ZERO,
            waited: std(network.mac().processor_time(node)),
            handled: std(network.handling_time(node, now)),
            frames: network.handled_frames(node, now),
            slots: network.mac().slots(node, now).unwrap_or_default(),
        }
    }

    /// The difference to `earlier`.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            elapsed: self.elapsed.saturating_sub(earlier.elapsed),
            radio: self.radio.since(earlier.radio),
            work: self.work.since(earlier.work),
            computed: self.computed.saturating_sub(earlier.computed),
            tpm: self.tpm.saturating_sub(earlier.tpm),
            waited: self.waited.saturating_sub(earlier.waited),
            handled: self.handled.saturating_sub(earlier.handled),
            frames: self.frames.since(earlier.frames),
            slots: self.slots.since(earlier.slots),
        }
    }

    /// The time for which the CPU was active: while it computed, waited actively, woke up or handled frames, one after the other.
    ///
    /// Frames that took no time of the network take that of the device. The CPU wakes up for each start of the radio and for each
    /// frame.
    pub(crate) fn active(&self, device: &Device) -> Duration {
        let frames = device.seconds_of(self.frames.untimed, &device.processor.frame_handling_us);
        let wakeups = device.seconds_of(self.work.starts + self.frames.all, &device.processor.wakeup_us);
        let more = Duration::from_secs_f64(frames + wakeups);
        (self.computed + self.waited + self.handled + more).min(self.elapsed)
    }
}

/// The energy that `device` uses in this time.
///
/// The CPU sleeps while it is not active. The radio sleeps while it neither sends nor listens, but for what it takes to start, to
/// ramp up and to be ready. Of these three, what has no current of its own in the device counts as sleep.
pub(crate) fn energy(device: &Device, times: Times) -> Energy {
    let current = &device.current;
    // mA times V times s is mJ.
    let mj = |milliamperes: f64, seconds: f64| milliamperes * device.supply_v.value * seconds;
    let active = times.active(device).as_secs_f64();
    let asleep = times.elapsed.as_secs_f64() - active;
    let (radio, work) = (&times.radio, &times.work);
    let (off, ready) = (radio.sleep.as_secs_f64(), work.ready.as_secs_f64());
    let with = |current: &Option<Milliamperes>, seconds: f64| if current.is_some() { seconds } else { 0.0 };
    let of = |current: &Option<Milliamperes>| current.as_ref().map_or(0.0, |current| current.value);
    let started = with(&current.radio_startup_ma, device.seconds_of(work.starts, &device.radio.startup_us));
    let started = started.min((off - ready).max(0.0));
    let ramp = |times: u64| with(&current.radio_rampup_ma, device.seconds_of(times, &device.radio.rampup_us));
    let ramped = ramp(work.ramps).min(off - started);
    // It ramps up at the end of being ready, or of its sleep.
    let idle = with(&current.radio_idle_ma, (ready - ramp(work.ramps_from_ready)).max(0.0)).min(off - started - ramped);
    Energy {
        tpm_mj: device.tpm.as_ref().map_or(0.0, |tpm| mj(tpm.active_ma.value, times.tpm.as_secs_f64())),
        cpu_mj: mj(current.cpu_active_ma.value, active),
        tx_mj: mj(current.radio_tx_ma.value, radio.transmit.as_secs_f64()),
        rx_mj: mj(current.radio_rx_ma.value, radio.receive.as_secs_f64()),
        listen_mj: mj(current.radio_listen_ma.value, radio.listen.as_secs_f64()),
        startup_mj: mj(of(&current.radio_startup_ma), started) + mj(of(&current.radio_rampup_ma), ramped),
        idle_mj: mj(of(&current.radio_idle_ma), idle),
        sleep_mj: mj(current.cpu_sleep_ma.value, asleep)
            + mj(current.radio_sleep_ma.value, off - started - ramped - idle),
    }
}
