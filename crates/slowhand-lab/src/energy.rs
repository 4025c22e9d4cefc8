//! The energy a device uses: the time in each state of CPU and radio, times the state's current, times the supply
//! voltage (the method of Contiki's Energest: Dunkels et al., EmNets 2007).

use crate::device::Device;
use crate::record::Energy;
use slowhand_net::observer::RadioTimes;
use std::time::Duration;

/// The time of a device, by state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    /// The whole time.
    pub(crate) elapsed: Duration,
    /// The radio's states.
    pub(crate) radio: RadioTimes,
    /// The CPU computing cryptography.
    pub(crate) computed: Duration,
    /// The part of that in which the TPM computes and the CPU waits for it.
    pub(crate) tpm: Duration,
    /// The CPU waiting actively for the MAC.
    pub(crate) waited: Duration,
    /// The CPU handling frames.
    pub(crate) handled: Duration,
}

/// What `device` uses in this time.
///
/// The CPU is active while it computes, waits actively or handles frames, one after the other. Else it sleeps.
pub(crate) fn energy(device: &Device, times: Times) -> Energy {
    let current = &device.current;
    // mA times V times s is mJ.
    let mj = |milliamperes: f64, seconds: f64| milliamperes * device.supply_v.value * seconds;
    let active = (times.computed + times.waited + times.handled).min(times.elapsed).as_secs_f64();
    let asleep = times.elapsed.as_secs_f64() - active;
    let radio = &times.radio;
    Energy {
        tpm_mj: device.tpm.as_ref().map_or(0.0, |tpm| mj(tpm.active_ma.value, times.tpm.as_secs_f64())),
        cpu_mj: mj(current.cpu_active_ma.value, active),
        tx_mj: mj(current.radio_tx_ma.value, radio.transmit.as_secs_f64()),
        rx_mj: mj(current.radio_rx_ma.value, radio.receive.as_secs_f64()),
        listen_mj: mj(current.radio_listen_ma.value, radio.listen.as_secs_f64()),
        sleep_mj: mj(current.cpu_sleep_ma.value, asleep) + mj(current.radio_sleep_ma.value, radio.sleep.as_secs_f64()),
    }
}
