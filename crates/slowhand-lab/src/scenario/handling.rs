//! The time that the processors of the nodes take for a frame.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, IntoDeserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use slowhand_net::address::NodeId;
use slowhand_net::clock::Duration;

use super::Scenario;
use super::nodes::node;
use crate::device::Device;
use crate::input::{Document, InputError, Milliseconds};

/// The time that a node's processor takes for a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FrameHandling {
    /// As long as its device says.
    Device,
    /// This time.
    Time(Milliseconds),
}

impl Default for FrameHandling {
    fn default() -> Self {
        Self::Time(Milliseconds::constant(0.0))
    }
}

impl Scenario {
    /// The nodes whose processors take time for a frame.
    pub(super) fn frame_handling(&self) -> BTreeMap<NodeId, Duration> {
        let nodes = (0..self.mesh.nodes()).map(|node| NodeId(node as u16));
        let of_node = |id: NodeId| match self.network.frame_handling_ms {
            FrameHandling::Time(time) => time.duration(),
            FrameHandling::Device => self.device(id).frame_handling().unwrap_or_default(),
        };
        let mut times: BTreeMap<_, _> = match self.network.frame_handling_ms {
            FrameHandling::Time(time) if time.get() == 0.0 => BTreeMap::new(),
            _ => nodes.map(|id| (id, of_node(id))).collect(),
        };
        let own = self.network.nodes.iter();
        times.extend(own.filter_map(|(id, own)| Some((node(id.get()), own.frame_handling_ms?.duration()))));
        times
    }

    /// The device of a node: the server's device where the server is, else the client's.
    pub(crate) fn device(&self, node: NodeId) -> &Device {
        if self.server.at.is_node(node) { &self.server_device } else { &self.client_device }
    }
}

/// Checks that each device has the time that its node needs.
pub(super) fn check(scenario: &Scenario, document: &Document) -> Result<(), InputError> {
    if scenario.network.frame_handling_ms != FrameHandling::Device {
        return Ok(());
    }
    let has_own = |id: NodeId| {
        let own = scenario.network.nodes.iter().find(|(other, _)| node(other.get()) == id);
        own.is_some_and(|(_, own)| own.frame_handling_ms.is_some())
    };
    let nodes = (0..scenario.mesh.nodes()).map(|node| NodeId(node as u16)).filter(|&id| !has_own(id));
    let lacking = |device: &&Device| device.frame_handling().is_none();
    let Some(device) = nodes.map(|id| scenario.device(id)).find(lacking) else { return Ok(()) };
    let found = format!("\"device\", where {} has no processor.frame_handling_us", device.file.display());
    Err(document.blame("network.frame_handling_ms", found, "milliseconds, or a device that has this constant"))
}

const ALLOWED: &str = "\"device\" or milliseconds, from 0 to 1000000";

impl<'de> Deserialize<'de> for FrameHandling {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Handling;

        impl Visitor<'_> for Handling {
            type Value = FrameHandling;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(ALLOWED)
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<FrameHandling, E> {
                match word {
                    "device" => Ok(FrameHandling::Device),
                    _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
                }
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<FrameHandling, E> {
                Milliseconds::deserialize((number as f64).into_deserializer()).map(FrameHandling::Time)
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<FrameHandling, E> {
                Milliseconds::deserialize(number.into_deserializer()).map(FrameHandling::Time)
            }
        }

        deserializer.deserialize_any(Handling)
    }
}

impl Serialize for FrameHandling {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Device => serializer.serialize_str("device"),
            Self::Time(time) => time.serialize(serializer),
        }
    }
}

impl JsonSchema for FrameHandling {
    fn schema_name() -> Cow<'static, str> {
        "FrameHandling".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "const": "device" }, generator.subschema_for::<Milliseconds>()] })
    }
}
