//! Handshakes whose fragments are reassembled at every hop, forwarded or recovered.

use crate::{MBEDTLS_ECDHE, plan};
use slowhand_lab::record::{Outcome, Record};

/// Two hops. The library repeats late, so that the effect of recovery shows.
const FAR: &[&str] = &[
    "network.topology.hops=2",
    "mac={ kind = \"tsch\", slotframe = 5, cells = { shared = 1, up = 1, down = 1 }, autonomous = false }",
    "session.timeout_s=20",
];

const WAYS: [&str; 3] = [
    "lowpan={ reassembly = \"per-hop\" }",
    "lowpan={ reassembly = \"forwarding\" }",
    "lowpan={ reassembly = \"recovery\" }",
];

fn run(changes: &[&[&str]], seed: u64) -> Record {
    plan(&changes.concat()).run(seed, &mut ()).remove(0)
}

#[test]
fn every_way_under_every_mac() {
    let macs = [
        "mac={ kind = \"tsch\", slotframe = 5, cells = { shared = 1, up = 1, down = 1 }, autonomous = false }",
        "mac={ kind = \"xmac\", check_interval_ms = 125, queue = 20 }",
        "mac={ kind = \"beacon\", beacon_interval_ms = 245.76, cap_ms = 61.44, queue = 20 }",
    ];
    for mac in macs {
        let [per_hop, forwarded, recovered] = WAYS.map(|way| run(&[MBEDTLS_ECDHE, FAR, &[mac, way]], 1));
        for record in [&per_hop, &forwarded, &recovered] {
            assert_eq!((record.outcome, record.datagrams_lost), (Outcome::Completed, 0), "{mac}");
            // The length of a signature varies by an octet or two.
            let octets = record.bytes_payload.abs_diff(per_hop.bytes_payload);
            assert!(record.datagrams == per_hop.datagrams && octets <= 8, "{mac}");
        }
        // If every link has its own cells, no node waits for the last fragment. Under X-MAC a forwarder disturbs the
        // sender.
        assert!(forwarded.duration_s < per_hop.duration_s || mac.contains("xmac"), "{mac}");
        assert!(recovered.frames > forwarded.frames, "{mac}: acknowledgements are frames");
        // A node that only forwards has nothing in reassembly.
        assert!(per_hop.reassembly_peak_bytes[1] > 0);
        assert_eq!([forwarded.reassembly_peak_bytes[1], recovered.reassembly_peak_bytes[1]], [0, 0]);
    }
}

/// A fragment that recovery repeats is no loss. A datagram in one frame is not recovered.
#[test]
fn a_lost_fragment_is_no_lost_datagram() {
    let lossless = run(&[MBEDTLS_ECDHE, FAR, &WAYS[2..]], 1);
    let mut mended = 0;
    for frame in 1..=lossless.frames {
        let record = run(&[MBEDTLS_ECDHE, FAR, &WAYS[2..], &[&format!("lowpan.dropped_frames=[{frame}]")]], 1);
        assert_eq!(record.outcome, Outcome::Completed, "frame {frame}");
        assert_eq!(record.datagrams_lost, record.retransmissions_needed.min(1), "frame {frame}: {record:?}");
        mended += usize::from(record.datagrams_lost == 0);
    }
    assert!(mended > lossless.frames as usize / 2, "{mended} of {}", lossless.frames);
}

#[test]
fn what_xmac_loses_silently_is_recovered() {
    let lossy: &[&str] = &["mac={ kind = \"xmac\", check_interval_ms = 125, queue = 20 }", "network.link_pdr=0.9"];
    let lost = |way: &str| -> u64 {
        (1..20).map(|seed| run(&[MBEDTLS_ECDHE, FAR, lossy, &[way, "session.timeout_s=20"]], seed).datagrams_lost).sum()
    };
    let (per_hop, recovered) = (lost(WAYS[0]), lost(WAYS[2]));
    assert!(recovered * 2 < per_hop, "{recovered} against {per_hop}");
}
