//! The helpers of several modules of unit tests.

use crate::plan::Plan;
use crate::record::Record;
use crate::scenario::Scenario;

/// A scenario with nothing but what it needs.
pub(crate) fn scenario() -> Scenario {
    r#"
        network.topology = { kind = "line", hops = 1 }
        mac = { kind = "tsch", slotframe = 11 }
        client.device = "openmote-cc2538"
        session = { stack = "tinydtls", suite = "TLS_PSK_WITH_AES_128_CCM_8" }
    "#
    .parse()
    .unwrap()
}

/// The record of a completed handshake in that scenario, to copy.
pub(crate) fn record() -> Record {
    Plan::new(&scenario()).unwrap().run(1, &mut ()).remove(0)
}
