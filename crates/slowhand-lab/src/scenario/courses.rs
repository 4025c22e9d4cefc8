//! The changes with time, worked out of the keys in [`variation`](super::variation), and checked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use slowhand_net::address::NodeId;
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::link::{self, Course, LinkQuality, Variation};

use super::mac::LinkLayer;
use super::network::{Network, Topology};
use super::nodes::node;
use super::trace::{Key, rows};
use super::variation::{Change, Outage, Trace, Walk, WiFi, instant};
use crate::input::{Document, Files, InputError, PositiveSeconds, Seconds};

/// The changes with time, in a network with these links. Reads the trace.
pub(super) fn variation(
    network: &Network,
    links: &[LinkQuality],
    files: &mut Files<'_>,
    document: &Document,
) -> Result<Variation, InputError> {
    let fixed: BTreeMap<(NodeId, NodeId), f64> = links.iter().map(|link| ((link.from, link.to), link.data)).collect();
    let mut courses = match &network.trace {
        Some(trace) => of_trace(trace, &fixed, files, document)?,
        None => BTreeMap::new(),
    };
    courses.extend(of_changes(&network.changes, &courses, &fixed, document)?);
    if let Some(walk) = network.walk {
        courses = of_walk(walk, network, &fixed, document)?;
    }
    wifi(network, document)?;
    Ok(Variation {
        courses,
        random_start: network.trace.as_ref().is_some_and(|trace| trace.random_start),
        states: network.gilbert_elliott.as_ref().map(|states| link::GilbertElliott {
            good: states.good_ms.duration(),
            bad: states.bad_ms.duration(),
            good_pdr: states.good_pdr.get(),
            bad_pdr: states.bad_pdr.get(),
        }),
        interferers: network.wifi.iter().map(WiFi::interferer).collect(),
    })
}

type Courses = BTreeMap<Key, Course>;

fn of_trace(
    trace: &Trace,
    fixed: &BTreeMap<(NodeId, NodeId), f64>,
    files: &mut Files<'_>,
    document: &Document,
) -> Result<Courses, InputError> {
    let name = Path::new(&trace.file);
    if !files.has(name) {
        let found = format!("{:?}, which is not there", trace.file);
        return Err(document.blame("network.trace.file", found, "the path of a CSV file, relative to the scenario"));
    }
    let text = files.text(name, "a CSV file that can be read")?;
    let rows = rows(&files.path(name), &text)?;
    let last = rows.iter().map(|row| row.at).max().unwrap_or_default();
    let repeat = trace.repeat_s.map(PositiveSeconds::duration);
    match repeat {
        Some(repeat) if repeat < last.since(Instant::ZERO) => {
            let found = trace.repeat_s.map_or(0.0, PositiveSeconds::get).to_string();
            let allowed = format!("at least {}, the time of the last line", last.as_secs_f64());
            return Err(document.blame("network.trace.repeat_s", found, allowed));
        }
        None if trace.random_start => {
            let allowed = "false without network.trace.repeat_s, the length of the trace";
            return Err(document.blame("network.trace.random_start", "true", allowed));
        }
        _ => {}
    }
    let mut steps: BTreeMap<Key, Vec<(Instant, f64)>> = BTreeMap::new();
    for row in rows.into_iter().filter(|row| fixed.contains_key(&(row.link.0, row.link.1))) {
        steps.entry(row.link).or_default().push((row.at, row.pdr));
    }
    if steps.is_empty() {
        let found = format!("{:?}, which has no line about a link of the topology", trace.file);
        return Err(document.blame("network.trace.file", found, "a trace of links of this network"));
    }
    let start = trace.start_s.map_or(Duration::ZERO, Seconds::duration);
    Ok(steps.into_iter().map(|(link, steps)| (link, Course::new(steps, repeat).starting_at(start))).collect())
}

fn of_changes(
    changes: &[Change],
    traced: &Courses,
    fixed: &BTreeMap<(NodeId, NodeId), f64>,
    document: &Document,
) -> Result<Courses, InputError> {
    let traced: BTreeSet<(NodeId, NodeId)> = traced.keys().map(|(from, to, _)| (*from, *to)).collect();
    let mut steps: BTreeMap<Key, Vec<(Instant, f64)>> = BTreeMap::new();
    for (index, change) in changes.iter().enumerate() {
        let (from, to) = (node(change.from.get()), node(change.to.get()));
        let reverse = change.reverse_pdr.unwrap_or(change.pdr);
        for (from, to, pdr) in [(from, to, change.pdr), (to, from, reverse)] {
            let refuse = |found: String, allowed: &str| {
                Err(document.blame(&format!("network.changes[{index}].to"), found, allowed))
            };
            let Some(&first) = fixed.get(&(from, to)) else {
                return refuse(format!("no link between {from} and {to}"), "two nodes with a link");
            };
            if traced.contains(&(from, to)) {
                let allowed = "a link without a line in network.trace.file";
                return refuse(format!("the link between {from} and {to}, which follows the trace"), allowed);
            }
            let steps = steps.entry((from, to, None)).or_insert_with(|| vec![(Instant::ZERO, first)]);
            steps.push((instant(change.at_s), pdr.get()));
        }
    }
    Ok(steps.into_iter().map(|(link, steps)| (link, Course::new(steps, None))).collect())
}

fn of_walk(
    walk: Walk,
    network: &Network,
    fixed: &BTreeMap<(NodeId, NodeId), f64>,
    document: &Document,
) -> Result<Courses, InputError> {
    let refuse = |found: &str, allowed: &str| Err(document.blame("network.walk", found, allowed));
    if !matches!(network.topology, Topology::Star { .. }) {
        return refuse("a walk", "this key with network.topology.kind = \"star\" only");
    }
    if network.trace.is_some() || !network.changes.is_empty() {
        return refuse("a walk, and other links that change", "one of network.walk, network.changes and network.trace");
    }
    let course = |(&(from, to), &pdr): (&(NodeId, NodeId), &f64)| {
        let begin = Instant::ZERO + walk.begin_of(from.max(to).index());
        let steps = vec![(Instant::ZERO, 0.0), (begin, pdr), (begin + walk.reach_s.duration(), 0.0)];
        ((from, to, None), Course::new(steps, None))
    };
    Ok(fixed.iter().map(course).collect())
}

fn wifi(network: &Network, document: &Document) -> Result<(), InputError> {
    let nodes = network.topology.node_count();
    for (index, wifi) in network.wifi.iter().enumerate() {
        if !(wifi.duty.get() > 0.0 && wifi.duty.get() < 1.0) {
            let found = wifi.duty.get().to_string();
            return Err(document.blame(&format!("network.wifi[{index}].duty"), found, "a share above 0 and below 1"));
        }
        let hit = wifi.nodes.iter().flatten().enumerate();
        if let Some((number, node)) = hit.into_iter().find(|(_, node)| node.get() as usize >= nodes) {
            let key = format!("network.wifi[{index}].nodes[{number}]");
            return Err(document.blame(&key, node.get().to_string(), known(nodes)));
        }
    }
    Ok(())
}

fn known(nodes: usize) -> String {
    format!("a node of the network, 0 to {}", nodes - 1)
}

/// Checks that the link layer can do what the outages ask for, and that they are possible.
pub(super) fn check(network: &Network, link_layer: &dyn LinkLayer, document: &Document) -> Result<(), InputError> {
    let nodes = network.topology.node_count();
    for (index, outage) in network.outages.iter().enumerate() {
        let blame = |key: &str, found: String, allowed: String| {
            Err(document.blame(&format!("network.outages[{index}].{key}"), found, allowed))
        };
        if !link_layer.switches_radios() {
            let allowed = "this key with another mac.kind than \"beacon\", whose radios follow the beacons".to_owned();
            return blame("node", "a radio that is switched off".to_owned(), allowed);
        }
        if outage.node.get() as usize >= nodes {
            return blame("node", outage.node.get().to_string(), known(nodes));
        }
        if outage.until_s <= outage.from_s {
            let allowed = format!("later than from_s, {}", outage.from_s.get());
            return blame("until_s", outage.until_s.get().to_string(), allowed);
        }
        let overlaps = |other: &Outage| {
            other.node == outage.node && other.from_s <= outage.until_s && outage.from_s <= other.until_s
        };
        if let Some(first) = network.outages[..index].iter().position(overlaps) {
            let found = format!("{}, in the time of outages[{first}]", outage.from_s.get());
            return blame("from_s", found, "outages of a node that do not touch each other".to_owned());
        }
    }
    Ok(())
}
