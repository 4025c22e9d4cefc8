//! A handshake survives losses, or fails, exactly as the library does without a network.

use crate::{MBEDTLS_ECDHE, MBEDTLS_PSK, MBEDTLS_PSK_TLS, OPENSSL_ECDHE, TINYDTLS_PSK, plan, scenario};
use slowhand_lab::record::{Outcome, Record};
use slowhand_sessions::memory::{End, Path};
use slowhand_sessions::{Role, SessionConfig, Weightless};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

fn run(changes: &[&str], dropped: &[u64]) -> Record {
    let drop = format!("lowpan.dropped_frames={dropped:?}");
    let mut records = plan(&[changes, &[drop.as_str()]].concat()).run(1, &mut ());
    records.remove(0)
}

/// The possible outcomes of the handshake with these datagrams lost, without a network. In the network of this test a
/// datagram takes 15 to 150 ms, by schedule. In memory each takes a random time of that range, in many runs. The times
/// matter if the timers of both ends expire at nearly the same time. Then tinyDTLS's server repeats its flight. A
/// repeated ClientHello reaches it after that, and it forgets the handshake. Its client has the flight and never learns
/// of this.
fn outcomes_in_memory(changes: &[&str], dropped: &[u64]) -> BTreeSet<bool> {
    let scenario = scenario(changes);
    let streams = slowhand_net::random::Streams::new(1);
    let completes = |attempt| {
        let [mut client, mut server] = [(Role::Client, 2), (Role::Server, 3)].map(|(role, end)| {
            let config = SessionConfig { seed: streams.derive("session", end), ..scenario.session.config(role) };
            slowhand_sessions::build(&config, Arc::new(Weightless)).unwrap()
        });
        let dropped = dropped.iter().map(|&frame| frame as usize - 1).collect();
        let mut transit = streams.stream("transit", attempt);
        let held_back = (0..60).map(|datagram| (datagram, Duration::from_micros(transit.below(135_000)))).collect();
        let path = Path { dropped, held_back, delay: Duration::from_millis(15), ..Path::default() };
        path.run(&mut *client, &mut *server).end == End::Completed
    };
    (0..100).map(completes).collect()
}

#[test]
fn every_single_frame_may_be_lost() {
    for changes in [TINYDTLS_PSK, MBEDTLS_PSK, MBEDTLS_ECDHE, OPENSSL_ECDHE] {
        let lossless = run(changes, &[]);
        assert_eq!(lossless.outcome, Outcome::Completed);
        let mut repaired = 0;
        for frame in 1..=lossless.frames {
            let record = run(changes, &[frame]);
            assert_eq!(record.datagrams_lost, 1, "{changes:?}, frame {frame}");
            if record.outcome == Outcome::Completed {
                let later = record.duration_s > lossless.duration_s;
                assert!(record.retransmissions_needed >= 1 && later, "{changes:?}, frame {frame}: {record:?}");
                repaired += 1;
            } else {
                // Here one datagram is one frame, so that the loss can be repeated without the network.
                assert_eq!(changes, TINYDTLS_PSK, "frame {frame}: {:?}", record.outcome);
                assert!(outcomes_in_memory(changes, &[frame]).contains(&false), "frame {frame}: {:?}", record.outcome);
            }
        }
        assert!(repaired > 0, "{changes:?}");
    }
}

/// The library itself tells the content of encrypted records. Where fragments are small, only those that did not arrive are sent again
/// (RFC 9147 section 7.2), each of them a needed repetition.
#[test]
fn every_single_frame_of_dtls13_may_be_lost_and_what_repairs_it_is_counted() {
    let lean = "session.stack=lean-dtls";
    let dtls13 = &[lean, "session.protocol=dtls1.3", "session.suite=TLS_AES_128_CCM_8_SHA256"][..];
    let certificate = &["session.credential=certificate", "session.mtu=96"];
    let weightless = &["session.auth=psk", "session.cryptography=weightless"];
    for changes in [dtls13.to_vec(), [dtls13, weightless].concat(), [dtls13, certificate].concat()] {
        let lossless = run(&changes, &[]);
        assert_eq!((lossless.outcome, lossless.retransmissions_needed), (Outcome::Completed, 0));
        // The last frame is the server's acknowledgement, which no end waits for any more.
        for frame in 1..lossless.frames {
            let record = run(&changes, &[frame]);
            assert_eq!(record.outcome, Outcome::Completed, "{changes:?}, frame {frame}");
            // With more datagrams than the queues hold, what is sent again may be lost there.
            let lost = record.datagrams_lost;
            assert!((1..=lost).contains(&record.retransmissions_needed), "{changes:?}, frame {frame}: {record:?}");
        }
    }
}

/// The client repeats its first ClientHello, one frame. So there is one frame more on the air, acknowledged like the
/// others.
#[test]
fn a_lost_frame_counts_as_sent() {
    let (lossless, lossy) = (run(TINYDTLS_PSK, &[]), run(TINYDTLS_PSK, &[1]));
    assert_eq!((lossless.datagrams, lossless.frames, lossless.frames_ack), (10, 10, 10));
    assert_eq!((lossy.datagrams, lossy.frames, lossy.frames_ack), (11, 11, 11));
    assert_eq!((lossy.outcome, lossy.datagrams_lost), (Outcome::Completed, 1));
    let hello = lossy.bytes_phy - lossless.bytes_phy;
    assert!((21 + 2..=127).contains(&hello), "a frame of {hello} octets: header and FCS are 23, at most 127");
}

#[test]
fn tcp_repairs_every_single_loss_and_every_pair() {
    let lossless = run(MBEDTLS_PSK_TLS, &[]);
    assert_eq!((lossless.outcome, lossless.frames), (Outcome::Completed, 12));
    for first in 1..=lossless.frames {
        for second in first..=lossless.frames + 2 {
            let record = run(MBEDTLS_PSK_TLS, &[first, second]);
            assert_eq!(record.outcome, Outcome::Completed, "frames {first} and {second}: {record:?}");
            assert!(record.duration_s >= lossless.duration_s, "frames {first} and {second}: {record:?}");
        }
        let record = run(MBEDTLS_PSK_TLS, &[first]);
        assert_eq!(record.datagrams_lost, 1, "frame {first}");
        // The third is an acknowledgement. The next segment acknowledges the same.
        assert_eq!(record.retransmissions_needed, u64::from(first != 3), "frame {first}: {record:?}");
    }
}

#[test]
fn every_pair_of_frames_may_be_lost_as_far_as_tinydtls_survives_it() {
    let frames = run(TINYDTLS_PSK, &[]).frames;
    assert_eq!(frames, 10);
    let mut differing = Vec::new();
    for first in 1..=frames {
        for second in first + 1..=frames + 4 {
            let pair = [first, second];
            let here = run(TINYDTLS_PSK, &pair).outcome == Outcome::Completed;
            if !outcomes_in_memory(TINYDTLS_PSK, &pair).contains(&here) {
                differing.push(pair);
            }
        }
    }
    assert!(differing.is_empty(), "never in memory what the network gives: {differing:?}");
}

#[test]
fn what_a_link_layer_loses_silently_is_lost_in_the_record() {
    // X-MAC without acknowledgements: only DTLS notices that a data frame is lost.
    let lossy = &["mac={ kind = \"xmac\", check_interval_ms = 125 }", "network.link_pdr=0.8"];
    let records: Vec<Record> = (0..40).flat_map(|seed| plan(lossy).run(seed, &mut ())).collect();
    let completed: Vec<&Record> = records.iter().filter(|record| record.outcome == Outcome::Completed).collect();
    assert!(completed.len() > 10);
    assert!(completed.iter().map(|record| record.datagrams_lost).sum::<u64>() > 20);
    assert!(completed.iter().map(|record| record.retransmissions_needed).sum::<u64>() > 10);
}
