//! `[mac] kind = "tsch"`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use slowhand_net::address::NodeId;
use slowhand_net::clock::Duration;
use slowhand_net::radio::tsch::hopping::DEFAULT_SEQUENCE;
use slowhand_net::radio::tsch::layout::{Crowded, Layout};
use slowhand_net::radio::tsch::schedule::{self, CellOptions, handle};
use slowhand_net::radio::tsch::scheduling::{Msf, Pid, SchedulingFunction, Tunnel, msf, pid};
use slowhand_net::radio::tsch::timing::Timing;
use slowhand_net::random::Streams;
use slowhand_net::route::Routes;

use crate::input::{Integer, Positive};
use crate::scenario::network::MAX_NODE;

/// Time-slotted channel hopping with a given schedule.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tsch {
    /// The length of a slot. 10 and 20 have OpenWSN's timing (bsp/boards/*/board_info.h); any other
    /// needs a `timing`. Default: 20, OpenWSN's on the OpenMote-CC2538.
    pub slot_ms: Positive,
    /// When within a slot what happens. Default: OpenWSN's for a slot of 10 or 20 ms.
    pub timing: Option<SlotTiming>,
    /// The length of the slotframe in slots. Default: 101 (OpenWSN, schedule.h SLOTFRAME_LENGTH).
    pub slotframe: Integer<1, 65_535>,
    /// How many cells of each kind the schedule gets.
    pub cells: Cells,
    /// Whether each node listens in an autonomous cell of its own, placed by the SAX hash of its
    /// address, in which any neighbour may send to it (MSF, RFC 9033 section 3). Default: true.
    pub autonomous: bool,
    /// The cells one by one, instead of `cells.managed`.
    pub schedule: Vec<Cell>,
    /// Who changes the schedule while the network runs, by 6P messages on the air (RFC 8480). Default: `static`, nobody.
    pub scheduling: Scheduling,
    /// Under `scheduling = "tunnel"`, how many cells of a tunnel each hop gets, each way. Default: 4 (assumed).
    pub tunnel_cells: Integer<1, 10>,
    /// How often a frame is sent again before it is given up. Default: 15 (OpenWSN, IEEE802154E.h
    /// TXRETRIES).
    pub max_retries: Integer<0, 254>,
    /// The least exponent of the backoff in shared cells: 2^BE cells. Default: 2 (OpenWSN, schedule.h
    /// MINBE).
    pub min_be: Integer<0, 8>,
    /// The greatest exponent of the backoff in shared cells. Default: 5 (OpenWSN, schedule.h MAXBE).
    pub max_be: Integer<0, 8>,
    /// How many frames a node's queue holds. Default: 20 (OpenWSN, config.h QUEUELENGTH).
    pub queue: Integer<1, 65_535>,
    /// The channels in the order in which they are hopped through. Default: all 16, as RFC 8180
    /// section 4.1 has them.
    pub hopping_sequence: Option<Vec<Integer<11, 26>>>,
}

/// Who changes the schedule of a TSCH network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scheduling {
    /// Nobody: the schedule stays as it is given.
    #[default]
    Static,
    /// The minimal scheduling function (RFC 9033): cells follow the load.
    Msf,
    /// A PID controller for each neighbour (Domingo-Prieto et al., 2016); its gains are assumed.
    Pid,
    /// MSF, and for each handshake a tunnel of cells to the root (Claeys et al., 2021, section 4.3).
    Tunnel,
}

/// When within a slot what happens, in microseconds; OpenWSN's names (IEEE802154E.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlotTiming {
    /// From the start of the slot to the start of the frame (macTsTxOffset).
    pub tx_offset_us: Integer<0, 1_000_000>,
    /// How long before and after `tx_offset_us` the receiver listens for the frame's start (half of
    /// macTsRxWait).
    pub long_guard_us: Integer<0, 1_000_000>,
    /// From the end of the frame to the start of the acknowledgement (macTsTxAckDelay).
    pub tx_ack_delay_us: Integer<0, 1_000_000>,
    /// How long before and after `tx_ack_delay_us` the sender listens for the acknowledgement (half of
    /// macTsAckWait).
    pub short_guard_us: Integer<0, 1_000_000>,
}

/// How many cells of each kind the schedule gets.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cells {
    /// Cells shared by all nodes, for sending and receiving. Default: 1 (6TiSCH minimal
    /// configuration, RFC 8180 section 4.1).
    pub shared: Integer<0, 65_535>,
    /// Dedicated cells between each node and its parent, up and down in turn, beginning with up: of
    /// three, two carry frames towards the root. Default: 2, one each way.
    pub managed: Option<Integer<0, 65_535>>,
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
    /// Whether the sender has the cell for itself. Default: dedicated.
    #[serde(default)]
    pub kind: CellKind,
}

/// Whether a cell can be contended for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CellKind {
    /// One sender, no contention, no backoff.
    #[default]
    Dedicated,
    /// Senders that share slot and channel offset contend, and back off after a loss.
    Shared,
}

impl Default for Tsch {
    fn default() -> Self {
        Self {
            slot_ms: Positive::constant(20.0),
            timing: None,
            slotframe: Integer::constant(101),
            cells: Cells::default(),
            autonomous: true,
            schedule: Vec::new(),
            scheduling: Scheduling::Static,
            tunnel_cells: Integer::constant(4),
            max_retries: Integer::constant(15),
            min_be: Integer::constant(2),
            max_be: Integer::constant(5),
            queue: Integer::constant(20),
            hopping_sequence: None,
        }
    }
}

impl Default for Cells {
    fn default() -> Self {
        Self { shared: Integer::constant(1), managed: None }
    }
}

impl Tsch {
    /// When within a slot what happens. `None` for a slot of neither 10 nor 20 ms without a `timing`, which the
    /// loader refuses.
    pub fn slot_timing(&self) -> Option<Timing> {
        let slot = Duration::from_micros((self.slot_ms.get() * 1e3).round() as u64);
        let given = |timing: SlotTiming| Timing {
            slot,
            transmit_offset: micros(timing.tx_offset_us),
            guard: micros(timing.long_guard_us),
            ack_delay: micros(timing.tx_ack_delay_us),
            ack_guard: micros(timing.short_guard_us),
        };
        let template = [Timing::SLOT_10_MS, Timing::SLOT_20_MS].into_iter().find(|template| template.slot == slot);
        self.timing.map(given).or(template)
    }

    /// How many managed cells each node and its parent begin with.
    fn managed(&self) -> u16 {
        let unless_given = if self.scheduling == Scheduling::Static && self.schedule.is_empty() { 2 } else { 0 };
        self.cells.managed.map_or(unless_given, |cells| cells.get() as u16)
    }

    /// Who changes the schedule while the network runs; none where it is static.
    pub fn function(&self, routes: &Routes, streams: &Streams) -> Option<Box<dyn SchedulingFunction>> {
        let msf = || Box::new(Msf::new(msf::MsfConfig::default(), routes, streams));
        match self.scheduling {
            Scheduling::Static => None,
            Scheduling::Msf => Some(msf()),
            Scheduling::Pid => Some(Box::new(Pid::new(pid::PidConfig::default(), routes, streams))),
            Scheduling::Tunnel => Some(Box::new(Tunnel::new(self.tunnel_cells.get() as u8, routes, msf()))),
        }
    }

    /// The channels in hopping order.
    pub fn hopping(&self) -> Vec<u8> {
        match &self.hopping_sequence {
            Some(sequence) => sequence.iter().map(|channel| channel.get() as u8).collect(),
            None => DEFAULT_SEQUENCE.to_vec(),
        }
    }

    /// The cells of every node.
    ///
    /// # Errors
    /// The slotframe is too short for the cells, which the loader refuses.
    pub fn schedule(&self, routes: &Routes) -> Result<Vec<Vec<schedule::Cell>>, Crowded> {
        let layout = Layout {
            slotframe: self.slotframe.get() as u16,
            shared: self.cells.shared.get() as u16,
            managed: self.managed(),
            autonomous: self.autonomous,
        };
        let mut cells = layout.cells(routes)?;
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

fn micros<const MIN: u32, const MAX: u32>(number: Integer<MIN, MAX>) -> Duration {
    Duration::from_micros(u64::from(number.get()))
}
