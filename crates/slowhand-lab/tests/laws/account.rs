//! Laws of sums: energy, losses, datagrams, frames, the parts of an explanation; and what numbers can be at all.

use crate::world::World;
use slowhand_lab::capacity::Policy;
use slowhand_lab::device::{Amount, Constant, Device, Time};
use slowhand_lab::explanation::KINDS;
use slowhand_lab::record::{Column, Costs, Energy, Outcome, Record, columns};
use slowhand_lab::scenario::{Mac, ServerAt};
use slowhand_net::address::NodeId;
use slowhand_net::datagram::{NO_DATAGRAM, is_of_router};
use slowhand_net::drop_reason::DropReason;
use slowhand_net::observer::{FrameKind, RadioInterval, RadioState, RadioWork};
use slowhand_sessions::{Carrier, Protocol};
use std::collections::BTreeMap;

/// Fails with these words if a law does not hold.
macro_rules! ensure {
    ($holds:expr, $($words:tt)+) => {
        let holds: bool = $holds;
        if !holds {
            return Err(format!($($words)+));
        }
    };
}
pub(crate) use ensure;

type Holds = Result<(), String>;

/// Numbers are finite and not negative.
pub(crate) fn numbers(world: &World<'_>) -> Holds {
    let is_number = |number: &f64| number.is_finite() && *number >= 0.0;
    let nodes = columns(&world.inspection.nodes);
    for (field, column) in columns(&world.records).into_iter().chain(nodes) {
        let holds = match &column {
            Column::F64(numbers) => numbers.iter().all(is_number),
            Column::OptF64(numbers) => numbers.iter().flatten().all(is_number),
            // A counter that went below 0 would be there.
            Column::U64(numbers) => numbers.iter().all(|&number| number < 1 << 40),
            Column::OptU64(numbers) => numbers.iter().flatten().all(|&number| number < 1 << 40),
            Column::Lists(lists) => lists.iter().flat_map(|list| list.iter()).all(|&number| number < 1 << 40),
            Column::Text(_) | Column::OptText(_) | Column::Losses(_) => true,
        };
        ensure!(holds, "{}: {column:?}", field.name);
    }
    for level in &world.inspection.buffers {
        let levels = [level.queued, level.fragments, level.octets, level.forwarding];
        ensure!(levels.iter().all(|&level| level < 1 << 20), "{level:?}");
    }
    Ok(())
}

/// A handshake ends in time, and its outcome is that of its other columns.
pub(crate) fn outcomes(world: &World<'_>) -> Holds {
    let (give_up_s, retry) = (world.scenario.session.give_up_s.get(), world.scenario.application.retry.policy());
    let most_attempts = retry.map_or(1, |retry| u64::from(retry.attempts));
    let waits_s = retry.map_or(0.0, |retry| retry.longest_in_all().as_secs_f64());
    // Computing that the device still does for an attempt that failed delays the next one.
    let busy_s = |record: &Record| if record.attempts > 1 { record.compute_client_s } else { 0.0 };
    // A session that is complete may lose its slot when another client asks for one, which is before that client's last attempt
    // ends. The attempts after that take as long as others do.
    let evicts = world.scenario.server.slots.is_some() && world.scenario.server.policy != Policy::Refuse;
    let last_eviction_s = |record: &Record| {
        let may_be_evicted = evicts && (record.attempts > 1 || record.outcome == Outcome::Evicted);
        let others = world.records.iter().filter(|other| may_be_evicted && other.client != record.client);
        others.map(|other| other.end_s).fold(record.start_s, f64::max)
    };
    let longest_s = |record: &Record| {
        let later_s = give_up_s * record.attempts.saturating_sub(1) as f64;
        let until_later_s = f64::max(give_up_s, last_eviction_s(record) - record.start_s);
        until_later_s + later_s + waits_s + busy_s(record)
    };
    for record in &world.records {
        let Record { outcome, duration_s, failure, .. } = record;
        let completed = *outcome == Outcome::Completed;
        ensure!(duration_s.is_some() == completed, "{record:?}");
        let took_s = record.end_s - record.start_s;
        ensure!(took_s >= 0.0 && took_s <= longest_s(record) + 1e-6, "{took_s} of {give_up_s} s: {record:?}");
        ensure!(duration_s.is_none_or(|duration| is_near(duration, took_s)), "{duration_s:?} of {took_s} s");
        ensure!((1..=most_attempts).contains(&record.attempts), "{} attempts", record.attempts);
        let tries_no_more = completed || record.attempts == most_attempts;
        ensure!(tries_no_more, "{} of {most_attempts} attempts", record.attempts);
        let says_why = !completed && *outcome != Outcome::GaveUp;
        ensure!(failure.is_some() == says_why, "{record:?}");
        let sent = |record: &Record| record.datagrams >= 2 && record.frames >= 2 && record.bytes_payload > 0;
        ensure!(!completed || sent(record), "{record:?}");
    }
    ensure!(world.records.len() == world.plan.clients().len(), "{} records", world.records.len());
    let explained = world.explained();
    ensure!(world.explanation.outcome == explained.outcome.name(), "{}", world.explanation.outcome);
    let [start, end] = [world.explanation.start_s, world.explanation.end_s].map(micros);
    ensure!(start <= end && end <= start + micros(longest_s(explained)), "from {start} us to {end} us");
    ensure!([start, end] == [explained.start_s, explained.end_s].map(micros), "from {start} us to {end} us");
    Ok(())
}

/// A server has no more sessions than slots, and nobody is turned away where there are enough.
pub(crate) fn slots(world: &World<'_>) -> Holds {
    let (server, clients) = (&world.scenario.server, world.records.len());
    // At the leaves each client has a server of its own.
    let servers = if server.at == ServerAt::Leaves { clients } else { 1 };
    let slots = server.slots.map_or(usize::MAX, |slots| slots.get() as usize * servers);
    let count = |outcome| world.records.iter().filter(|record| record.outcome == outcome).count();
    let [completed, refused, evicted] = [Outcome::Completed, Outcome::Refused, Outcome::Evicted].map(count);
    ensure!(slots < clients || refused + evicted == 0, "{refused} refused, {evicted} evicted of {clients}");
    ensure!(server.session_s.is_some() || completed <= slots, "{completed} completed with {slots} slots");
    let evicts = server.policy != Policy::Refuse;
    ensure!(evicts || evicted == 0 || server.half_open_s.is_some(), "{evicted} evicted by a server that refuses");
    Ok(())
}

/// Who looks at a world does not change it.
pub(crate) fn looking(world: &World<'_>) -> Holds {
    ensure!(world.inspection.records == world.records, "{:?}\n{:?}", world.inspection.records, world.records);
    Ok(())
}

/// Microseconds of an instant in seconds.
fn micros(seconds: f64) -> u64 {
    (seconds * 1e6).round() as u64
}

/// True if two numbers are equal, but for the rounding of sums.
fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (a.abs() + b.abs()) + 1e-9
}

/// The time in each state between two instants: sending, receiving, listening.
fn radio_times(timeline: &[RadioInterval], node: u16, [from, to]: [u64; 2]) -> [u64; 3] {
    let mut times = [0; 3];
    for interval in timeline.iter().filter(|interval| interval.node == NodeId(node)) {
        let (first, last) = (interval.from.as_micros().max(from), interval.to.as_micros().min(to));
        let state = match interval.state {
            RadioState::Transmit => 0,
            RadioState::Receive => 1,
            RadioState::Listen => 2,
        };
        times[state] += last.saturating_sub(first);
    }
    times
}

/// The time for which the frames last that are on the air at an instant of a span. Under contention a frame counts as sent or
/// received when it has ended, and until then its time counts as listening.
fn on_the_air(timeline: &[RadioInterval], node: u16, span: [u64; 2]) -> u64 {
    let is_on_the_air = |interval: &&RadioInterval| {
        let (from, to) = (interval.from.as_micros(), interval.to.as_micros());
        let is_frame = interval.node == NodeId(node) && interval.state != RadioState::Listen;
        is_frame && span.iter().any(|at| (from..to).contains(at))
    };
    timeline.iter().filter(is_on_the_air).map(|interval| interval.to.since(interval.from).as_micros()).sum()
}

/// A time of a device in seconds.
fn seconds<const MAX: u32>(device: &Device, time: &Option<Time<MAX>>) -> f64 {
    match time.as_ref().map(|time| time.amount) {
        None => 0.0,
        Some(Amount::Value(us)) => us / 1e6,
        Some(Amount::Cycles(cycles)) => {
            cycles / device.processor.clock_mhz.as_ref().map_or(1.0, |clock| clock.value) / 1e6
        }
    }
}

fn current<const MAX: u32>(current: &Option<Constant<MAX>>) -> f64 {
    current.as_ref().map_or(0.0, |current| current.value)
}

/// The number of times that a radio came on after it was off, by the timeline.
fn ramps(timeline: &[RadioInterval], node: u16) -> u64 {
    let own: Vec<_> = timeline.iter().filter(|interval| interval.node == NodeId(node)).collect();
    let first = own.first().filter(|first| first.from.as_micros() > 0).into_iter().count();
    (first + own.windows(2).filter(|two| two[0].to < two[1].from).count()) as u64
}

/// The time, in microseconds, for which a radio slept: the time in which it was off, less the time in which it started, ramped
/// up and was ready. Fails unless the energy of these three follows from how often and how long they happened.
fn work_of(device: &Device, energy: &Energy, off_us: u64, work: RadioWork) -> Result<f64, String> {
    let (per_s, currents) = (device.supply_v.value, &device.current);
    let [off, ready] = [off_us, work.ready.as_micros()].map(|us| us as f64 / 1e6);
    ensure!(ready <= off, "ready for {ready} of {off} s");
    ensure!(work.starts <= work.ramps + 1, "{work:?}");
    let has = |current: &Option<_>| f64::from(u8::from(current.is_some()));
    let startup_s = has(&currents.radio_startup_ma) * seconds(device, &device.radio.startup_us);
    let rampup_s = has(&currents.radio_rampup_ma) * seconds(device, &device.radio.rampup_us);
    let started = (work.starts as f64 * startup_s).min(off - ready);
    let ramped = (work.ramps as f64 * rampup_s).min(off - started);
    ensure!(work.ramps_from_ready <= work.ramps, "{work:?}");
    let startup = (current(&currents.radio_startup_ma) * started + current(&currents.radio_rampup_ma) * ramped) * per_s;
    ensure!(is_near(energy.startup_mj, startup), "startup: {} mJ, expected {startup} mJ", energy.startup_mj);
    let of_ready = (ready - work.ramps_from_ready as f64 * rampup_s).max(0.0);
    let idle_s = (has(&currents.radio_idle_ma) * of_ready).min(off - started - ramped);
    let idle = current(&currents.radio_idle_ma) * idle_s * per_s;
    ensure!(is_near(energy.idle_mj, idle), "idle: {} mJ, expected {idle} mJ", energy.idle_mj);
    Ok((off - started - ramped - idle_s) * 1e6)
}

/// The radio's parts of an energy follow from the times in its states. That of the processor says how long it was active, and the
/// rest of the time it slept. What else the radio did is known of a node, and not of a record.
fn energy_of(
    device: &Device,
    energy: &Energy,
    elapsed_us: u64,
    radio_us: [u64; 3],
    edge_us: u64,
    work: Option<RadioWork>,
) -> Holds {
    // Millijoules of a milliampere in a microsecond.
    let (per_us, currents) = (device.supply_v.value / 1e6, &device.current);
    let states = [
        ("tx", energy.tx_mj, currents.radio_tx_ma.value),
        ("rx", energy.rx_mj, currents.radio_rx_ma.value),
        ("listen", energy.listen_mj, currents.radio_listen_ma.value),
    ];
    for ((name, found, current), time) in states.into_iter().zip(radio_us) {
        let [expected, edge] = [time, edge_us].map(|time| current * per_us * time as f64);
        let holds = is_near(found, found.clamp((expected - edge).max(0.0), expected + edge));
        ensure!(holds, "{name}: {found} mJ, and {time} us of {current} mA are {expected} mJ (edges of {edge_us} us)");
    }
    // A host whose energy does not count has no currents.
    let active_us = if energy.cpu_mj == 0.0 { 0.0 } else { energy.cpu_mj / (currents.cpu_active_ma.value * per_us) };
    ensure!(active_us <= elapsed_us as f64 + 0.01, "active for {active_us} of {elapsed_us} us");
    let radio_off_us = elapsed_us.checked_sub(radio_us.iter().sum());
    let Some(radio_off_us) = radio_off_us else { return Err(format!("{radio_us:?} in {elapsed_us} us")) };
    let [least, most] = match work {
        Some(work) => [work_of(device, energy, radio_off_us, work)?; 2],
        None => [0.0, radio_off_us as f64],
    };
    let [least, most] = [least, most].map(|us| {
        currents.cpu_sleep_ma.value * per_us * (elapsed_us as f64 - active_us)
            + currents.radio_sleep_ma.value * per_us * us
    });
    let is_asleep = is_near(energy.sleep_mj, energy.sleep_mj.clamp(least.min(most), most));
    ensure!(is_asleep, "sleep: {} mJ, expected {least} to {most} mJ", energy.sleep_mj);
    let Energy { cpu_mj, tpm_mj, tx_mj, rx_mj, listen_mj, startup_mj, idle_mj, sleep_mj } = energy;
    let sum = cpu_mj + tpm_mj + tx_mj + rx_mj + listen_mj + startup_mj + idle_mj + sleep_mj;
    ensure!(is_near(energy.total_mj(), sum), "{energy:?}");
    Ok(())
}

/// The energy of each node, and that of the client in its handshake, is the sum of its parts, and each part is the time in a
/// state of the timeline.
pub(crate) fn energy(world: &World<'_>) -> Holds {
    let inspection = &world.inspection;
    let elapsed = inspection.nodes.first().map(|node| node.elapsed).unwrap_or_default();
    for node in &inspection.nodes {
        ensure!(node.elapsed == elapsed, "node {}: {:?} of {elapsed:?}", node.node, node.elapsed);
        let elapsed_us = elapsed.as_micros() as u64;
        let shown = radio_times(&inspection.timeline, node.node, [0, elapsed_us]);
        let counted = [node.radio.transmit, node.radio.receive, node.radio.listen].map(|time| time.as_micros());
        ensure!(shown == counted, "node {}: {shown:?} us in the timeline, {counted:?} us counted", node.node);
        let all = counted.iter().sum::<u64>() + node.radio.sleep.as_micros();
        ensure!(all == elapsed_us, "node {}: states of {all} us in {elapsed_us} us", node.node);
        let is_server = world.scenario.server.at.is_node(NodeId(node.node));
        let device = if is_server { &world.scenario.server_device } else { &world.scenario.client_device };
        energy_of(device, &node.energy, elapsed_us, counted, 0, Some(node.work))
            .map_err(|why| format!("node {}: {why}", node.node))?;
        let (came_on, work) = (ramps(&inspection.timeline, node.node), node.work);
        // With beacons two periods that touch count as two.
        let as_often = work.ramps == came_on || work.ramps > came_on && matches!(world.scenario.mac, Mac::Beacon(_));
        ensure!(as_often, "node {}: {work:?}, {came_on} times on", node.node);
        let most = (node.computed + node.waited + node.handled).as_secs_f64()
            + node.frames.untimed as f64 * seconds(device, &device.processor.frame_handling_us)
            + (work.starts + node.frames.all) as f64 * seconds(device, &device.processor.wakeup_us);
        let active = most.min(elapsed.as_secs_f64());
        ensure!(is_near(node.active.as_secs_f64(), active), "node {}: {:?}, not {active} s", node.node, node.active);
        let expected = device.current.cpu_active_ma.value * device.supply_v.value * active;
        let cpu_mj = node.energy.cpu_mj;
        ensure!(is_near(cpu_mj, expected), "node {}: {cpu_mj} mJ of the processor in {most:?}", node.node);
    }
    let timeline = &inspection.timeline;
    let overlap = timeline.windows(2).find(|two| two[0].node == two[1].node && two[0].to > two[1].from);
    ensure!(overlap.is_none(), "{overlap:?}");
    let explanation = &world.explanation;
    let span = [micros(explanation.start_s), micros(explanation.end_s)];
    // The root is the client of servers at the leaves.
    let [client, server] = match world.scenario.server.at {
        ServerAt::Leaves => [0, explanation.client].map(Some),
        ServerAt::Node(node) => [Some(explanation.client), Some(node.0).filter(|node| *node != 0)],
        ServerAt::Internet => [Some(explanation.client), None],
    };
    let of_node = |node: u16| (radio_times(timeline, node, span), on_the_air(timeline, node, span));
    let record = world.explained();
    let times = server.map(of_node).zip(record.energy_server);
    ensure!(server.is_some() == record.energy_server.is_some(), "{record:?}");
    if let Some(((radio_us, edge_us), energy)) = times {
        energy_of(&world.scenario.server_device, &energy, span[1] - span[0], radio_us, edge_us, None)
            .map_err(|why| format!("server {server:?} from {span:?}: {why}"))?;
    }
    let (radio_us, edge_us) = of_node(client.unwrap_or_default());
    energy_of(&world.scenario.client_device, &record.energy_client, span[1] - span[0], radio_us, edge_us, None)
        .map_err(|why| format!("client {} from {span:?}: {why}", record.client))
}

/// The losses by reason are all losses.
pub(crate) fn losses(world: &World<'_>) -> Holds {
    for record in &world.records {
        let lost: u64 = record.losses.iter().filter(|l| l.reason != DropReason::Suppressed).map(|l| l.count).sum();
        ensure!(lost == record.datagrams_lost, "{} lost, {:?}", record.datagrams_lost, record.losses);
        let by_reason: u64 = record.lost_because().values().sum();
        ensure!(by_reason == record.losses.iter().map(|loss| loss.count).sum::<u64>(), "{record:?}");
        ensure!(record.losses.iter().all(|loss| loss.count > 0), "{:?}", record.losses);
        let spurious = record.retransmissions_spurious;
        ensure!(record.retransmissions_spurious_server <= spurious, "{record:?}");
        let sent = record.datagrams + record.datagrams_proxy;
        let repeated = record.retransmissions_needed + spurious;
        ensure!(repeated <= sent, "{repeated} repetitions in {sent} datagrams");
        let (gone, waiting) = (by_reason, record.datagrams_waiting);
        ensure!(gone + waiting <= sent, "{gone} lost and {waiting} waiting of {sent} datagrams");
        let traffic = &record.traffic;
        ensure!(traffic.delivered + traffic.lost() <= traffic.sent, "{traffic:?}");
    }
    Ok(())
}

/// Each datagram is delivered, lost, or on its way.
pub(crate) fn datagrams(world: &World<'_>) -> Holds {
    let (explanation, record) = (&world.explanation, world.explained());
    if world.scenario.gateway.tcp_proxy {
        return Ok(()); // what it sends is not told apart here
    }
    // Datagrams sent at the very end may belong to the next phase; a client that sends data early begins that before the end.
    let of_data = record.data.as_ref().filter(|_| sends_data_early(world)).map_or(0, |data| data.costs.datagrams);
    let (mut least, mut most) = ([0; 4], [0; 4]);
    let is_datagram = |kind| kind == "datagram" || kind == "segment";
    for event in explanation.events.iter().filter(|event| is_datagram(event.kind)) {
        let is_lost = event.state == "lost";
        let is_waiting = !is_lost && event.to_s == event.from_s;
        let fate = [is_lost, is_waiting, !is_lost && !is_waiting].map(u64::from);
        // Events after the end, if the world went on, do not count.
        let is_settled = event.to_s <= explanation.end_s;
        for (place, count) in [1].into_iter().chain(fate).enumerate() {
            let is_known = place == 0 || is_settled;
            least[place] += if event.from_s < explanation.end_s && is_known { count } else { 0 };
            most[place] += if is_known { count } else { 1 };
        }
    }
    let lost = record.losses.iter().map(|loss| loss.count).sum::<u64>();
    let (sent, waiting) = (record.datagrams, record.datagrams_waiting);
    let Some(arrived) = sent.checked_sub(lost + waiting) else {
        return Err(format!("{lost} lost and {waiting} waiting of {sent}"));
    };
    for (place, (name, found)) in
        [("sent", sent), ("lost", lost), ("waiting", waiting), ("arrived", arrived)].into_iter().enumerate()
    {
        // Of a client that tried again, the timeline has the last attempt only; of one that has a delegate, the handshake that it
        // resumes.
        let is_a_part = record.attempts > 1 || world.scenario.gateway.delegation.is_some();
        let fewest = u64::saturating_sub(least[place], of_data);
        let range = if is_a_part { fewest..=found.max(fewest) } else { fewest..=most[place] };
        ensure!(range.contains(&found), "{found} datagrams {name}, and the timeline has {range:?}");
    }
    Ok(())
}

/// True if clients may send data before the handshake is complete at both ends.
fn sends_data_early(world: &World<'_>) -> bool {
    let session = &world.scenario.session;
    world.scenario.application.requests.get() > 0 && (session.false_start || session.protocol == Protocol::Quic)
}

/// The frames of the records are those on the air.
pub(crate) fn frames(world: &World<'_>) -> Holds {
    let mut seen = [[0; 2]; 3];
    for frame in &world.frames {
        let of_traffic = (1 << 30..1 << 31).contains(&frame.datagram);
        if frame.datagram == NO_DATAGRAM || of_traffic || is_of_router(frame.datagram) {
            continue;
        }
        let place = match frame.kind {
            FrameKind::Data => 0,
            FrameKind::Ack => 1,
            _ => 2,
        };
        seen[place][0] += 1;
        seen[place][1] += frame.octets;
    }
    let data = |record: &Record| record.data.as_ref().map(|data| data.costs).unwrap_or_default();
    let sum = |of_handshake: fn(&Record) -> u64, of_data: fn(&Costs) -> u64| {
        world.records.iter().map(|record| of_handshake(record) + of_data(&data(record))).sum::<u64>()
    };
    let counted = [
        [sum(|r| r.frames, |d| d.frames), sum(|r| r.bytes_phy, |d| d.bytes_phy)],
        [sum(|r| r.frames_ack, |d| d.frames_ack), sum(|r| r.bytes_ack, |d| d.bytes_ack)],
        [sum(|r| r.frames_control, |d| d.frames_control), sum(|r| r.bytes_control, |d| d.bytes_control)],
    ];
    let mut all = counted.iter().flatten().zip(seen.iter().flatten());
    // The acknowledgement of the last data in QUIC is in no record.
    let has_more = sends_data_early(world) && world.scenario.session.protocol == Protocol::Quic;
    let holds = if world.scenario.gateway.tcp_proxy {
        // The border router's own segments have numbers as its other packets have.
        all.all(|(counted, seen)| counted >= seen)
    } else if has_more {
        all.all(|(counted, seen)| counted <= seen) && counted[0][0] > 0
    } else {
        counted == seen
    };
    ensure!(holds, "{counted:?} in the records, {seen:?} on the air");
    Ok(())
}

/// A node acknowledges what it has received, and nothing else.
pub(crate) fn acknowledgements(world: &World<'_>) -> Holds {
    for (answer, is_asked) in [
        (
            FrameKind::Ack,
            (|kind| matches!(kind, FrameKind::Data | FrameKind::SixTop | FrameKind::DataRequest | FrameKind::KeepAlive))
                as fn(FrameKind) -> bool,
        ),
        (FrameKind::StrobeAck, |kind| kind == FrameKind::Strobe),
    ] {
        // By the receiver and the sender of what is acknowledged, and the datagram that it serves.
        let (mut received, mut answered) = (BTreeMap::new(), BTreeMap::new());
        for frame in &world.frames {
            if frame.kind == answer {
                *answered.entry((frame.from, frame.to, frame.datagram)).or_insert(0_u64) += 1;
            } else if is_asked(frame.kind) && frame.received {
                *received.entry((frame.to, frame.from, frame.datagram)).or_insert(0_u64) += 1;
            }
        }
        for ((by, for_whom, datagram), count) in answered {
            let heard = received.get(&(by, for_whom, datagram)).copied().unwrap_or(0);
            ensure!(
                count <= heard,
                "datagram {datagram}, from {for_whom} to {by}: {count} of {answer:?} for {heard} frames received"
            );
        }
    }
    Ok(())
}

/// The peaks of the buffers are at least the levels that were seen.
pub(crate) fn buffers(world: &World<'_>) -> Holds {
    for level in &world.inspection.buffers {
        let node = &world.inspection.nodes[level.node.index()];
        let (queued, octets) = (level.queued as u64, level.octets as u64);
        ensure!(queued <= node.queue_peak, "{level:?}, and the peak of the queue is {}", node.queue_peak);
        let peak = node.reassembly_peak_bytes;
        ensure!(octets <= peak, "{level:?}, and the peak of reassembly is {peak}");
    }
    Ok(())
}

/// The parts of an explanation add up to the duration. The path has no gap and no overlap.
pub(crate) fn parts(world: &World<'_>) -> Holds {
    let (explanation, record) = (&world.explanation, world.explained());
    let [start, end] = [explanation.start_s, explanation.end_s].map(micros);
    let sum: u64 = explanation.parts.iter().map(|part| part.microseconds).sum();
    ensure!(sum == end - start, "parts of {sum} us in {} us", end - start);
    if let Some(duration) = record.duration_s {
        let explained = explanation.duration_s;
        ensure!(duration.to_bits() == explained.to_bits(), "{explained} s explained of {duration} s");
    }
    let mut at = explanation.start_s;
    let mut of_part = vec![0; explanation.parts.len()];
    for piece in &explanation.path {
        ensure!(piece.from_s == at && piece.to_s > at, "{piece:?} behind {at}");
        at = piece.to_s;
        of_part[piece.part] += micros(piece.to_s) - micros(piece.from_s);
    }
    ensure!(at == explanation.end_s, "the path ends at {at} s of {}", explanation.end_s);
    for (part, time) in explanation.parts.iter().zip(of_part) {
        ensure!(part.microseconds == time, "{part:?} has pieces of {time} us");
        let is_known = KINDS.iter().any(|(kind, _)| *kind == part.kind) && part.kind != "other";
        ensure!(is_known, "{part:?}");
    }
    Ok(())
}

/// No event begins before its cause does.
pub(crate) fn causes(world: &World<'_>) -> Holds {
    let events = &world.explanation.events;
    for event in events {
        let cause = event.cause.map(|number| &events[number]);
        ensure!(cause.is_none_or(|cause| cause.from_s <= event.from_s), "{event:?} because of {cause:?}");
    }
    Ok(())
}

/// The milestones of a handshake that completes are in order: it begins, the first datagram leaves, the client's hello, the
/// server's hello, and the end.
pub(crate) fn milestones(world: &World<'_>) -> Holds {
    let explanation = &world.explanation;
    // LESS has no hellos, those of QUIC are encrypted, and in CoAP they are bodies, perhaps in blocks.
    let session = &world.scenario.session;
    let has_hellos = !matches!(session.protocol, Protocol::Less | Protocol::Quic) && session.carrier != Carrier::Coap;
    if world.explained().outcome != Outcome::Completed || !has_hellos {
        return Ok(());
    }
    let first = |layers: [&str; 2], words: &str| {
        let events = explanation.events.iter().filter(|event| {
            layers.contains(&explanation.lanes[event.lane].layer) && event.kind != "loss" && event.name.contains(words)
        });
        events.map(|event| event.from_s).min_by(f64::total_cmp)
    };
    let datagram = first(["datagrams", "segments"], "");
    let [client, server] = ["ClientHello", "ServerHello"].map(|hello| first(["messages", "messages"], hello));
    let order = [Some(explanation.start_s), datagram, client, server, Some(explanation.end_s)];
    let holds = order.iter().all(Option::is_some) && order.is_sorted() && (client < server);
    // The client may have its hello ready before TCP can carry it.
    ensure!(holds, "begin, first datagram, ClientHello, ServerHello, end: {order:?}");
    Ok(())
}
