//! The energy a device uses: the time in each state of CPU and radio, times the state's current, times the supply voltage
//! (the method of Contiki's Energest: Dunkels et al., EmNets 2007).

use crate::device::Device;
use crate::record::Energy;
use slowhand_net::clock::Duration;
use slowhand_net::radio::RadioTimes;

/// What `device` uses while `elapsed` passes, its radio being on for `radio` and its CPU computing for `computed`.
///
/// The CPU's handling of frames is not modelled: apart from cryptography it sleeps.
pub(crate) fn energy(device: &Device, elapsed: Duration, radio: RadioTimes, computed: std::time::Duration) -> Energy {
    let current = &device.current;
    // mA times V times s is mJ.
    let mj = |milliamperes: f64, seconds: f64| milliamperes * device.supply_v.value * seconds;
    let computed = computed.as_secs_f64();
    let asleep = (elapsed.as_secs_f64() - computed).max(0.0);
    let radio_asleep = radio.sleep.as_secs_f64();
    Energy {
        cpu_mj: mj(current.cpu_active_ma.value, computed),
        tx_mj: mj(current.radio_tx_ma.value, radio.transmit.as_secs_f64()),
        rx_mj: mj(current.radio_rx_ma.value, radio.receive.as_secs_f64()),
        listen_mj: mj(current.radio_listen_ma.value, radio.listen.as_secs_f64()),
        sleep_mj: mj(current.cpu_sleep_ma.value, asleep) + mj(current.radio_sleep_ma.value, radio_asleep),
    }
}
