//! The parts of a scenario that can change while its network runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use slowhand_net::address::NodeId;
use slowhand_net::clock::Duration;
use slowhand_net::link::{Course, LinkQuality};
use slowhand_net::network::Network;
use slowhand_net::random::Probability;

use super::{Override, Scenario};
use crate::input::{Files, InputError, Place};

/// The keys that can change while a network runs, each with those below it.
pub const CHANGEABLE_KEYS: [&str; 9] = [
    "network.link_pdr",
    "network.ack_pdr",
    "network.channel_pdr",
    "network.changes",
    "lowpan.fragment_loss",
    "lowpan.frame_loss",
    "server.internet_delay_ms",
    "server.internet_jitter_ms",
    "server.internet_loss",
];

/// A change of a network that runs.
#[derive(Clone, Debug, PartialEq)]
pub enum NetworkChange {
    /// All that a link is in one direction.
    Link(LinkQuality),
    /// The change of a link with time in one direction.
    Course {
        /// The sender.
        from: NodeId,
        /// The receiver.
        to: NodeId,
        /// The ratios over time.
        course: Course,
    },
    /// The injected losses.
    Losses {
        /// That of fragments.
        fragment_loss: Probability,
        /// That of all frames.
        frame_loss: Probability,
    },
    /// The path to the Internet.
    Internet {
        /// The shortest time that a packet takes.
        delay: Duration,
        /// The largest additional time.
        jitter: Duration,
        /// The probability that a packet is lost.
        loss: Probability,
    },
}

impl NetworkChange {
    /// The link that it gives a fixed ratio in one direction.
    fn link(&self) -> Option<(NodeId, NodeId)> {
        match self {
            Self::Link(link) => Some((link.from, link.to)),
            _ => None,
        }
    }

    /// Makes the change, for what happens from now on.
    pub fn apply(&self, network: &mut Network) {
        match self {
            Self::Link(quality) => network.set_link(quality),
            Self::Course { from, to, course } => network.set_course(*from, *to, course.clone()),
            Self::Losses { fragment_loss, frame_loss } => network.set_losses(*fragment_loss, *frame_loss),
            Self::Internet { delay, jitter, loss } => network.set_internet(*delay, *jitter, *loss),
        }
    }
}

/// Why the radio of a node cannot be switched off or on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SwitchError {
    /// There is no such node.
    #[error("node {node}: found no such node, allowed: 0 to {last}")]
    Node {
        /// The number that was given.
        node: u16,
        /// The largest number of a node.
        last: usize,
    },
    /// The link layer cannot do it.
    #[error(
        "node {node}: found mac.kind = \"beacon\", whose radios follow the beacons and cannot be switched, allowed: \
         another mac.kind; or network.link_pdr=0, so that no frame arrives at any node"
    )]
    LinkLayer {
        /// The number that was given.
        node: u16,
    },
}

impl Scenario {
    /// The scenario with other values, and what they change in a network that runs. All values are read and checked as
    /// in [`load`](Self::load), with one difference: routes stay as they are, so a link may deliver nothing. A link that
    /// changes does not follow its trace or its earlier `network.changes` any more.
    ///
    /// # Errors
    /// A value is not allowed, or its key cannot change while the network runs.
    pub fn changed(&self, overrides: &[Override]) -> Result<(Self, Vec<NetworkChange>), InputError> {
        for change in overrides {
            check(change)?;
        }
        let earlier: Result<Vec<Override>, _> = self.sources.overrides.iter().map(|text| text.parse()).collect();
        let mut all = earlier?;
        for change in overrides {
            // A value that replaces earlier ones: however often it changes, there is one.
            all.retain(|earlier| change.is_removal() || !is_at_or_below(earlier.key(), change.key()));
            all.push(change.clone());
        }
        let name = Path::new(&self.sources.scenario);
        let mut files = Files::of_texts(&self.sources.files, None);
        let document = files.read(name)?;
        let mut after = Self::from_document(document, name, files, &all, Some(&self.mesh))?;
        let has_courses = overrides.iter().any(|change| is_at_or_below(change.key(), "network.changes"));
        let named = if has_courses { after.network.links_that_change() } else { BTreeSet::new() };
        let before = &self.mesh.variation().courses;
        // A link that has changed follows its course no more, also when something else changes later.
        let mesh = Arc::make_mut(&mut after.mesh);
        mesh.retain_courses(|link| before.contains_key(link) || named.contains(&(link.0, link.1)));
        let changes = changes(self, &after, has_courses);
        if !has_courses {
            let fixed: BTreeSet<_> = changes.iter().filter_map(NetworkChange::link).collect();
            Arc::make_mut(&mut after.mesh).retain_courses(|link| !fixed.contains(&(link.0, link.1)));
        }
        Ok((after, changes))
    }

    /// Checks that the radio of a node can be switched off and on while the network runs
    /// ([`Network::switch_radio`]).
    ///
    /// # Errors
    /// There is no such node, or the link layer cannot do it.
    pub fn switchable(&self, node: u16) -> Result<NodeId, SwitchError> {
        let last = self.mesh.nodes() - 1;
        if usize::from(node) > last {
            return Err(SwitchError::Node { node, last });
        }
        match self.mac.link_layer().switches_radios() {
            true => Ok(NodeId(node)),
            false => Err(SwitchError::LinkLayer { node }),
        }
    }
}

/// Refuses a key that cannot change.
fn check(change: &Override) -> Result<(), InputError> {
    if CHANGEABLE_KEYS.iter().any(|key| is_at_or_below(change.key(), key)) {
        return Ok(());
    }
    Err(InputError {
        place: Place::Override(change.key().to_owned()),
        key: change.key().to_owned(),
        found: "a key that cannot change while the network runs".to_owned(),
        allowed: format!("{}; other keys need a new start", CHANGEABLE_KEYS.join(", ")),
        together: false,
    })
}

fn is_at_or_below(key: &str, top: &str) -> bool {
    key.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The differences between the networks of two scenarios that have equal nodes and links.
fn changes(before: &Scenario, after: &Scenario, has_courses: bool) -> Vec<NetworkChange> {
    let links = before.mesh.qualities().iter().zip(after.mesh.qualities());
    let links = links.filter(|(before, after)| before != after).map(|(_, after)| NetworkChange::Link(after.clone()));
    let mut changes: Vec<NetworkChange> = links.collect();
    if has_courses {
        changes.extend(courses(before, after));
    }
    let losses = |scenario: &Scenario| NetworkChange::Losses {
        fragment_loss: Probability::new(scenario.lowpan.fragment_loss.get()),
        frame_loss: Probability::new(scenario.lowpan.frame_loss.get()),
    };
    let internet = |scenario: &Scenario| {
        let config = scenario.server.internet_config();
        NetworkChange::Internet { delay: config.delay, jitter: config.jitter, loss: config.loss }
    };
    for of in [&losses as &dyn Fn(&Scenario) -> NetworkChange, &internet] {
        changes.extend(Some(of(after)).filter(|change| *change != of(before)));
    }
    changes
}

/// The courses that are new, and the fixed ratios of the links that have none any more.
fn courses<'a>(before: &'a Scenario, after: &'a Scenario) -> impl Iterator<Item = NetworkChange> + 'a {
    let of = |scenario: &'a Scenario| &scenario.mesh.variation().courses;
    let fixed: BTreeMap<_, _> = after.mesh.qualities().iter().map(|link| ((link.from, link.to), link)).collect();
    let new = of(after).iter().filter(move |(link, course)| of(before).get(link) != Some(course));
    let new = new.map(|(&(from, to, _), course)| NetworkChange::Course { from, to, course: course.clone() });
    let gone = of(before).keys().filter(move |link| !of(after).contains_key(link));
    new.chain(gone.filter_map(move |(from, to, _)| Some(NetworkChange::Link((*fixed.get(&(*from, *to))?).clone()))))
}
