//! `[mac] kind = "tsch"`.

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use slowhand_net::address::NodeId;
use slowhand_net::clock::Duration;
use slowhand_net::drop_reason::DropReason;
use slowhand_net::radio::tsch::layout::{Crowded, Layout};
use slowhand_net::radio::tsch::schedule::{self, CellOptions, handle};
use slowhand_net::radio::tsch::scheduling::{Msf, Pid, SchedulingFunction, Tunnel, msf, pid, tunnel};
use slowhand_net::radio::tsch::timing::Timing;
use slowhand_net::radio::tsch::{self, TschConfig};
use slowhand_net::random::Streams;
use slowhand_net::route::Routes;

use super::{LinkLayer, LinkSecurity, Load, MacError, Opportunity, PreparedMac, prepared};
use crate::input::{Document, InputError, Integer, PositiveMilliseconds};
use crate::scenario::Profile;
use crate::scenario::keys::table;
use crate::scenario::losses::Remedy;
use crate::scenario::network::Mesh;
use crate::scenario::nodes::MAX_NODE;

table! {
    /// Time-slotted channel hopping with a given schedule.
    pub struct Tsch(TschConfig = TschConfig::openwsn(101)) {
        /// The length of a slot. Slots of 10 and 20 ms have OpenWSN's timing (bsp/boards/*/board_info.h). Any other length
        /// needs `timing`. Default: 20, as in OpenWSN on the OpenMote-CC2538.
        pub slot_ms: PositiveMilliseconds = timing.slot,
        /// The offsets and guard times within a slot. Default: OpenWSN's timing of a slot of 10 or 20 ms.
        pub timing: Option<SlotTiming>,
        /// Which moment of a frame the offsets name: those of `timing`, and those of OpenWSN. Default: `first-symbol`.
        pub start_of_frame: StartOfFrame,
        /// The length of the slotframe in slots. Default: 101 (OpenWSN, schedule.h SLOTFRAME_LENGTH).
        pub slotframe: Integer<1, 65_535> = slotframe,
        /// The number of cells of each kind in the schedule.
        pub cells: Cells,
        /// True if each node listens in an autonomous cell of its own, placed by the SAX hash of its
        /// address, in which any neighbour may send to it (MSF, RFC 9033 section 3). Default: true.
        pub autonomous: bool { true },
        /// The cells one by one, instead of `cells.up` and `cells.down`. Default: none.
        pub schedule: Vec<Cell>,
        /// The scheduling function, which changes the schedule with 6P messages (RFC 8480) while the network runs. Default:
        /// `static`, none.
        pub scheduling: Scheduling,
        /// The number of cells of a tunnel at each hop and in each direction, with `scheduling = "tunnel"`. Default: 4
        /// (assumed).
        pub tunnel_cells: Integer<1, MAX_TUNNEL_CELLS> { Integer::constant(4) },
        /// The number of times that a frame is sent again before it is dropped. Default: that of `network.profile`; 15 in
        /// OpenWSN.
        #[schemars(extend("default" = null))]
        pub max_retries: Integer<0, 254> = max_retries,
        /// The minimum backoff exponent BE: the backoff is up to 2^BE shared cells. Default: that of `network.profile`; 2 in
        /// OpenWSN.
        #[schemars(extend("default" = null))]
        pub min_be: Integer<0, 8> = backoff_exponents.0,
        /// The maximum backoff exponent. Default: that of `network.profile`; 5 in OpenWSN.
        #[schemars(extend("default" = null))]
        pub max_be: Integer<0, 8> = backoff_exponents.1,
        /// Link security of data frames, 6P messages and acknowledgements. Default: none.
        pub security: Option<LinkSecurity>,
        /// True if an acknowledgement has the address of its sender too, 8 octets more: OpenWSN's acknowledgement of 27 octets
        /// (IEEE802154.c, ieee802154_prependHeader). Default: false (IEEE 802.15.4-2020, 6.7.4.2: the receiver knows who
        /// answers).
        pub ack_source_address: bool = ack_source_address,
        /// Beacons, DIOs and keep-alives in the shared cell. Default: none, nodes have joined and clocks do not drift.
        pub load: Option<Load>,
        /// The number of frames that a node's queue holds. Default: that of `network.profile`; 20 in OpenWSN.
        #[schemars(extend("default" = null))]
        pub queue: Integer<1, 65_535> = queue,
        /// The hopping sequence: the channels in order. Default: all 16 channels, in the order of RFC 8180 section 4.1.
        #[schemars(extend("minItems" = 1))]
        pub hopping_sequence: Option<Vec<Integer<11, 26>>>,
    }
}

const MAX_TUNNEL_CELLS: u32 = tunnel::MAX_CELLS as u32;

/// The scheduling function of a TSCH network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scheduling {
    /// No scheduling function: the schedule does not change.
    #[default]
    Static,
    /// The minimal scheduling function (RFC 9033): cells follow the load.
    Msf,
    /// A PID controller for each neighbour (Domingo-Prieto et al., 2016); its gains are assumed.
    Pid,
    /// MSF, and for each handshake a tunnel of cells to the root (Claeys et al., 2021, section 4.3).
    Tunnel,
}

/// Which moment of a frame the offsets of a slot name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StartOfFrame {
    /// The first symbol of the preamble (the default). In the standard, macTsTxOffset ends at the start of the
    /// transmission, and the longest transmission from there (macTsMaxTx, 4256 us) includes the preamble.
    #[default]
    FirstSymbol,
    /// The end of the start-of-frame delimiter, 160 us after the first symbol, as in OpenWSN (board_info.h delayTx) and
    /// Contiki-NG (tsch-timeslot-timing.c). So the receiver of each frame listens 160 us less.
    Sfd,
}

/// The offsets and guard times within a slot, in microseconds. The names are OpenWSN's (IEEE802154E.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlotTiming {
    /// From the start of the slot to the start of the frame (macTsTxOffset).
    pub tx_offset_us: Integer<0, 1_000_000>,
    /// The time for which the receiver listens before and after `tx_offset_us` for the frame's start (half of macTsRxWait).
    pub long_guard_us: Integer<0, 1_000_000>,
    /// From the end of the frame to the start of the acknowledgement (macTsTxAckDelay).
    pub tx_ack_delay_us: Integer<0, 1_000_000>,
    /// The time for which the sender listens before and after `tx_ack_delay_us` for the acknowledgement (half of
    /// macTsAckWait).
    pub short_guard_us: Integer<0, 1_000_000>,
}

table! {
    /// The number of cells of each kind in the schedule.
    #[derive(Serialize)]
    pub struct Cells {
        /// Cells shared by all nodes, for sending and receiving. Default: 1 (6TiSCH minimal
        /// configuration, RFC 8180 section 4.1).
        pub shared: Integer<0, 65_535> { Integer::constant(1) },
        /// Dedicated cells from each node to its parent. They lie in turns with those of `down`: the first cell is upward.
        /// Default: 1; with a scheduling function or a written `schedule`, none.
        pub up: Option<Integer<0, 65_535>>,
        /// Dedicated cells from the parent to each node. Default: as for `up`.
        pub down: Option<Integer<0, 65_535>>,
    }
}

/// One cell of a schedule written out.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The slot within the slotframe, from 0.
    pub slot: Integer<0, 65_534>,
    /// The channel offset (index into the hopping sequence, before the slot number is added).
    /// Default: 0.
    #[serde(default)]
    pub channel_offset: Integer<0, 15>,
    /// The node that sends.
    pub from: Integer<0, MAX_NODE>,
    /// The node that receives.
    pub to: Integer<0, MAX_NODE>,
    /// Dedicated to one sender, or shared. Default: dedicated.
    #[serde(default)]
    pub kind: CellKind,
}

/// The number of nodes that may send in a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CellKind {
    /// One sender, no contention, no backoff.
    #[default]
    Dedicated,
    /// Senders that share slot and channel offset contend, and back off after a loss.
    Shared,
}

impl Tsch {
    /// The offsets and guard times within a slot. `None` for a slot of another length than 10 or 20 ms without a
    /// `timing`, which the loader refuses.
    pub fn slot_timing(&self) -> Option<Timing> {
        let slot = self.slot_ms.duration();
        let given = |timing: SlotTiming| Timing {
            slot,
            transmit_offset: micros(timing.tx_offset_us),
            guard: micros(timing.long_guard_us),
            ack_delay: micros(timing.tx_ack_delay_us),
            ack_guard: micros(timing.short_guard_us),
            lead: Duration::ZERO,
        };
        let template = [Timing::SLOT_10_MS, Timing::SLOT_20_MS].into_iter().find(|template| template.slot == slot);
        let timing = self.timing.map(given).or(template)?;
        Some(match self.start_of_frame {
            StartOfFrame::FirstSymbol => timing,
            StartOfFrame::Sfd => timing.to_sfd(),
        })
    }

    /// The number of dedicated cells with which each node and its parent begin: up, and down.
    fn dedicated(&self) -> (u16, u16) {
        let unless_given = u16::from(self.scheduling == Scheduling::Static && self.schedule.is_empty());
        let number = |given: Option<Integer<0, 65_535>>| given.map_or(unless_given, |cells| cells.get() as u16);
        (number(self.cells.up), number(self.cells.down))
    }

    /// The channels in hopping order.
    pub fn hopping(&self) -> Vec<u8> {
        match &self.hopping_sequence {
            Some(sequence) => sequence.iter().map(|channel| channel.get() as u8).collect(),
            None => TschConfig::openwsn(self.slotframe.get() as u16).hopping,
        }
    }

    /// Where cells lie, with so many dedicated ones of each node.
    fn layout(&self, up: u16, down: u16) -> Layout {
        Layout {
            slotframe: self.slotframe.get() as u16,
            shared: self.cells.shared.get() as u16,
            up,
            down,
            autonomous: self.autonomous,
        }
    }

    fn config(&self) -> Result<TschConfig, MacError> {
        let missing = || MacError::new("mac.timing", "missing, allowed: a table, or mac.slot_ms of 10 or 20");
        let mut config = TschConfig {
            timing: self.slot_timing().ok_or_else(missing)?,
            hopping: self.hopping(),
            security: self.security_header(),
            ..TschConfig::openwsn(self.slotframe.get() as u16)
        };
        self.set(&mut config);
        Ok(config)
    }

    /// The cells of every node.
    ///
    /// # Errors
    /// The slotframe is too short for the cells, which the loader refuses.
    pub fn schedule(&self, routes: &Routes) -> Result<Vec<Vec<schedule::Cell>>, Crowded> {
        let (up, down) = self.dedicated();
        let mut cells = self.layout(up, down).cells(routes)?;
        for cell in &self.schedule {
            let (from, to) = (cell.sender(), cell.receiver());
            let sends = match cell.kind {
                CellKind::Dedicated => CellOptions::TRANSMIT,
                CellKind::Shared => CellOptions::TRANSMIT_SHARED,
            };
            for (node, options, other) in [(from, sends, to), (to, CellOptions::RECEIVE, from)] {
                cells[node.index()].push(schedule::Cell {
                    slot: cell.slot.get() as u16,
                    channel_offset: cell.channel_offset.get() as u8,
                    options,
                    neighbor: Some(other),
                    handle: handle::NEGOTIATED,
                });
            }
        }
        Ok(cells)
    }
}

impl Cell {
    /// The node that sends.
    pub fn sender(&self) -> NodeId {
        NodeId(self.from.get() as u16)
    }

    /// The node that receives.
    pub fn receiver(&self) -> NodeId {
        NodeId(self.to.get() as u16)
    }
}

impl LinkLayer for Tsch {
    fn default_profile(&self) -> Profile {
        Profile::OpenWsn
    }

    fn check(&self, mesh: &Mesh, document: &Document) -> Result<(), InputError> {
        check_slot(self, document)?;
        check_cells(self, mesh.routes(), document)?;
        if let Some(load) = &self.load {
            load.check(self.cells.shared.get(), self.period(), document)?;
        }
        check_schedule(self, mesh.routes(), document)
    }

    fn period(&self) -> Duration {
        self.slot_ms.duration() * u64::from(self.slotframe.get())
    }

    /// Long enough for MSF to have cells: its first requests come within 10 s.
    fn settling(&self) -> Duration {
        match self.scheduling {
            Scheduling::Static => Duration::ZERO,
            Scheduling::Msf | Scheduling::Pid | Scheduling::Tunnel => Duration::from_secs(60),
        }
    }

    fn has_slots(&self) -> bool {
        true
    }

    fn channels(&self) -> Vec<u8> {
        self.hopping()
    }

    fn remedy(&self, reason: DropReason) -> Option<Remedy> {
        match reason {
            DropReason::RetriesExhausted => Some(Remedy::raise("mac.max_retries")),
            DropReason::NoCell if self.schedule.is_empty() => Some(Remedy::change("mac.cells")),
            DropReason::NoCell => Some(Remedy::change("mac.schedule")),
            _ => None,
        }
    }

    fn opportunity(&self, _is_to_sleepy: bool) -> Opportunity {
        let remedy = Some(Remedy::lower("mac.slotframe"));
        Opportunity { kind: "cells", words: "waiting for cells of the schedule", remedy }
    }

    fn describe(&self) -> String {
        format!("TSCH with {} slots of {} ms", self.slotframe.get(), self.slot_ms.get())
    }

    fn prepare(&self, mesh: &Mesh) -> Result<Box<dyn PreparedMac>, MacError> {
        let config = self.config()?;
        let cells = self.schedule(mesh.routes()).map_err(|crowded| MacError::new("mac.slotframe", crowded))?;
        let (scheduling, tunnel_cells) = (self.scheduling, self.tunnel_cells.get() as u8);
        let load = self.load.as_ref().map(|load| (load.config(), load.members(mesh.routes())));
        Ok(prepared(move |mesh, streams| {
            let function = scheduling.function(tunnel_cells, mesh.routes(), streams);
            let tsch = build(&config, &cells, function, mesh, streams);
            match &load {
                Some((load, members)) => tsch.with_load(*load, members.clone(), streams),
                None => tsch,
            }
        }))
    }

    /// Whatever the scheduling function is, first cells are those of MSF.
    fn prepare_forming(&self, mesh: &Mesh) -> Result<Box<dyn PreparedMac>, MacError> {
        if self.cells.shared.get() == 0 {
            let reason = "found 0, allowed: 1 or more where a network forms: beacons and DIOs are in this cell";
            return Err(MacError::new("mac.cells.shared", reason));
        }
        let (config, cells) = (self.config()?, self.layout(0, 0).common(mesh.nodes()));
        let has_function = self.negotiates_cells();
        Ok(prepared(move |mesh, streams| {
            let msf = || Box::new(Msf::forming(msf::MsfConfig::default(), mesh.nodes(), streams));
            let function = has_function.then(|| msf() as Box<dyn SchedulingFunction>);
            build(&config, &cells, function, mesh, streams).forming(streams)
        }))
    }

    fn negotiates_cells(&self) -> bool {
        self.scheduling != Scheduling::Static
    }
}

/// A network with these cells, by node, and the function that changes them.
fn build(
    config: &TschConfig,
    cells: &[Vec<schedule::Cell>],
    function: Option<Box<dyn SchedulingFunction>>,
    mesh: &Mesh,
    streams: &Streams,
) -> tsch::Tsch {
    let (config, links, cells) = (config.clone(), mesh.links(streams), cells.to_vec());
    match function {
        Some(function) => tsch::Tsch::with_function(config, links, cells, function, streams),
        None => tsch::Tsch::new(config, links, cells, streams),
    }
}

impl Scheduling {
    /// The scheduling function that changes the schedule while the network runs. `None` if the schedule is static.
    fn function(self, tunnel_cells: u8, routes: &Routes, streams: &Streams) -> Option<Box<dyn SchedulingFunction>> {
        let msf = || Box::new(Msf::new(msf::MsfConfig::default(), routes, streams));
        match self {
            Self::Static => None,
            Self::Msf => Some(msf()),
            Self::Pid => Some(Box::new(Pid::new(pid::PidConfig::default(), routes, streams))),
            Self::Tunnel => Some(Box::new(Tunnel::new(tunnel_cells, routes, msf()))),
        }
    }
}

/// Checks that a slot is long enough for what happens in it.
fn check_slot(tsch: &Tsch, document: &Document) -> Result<(), InputError> {
    let found = |number: f64| format!("{number}");
    let Some(timing) = tsch.slot_timing() else {
        let allowed = "10 or 20 (OpenWSN's slots), or another length together with mac.timing";
        return Err(document.blame("mac.slot_ms", found(tsch.slot_ms.get()), allowed));
    };
    let ack = tsch::frame::ack_octets(tsch.security_header(), tsch.ack_source_address);
    let shortest = timing.shortest_slot(ack);
    if timing.slot < shortest {
        let millis = shortest.as_micros() as f64 / 1e3;
        let allowed = format!(
            "at least {millis}: the frame's offset, 127 octets, the acknowledgement's delay and its {ack} octets"
        );
        return Err(document.blame("mac.slot_ms", found(tsch.slot_ms.get()), allowed));
    }
    // The moments that the guard times lie around.
    let (frame, ack) = (timing.transmit_offset + timing.lead, timing.ack_delay + timing.lead);
    if let Some(SlotTiming { tx_offset_us, tx_ack_delay_us, .. }) = tsch.timing {
        for (key, offset) in [("tx_offset_us", micros(tx_offset_us)), ("tx_ack_delay_us", micros(tx_ack_delay_us))] {
            if offset < timing.lead {
                let allowed = format!("at least {}, the preamble and SFD before that moment", timing.lead.as_micros());
                return Err(document.blame(&format!("mac.timing.{key}"), offset.as_micros().to_string(), allowed));
            }
        }
    }
    if timing.guard > frame {
        let allowed = format!("at most mac.timing.tx_offset_us, {}", frame.as_micros());
        return Err(document.blame("mac.timing.long_guard_us", timing.guard.as_micros().to_string(), allowed));
    }
    if timing.ack_guard > ack {
        let allowed = format!("at most mac.timing.tx_ack_delay_us, {}", ack.as_micros());
        return Err(document.blame("mac.timing.short_guard_us", timing.ack_guard.as_micros().to_string(), allowed));
    }
    if tsch.min_be > tsch.max_be {
        let allowed = format!("at most mac.max_be, {}", tsch.max_be.get());
        return Err(document.blame("mac.min_be", tsch.min_be.get().to_string(), allowed));
    }
    if tsch.hopping_sequence.as_ref().is_some_and(Vec::is_empty) {
        return Err(document.blame("mac.hopping_sequence", "no channel", "at least one channel from 11 to 26"));
    }
    Ok(())
}

/// Checks that the cells have room in the slotframe, and that each one is between a node and its parent.
fn check_cells(tsch: &Tsch, routes: &Routes, document: &Document) -> Result<(), InputError> {
    let slotframe = tsch.slotframe.get();
    if tsch.autonomous && slotframe < 2 {
        let allowed = "at least 2: autonomous cells lie behind slot 0 (or mac.autonomous = false)";
        return Err(document.blame("mac.slotframe", slotframe.to_string(), allowed));
    }
    if tsch.cells.shared.get() > slotframe {
        let allowed = format!("at most mac.slotframe, {slotframe}");
        return Err(document.blame("mac.cells.shared", tsch.cells.shared.get().to_string(), allowed));
    }
    let given = ["mac.cells.up", "mac.cells.down"].into_iter().find(|key| document.has(key));
    if let Some(key) = given.filter(|_| !tsch.schedule.is_empty()) {
        let allowed = "mac.cells.up and mac.cells.down, or mac.schedule, not both";
        return Err(document.blame("mac.schedule", format!("a schedule beside {key}"), allowed));
    }
    for (index, cell) in tsch.schedule.iter().enumerate() {
        let key = |name: &str| format!("mac.schedule[{index}].{name}");
        let slot = cell.slot.get();
        if slot >= slotframe {
            let allowed = format!("a slot of the slotframe, 0 to {}", slotframe - 1);
            return Err(document.blame(&key("slot"), slot.to_string(), allowed));
        }
        if slot < tsch.cells.shared.get() {
            let found = format!("{slot}, which is one of the cells.shared = {} shared slots", tsch.cells.shared.get());
            let allowed = format!("{} to {}", tsch.cells.shared.get(), slotframe - 1);
            return Err(document.blame(&key("slot"), found, allowed));
        }
        for (name, node) in [("from", cell.sender()), ("to", cell.receiver())] {
            if node.index() >= routes.nodes() {
                let allowed = format!("a node of the network, 0 to {}", routes.nodes() - 1);
                return Err(document.blame(&key(name), node.to_string(), allowed));
            }
        }
        if routes.parent(cell.sender()) != Some(cell.receiver())
            && routes.parent(cell.receiver()) != Some(cell.sender())
        {
            let found = format!("a cell from node {} to node {}", cell.sender(), cell.receiver());
            return Err(document.blame(
                &key("to"),
                found,
                "a cell between a node and its parent: nothing else is sent",
            ));
        }
    }
    check_dedicated_cells(tsch, document)
}

/// Checks that no node has two dedicated cells in one slot.
fn check_dedicated_cells(tsch: &Tsch, document: &Document) -> Result<(), InputError> {
    let Some((index, other)) = first_clash(&tsch.schedule) else { return Ok(()) };
    let found = format!("slot {}, in which schedule[{other}] has the same node busy", tsch.schedule[index].slot.get());
    let key = format!("mac.schedule[{index}].slot");
    Err(document.blame(&key, found, "one dedicated cell of a node in a slot"))
}

/// The first cell that shares a slot and a node with an earlier one, where one of the two is dedicated; and the first
/// such earlier cell.
fn first_clash(cells: &[Cell]) -> Option<(usize, usize)> {
    /// The first cell of a node in a slot, and the first dedicated one.
    #[derive(Default)]
    struct Busy {
        cell: Option<usize>,
        dedicated: Option<usize>,
    }

    let mut busy: HashMap<(u32, NodeId), Busy> = HashMap::new();
    for (index, cell) in cells.iter().enumerate() {
        let is_dedicated = cell.kind == CellKind::Dedicated;
        let places = [cell.sender(), cell.receiver()].map(|node| (cell.slot.get(), node));
        let before = places.iter().filter_map(|place| busy.get(place));
        let clash = before.filter_map(|busy| if is_dedicated { busy.cell } else { busy.dedicated }).min();
        if let Some(other) = clash {
            return Some((index, other));
        }
        for place in places {
            let busy = busy.entry(place).or_default();
            busy.cell.get_or_insert(index);
            if is_dedicated {
                busy.dedicated.get_or_insert(index);
            }
        }
    }
    None
}

/// Checks that each node can send to its parent and its children.
fn check_schedule(tsch: &Tsch, routes: &Routes, document: &Document) -> Result<(), InputError> {
    let slotframe = tsch.slotframe.get();
    let cells = tsch.schedule(routes).map_err(|crowded| {
        let found = format!(
            "{slotframe}, with no slot left for dedicated cell {} between node {} and its parent {}",
            crowded.cell, crowded.node, crowded.parent
        );
        document.blame("mac.slotframe", found, "a slotframe with room for all cells, or fewer mac.cells")
    })?;
    // Sender and receiver of each cell; no receiver: every neighbour.
    let mut sends: HashSet<(NodeId, Option<NodeId>)> = HashSet::new();
    for (node, cells) in (0..).map(NodeId).zip(&cells) {
        sends.extend(cells.iter().filter(|cell| cell.options.transmit).map(|cell| (node, cell.neighbor)));
    }
    for child in (1..routes.nodes()).map(|node| NodeId(node as u16)) {
        let Some(parent) = routes.parent(child) else { continue };
        for (from, to) in [(child, parent), (parent, child)] {
            if !sends.contains(&(from, None)) && !sends.contains(&(from, Some(to))) {
                let found = format!("no cell in which node {from} can send to node {to}");
                let allowed = "shared or autonomous cells, mac.cells.up and mac.cells.down of at least 1, or a schedule \
                               with a cell each way";
                let key = if tsch.schedule.is_empty() { "mac.cells" } else { "mac.schedule" };
                return Err(document.blame(key, found, allowed));
            }
        }
    }
    Ok(())
}

fn micros<const MIN: u32, const MAX: u32>(number: Integer<MIN, MAX>) -> Duration {
    Duration::from_micros(u64::from(number.get()))
}

#[cfg(test)]
mod tests;
