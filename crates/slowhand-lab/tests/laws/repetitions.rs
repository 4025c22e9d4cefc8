//! Laws of repetitions: what is lost is sent again, and nothing is sent again without a reason.

use crate::account::ensure;
use crate::world::World;
use slowhand_lab::explanation::Event;
use slowhand_lab::record::Outcome;
use slowhand_sessions::{Carrier, Protocol};

/// The datagrams or segments of the handshake that is explained.
fn sent<'a>(world: &'a World<'_>) -> impl Iterator<Item = &'a Event> {
    world.explanation.events.iter().filter(|event| matches!(event.kind, "datagram" | "segment"))
}

/// True if a datagram surely carries a part of the handshake that must arrive.
fn carries_handshake(event: &Event) -> bool {
    match event.name.as_str() {
        // The library of DTLS 1.3 tells what it encrypts.
        "ACK" | "alert" | "record" | "datagram" | "encrypted record" => false,
        // Packets of DCCP without data.
        name => !name.starts_with("DCCP-"),
    }
}

/// True if the border router held a datagram back: it was a repetition, and nobody misses it.
fn is_held_back(event: &Event) -> bool {
    event.detail.iter().any(|(name, value)| *name == "lost" && value.contains("held it back"))
}

/// Wherever a handshake completes although a datagram of an end with handshake data was lost, that end sent something again.
pub(crate) fn losses_are_repaired(world: &World<'_>) -> Result<(), String> {
    let record = world.explained();
    // QUIC sends no packet again: what was lost goes in a new one, encrypted (RFC 9000 section 13.3).
    if record.outcome != Outcome::Completed || world.scenario.session.protocol == Protocol::Quic {
        return Ok(());
    }
    let is_repetition = |event: &&Event| matches!(event.state, "needed" | "spurious");
    let counted = record.retransmissions_needed + record.retransmissions_spurious;
    // A repetition that was lost is shown as lost.
    let lost_ones = counted.saturating_sub(sent(world).filter(is_repetition).count() as u64);
    for event in sent(world) {
        let is_missed = event.state == "lost" && event.from_s < world.explanation.end_s && !is_held_back(event);
        if !is_missed || !carries_handshake(event) {
            continue;
        }
        let by_same_end = |other: &&Event| other.lane == event.lane;
        let is_repaired = lost_ones > 0 || sent(world).filter(by_same_end).any(|event| is_repetition(&event));
        ensure!(
            is_repaired,
            "{} of {} s was lost, the handshake completed after {:?} s, and its sender sent nothing again",
            event.name,
            event.from_s,
            record.duration_s
        );
    }
    Ok(())
}

/// A repetition is needed only if something did not arrive.
pub(crate) fn what_is_needed_was_lost(world: &World<'_>) -> Result<(), String> {
    for record in &world.records {
        let lost: u64 = record.losses.iter().map(|loss| loss.count).sum();
        let missing = lost + record.datagrams_waiting;
        ensure!(record.retransmissions_needed == 0 || missing > 0, "{record:?}");
    }
    Ok(())
}

/// Each repetition has a reason that the protocol has: a timer that was due, or the peer's repetition. Where the receiver
/// says what it has (TCP, DTLS 1.3, the lean profile), also a datagram that shows that something is missing: it was lost, or
/// another overtook it.
pub(crate) fn repetitions_have_reasons(world: &World<'_>) -> Result<(), String> {
    let session = &world.scenario.session;
    let acknowledges = session.protocol.is_stream() || session.protocol == Protocol::Dtls13 || !session.lean.is_empty();
    if world.scenario.gateway.tcp_proxy {
        return Ok(()); // its timers are not shown
    }
    let something_is_missing = sent(world).any(|event| event.state == "lost") || is_out_of_order(world);
    for event in sent(world).filter(|event| matches!(event.state, "needed" | "spurious")) {
        let (mut at, mut began_s) = (event, event.from_s);
        let is_reason = loop {
            let Some(cause) = at.cause.map(|number| &world.explanation.events[number]) else {
                break answers_earlier_attempt(world, at);
            };
            at = cause;
            match cause.kind {
                "computing" => began_s = cause.from_s,
                "timer" if cause.name.ends_with(", due") => break true,
                "packet" | "datagram" | "segment" => {
                    // The repetition itself, or the original, which it has overtaken.
                    let is_repetition = sent(world).any(|other| {
                        let has_come = other.lane != event.lane && other.to_s <= event.from_s;
                        has_come && matches!(other.state, "needed" | "spurious")
                    });
                    let is_missing = acknowledges && something_is_missing;
                    break is_repetition
                        || is_missing
                        || (session.protocol.is_stream() && goes_on(world, event))
                        || (session.carrier == Carrier::Dccp && has_timed_out(world, event))
                        || has_computed_too_long(world, event, began_s)
                        || (acknowledges && waited_for_its_computer(world, event, cause));
                }
                _ => {}
            }
        };
        ensure!(is_reason, "{} of {} s ({}) because of {at:?}", event.name, event.from_s, event.state);
    }
    Ok(())
}

/// True if an end computed an answer to what an earlier attempt had sent: it belongs to the attempt in which it arrives, because the
/// endpoints are the same, and the timeline has the datagrams of the last attempt only.
fn answers_earlier_attempt(world: &World<'_>, first: &Event) -> bool {
    let is_start = first.from_s == world.explanation.start_s;
    world.explained().attempts > 1 && first.kind == "computing" && !is_start
}

/// True if the peer said what it had while another datagram of this end had arrived there and waited for its computer. The rest is
/// missing for this end, although nothing was lost.
fn waited_for_its_computer(world: &World<'_>, repetition: &Event, arrived: &Event) -> bool {
    let (events, lanes) = (&world.explanation.events, &world.explanation.lanes);
    let mut first = arrived;
    while let Some(cause) = first.cause.map(|number| &events[number]).filter(|cause| cause.kind != "computing") {
        first = cause; // the packets before, the datagram, its message
    }
    let peer = &lanes[first.lane].host;
    let mut computed = events.iter().filter(|event| event.kind == "computing" && lanes[event.lane].host == *peer);
    computed.any(|later| {
        let waited = later.cause.map(|number| &events[number]).filter(|packet| packet.kind != "timer");
        let is_read_later = first.from_s <= later.from_s && later.from_s <= repetition.from_s;
        is_read_later && waited.is_some_and(|packet| packet.to_s < first.from_s)
    })
}

/// True if an end has sent something again before. After a timeout TCP sends the rest again as acknowledgements come (slow start,
/// RFC 5681 section 3.1).
fn goes_on(world: &World<'_>, repetition: &Event) -> bool {
    let mut earlier = sent(world).filter(|event| event.lane == repetition.lane && event.from_s < repetition.from_s);
    earlier.any(|event| matches!(event.state, "needed" | "spurious" | "lost"))
}

/// True if the timer of the session was due at an end before. Over DCCP a repetition may wait then until an acknowledgement opens the
/// window.
fn has_timed_out(world: &World<'_>, repetition: &Event) -> bool {
    let host_of = |event: &Event| &world.explanation.lanes[event.lane].host;
    let of_end = world.explanation.events.iter().filter(|event| host_of(event) == host_of(repetition));
    of_end.filter(|event| event.name == "timer, due").any(|timer| timer.to_s <= repetition.from_s)
}

/// OpenSSL takes its timer as expired so long before (`dtls1_get_timeout` in `d1_lib.c`).
const EARLY_S: f64 = 0.015;

/// True if a timer of an end ran out between the time at which it took a datagram and a repetition that it sent while it computed
/// an answer. OpenSSL looks at its timer while it computes. The timeline shows it as stopped by the datagram.
fn has_computed_too_long(world: &World<'_>, repetition: &Event, began_s: f64) -> bool {
    let events = &world.explanation.events;
    let host_of = |event: &Event| &world.explanation.lanes[event.lane].host;
    let mut timers = events.iter().filter(|timer| timer.kind == "timer" && host_of(timer) == host_of(repetition));
    timers.any(|timer| {
        let due = timer.detail.iter().find(|(name, _)| *name == "due");
        let due_s = due.and_then(|(_, due)| due.trim_end_matches(" s").parse::<f64>().ok());
        timer.to_s >= began_s && due_s.is_some_and(|due_s| due_s <= repetition.from_s + EARLY_S)
    })
}

/// True if a datagram arrived before another that the same end had sent earlier.
fn is_out_of_order(world: &World<'_>) -> bool {
    let mut arrivals: Vec<(usize, f64, f64)> =
        sent(world).filter(|event| event.state != "lost").map(|event| (event.lane, event.from_s, event.to_s)).collect();
    arrivals.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    arrivals.windows(2).any(|two| two[0].0 == two[1].0 && two[0].2 > two[1].2)
}
