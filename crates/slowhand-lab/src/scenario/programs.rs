//! `[[programs]]`: programs in the place of the libraries.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Unexpected, Visitor};
use slowhand_net::address::NodeId;

use super::nodes::{MAX_NODE, node, written_node};
use super::{Mesh, ServerAt};
use crate::input::{Document, Forms, InputError, Integer, Seconds, inline_schema};

/// A program in the place of a library.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Where it runs: at each `"client"` of the scenario, where its `"server"` is, on the `"internet"` (behind the border router), at
    /// the `"root"`, or at the node with this number. A list of numbers: at each of these nodes. A world is over when the programs of
    /// all clients have ended.
    pub at: ProgramAt,
    /// The program and its arguments: a text whose words are quoted as in a shell, or a list of words. There is no shell: for
    /// pipes write `["sh", "-c", "..."]`.
    pub command: Command,
    /// When it starts. Default: 1 at a client (assumed: until then a server listens), 0 elsewhere.
    pub start_s: Option<Seconds>,
    /// The texts that come to its standard input: pairs of a time and a text, such as `[[5, "on\n"], [60, ""]]`. An empty
    /// text ends the input. Default: nothing comes, and the input does not end.
    #[serde(default)]
    pub stdin: Vec<Input>,
    /// Variables of its environment, beside those of slowhand itself, which they replace. Default: none.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// The time for which it computes before it sends, after it has received something. Default: 0, computing takes no time.
    #[serde(default = "no_time")]
    pub compute_s: Seconds,
    /// When it has done what it was to do. All that is given must be true. Default: nobody asks.
    pub success: Option<Success>,
}

/// When a program has done what it was to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("minProperties" = 1))]
pub struct Success {
    /// It has ended itself with this exit code.
    pub exit: Option<Integer<0, 255>>,
    /// It has written this text, to stdout or stderr.
    #[schemars(extend("minLength" = 1))]
    pub output: Option<String>,
    /// True: a handshake of DTLS or TLS is complete at its host, as far as the network sees it: the `Finished` of the other end has
    /// arrived, and its own was sent. False: none is.
    pub finished: Option<bool>,
}

/// When clients start, if the scenario does not say it. *Assumed*: until then a server listens.
pub const CLIENTS_START: Seconds = Seconds::constant(1.0);

fn no_time() -> Seconds {
    Seconds::constant(0.0)
}

/// The host or the hosts of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramAt {
    /// Every client.
    Client,
    /// Where the server is.
    Server,
    /// Behind the border router.
    Internet,
    /// These nodes.
    Nodes(Vec<NodeId>),
}

/// The words of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command(Vec<String>);

/// The input to the standard input of a program: when it comes, and the text. No text: the input ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// When it comes.
    pub at: Seconds,
    /// The text.
    pub text: String,
}

impl Program {
    /// When it starts.
    pub fn start(&self) -> Seconds {
        let usual = if self.at == ProgramAt::Client { CLIENTS_START } else { no_time() };
        self.start_s.unwrap_or(usual)
    }

    /// An input that comes when the first empty text has ended the inputs. Of the same time the order of the list counts.
    fn after_end(&self) -> Option<usize> {
        let when = |place: &usize| (self.stdin[*place].at.get(), *place);
        let places = || 0..self.stdin.len();
        let end = places().filter(|&place| self.stdin[place].text.is_empty()).map(|place| when(&place));
        let end = end.min_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal))?;
        places().find(|place| when(place) > end)
    }

    /// Checks what no type can say of the keys of `programs[index]`.
    pub(super) fn check(
        &self,
        index: usize,
        mesh: &Mesh,
        server: ServerAt,
        document: &Document,
    ) -> Result<(), InputError> {
        let blame = |key: &str, found: String, allowed: String| {
            Err(document.blame(&format!("programs[{index}].{key}"), found, allowed))
        };
        if let ProgramAt::Nodes(nodes) = &self.at {
            if let Some(node) = nodes.iter().find(|node| node.index() >= mesh.nodes()) {
                return blame("at", node.to_string(), format!("nodes of the network, 0 to {}", mesh.nodes() - 1));
            }
            if let Some(node) = (1..nodes.len()).find(|&place| nodes[..place].contains(&nodes[place])) {
                return blame("at", format!("{} twice", nodes[node]), "each node once".to_owned());
            }
        }
        if server == ServerAt::Leaves {
            let allowed = "the place of one server where there are programs";
            return Err(document.blame("server.at", "\"leaves\"", allowed));
        }
        if let Some(name) = self.environment.keys().find(|name| name.is_empty() || name.contains(['=', '\0'])) {
            return blame("environment", format!("{name:?}"), "names without \"=\"".to_owned());
        }
        if let Some((name, _)) = self.environment.iter().find(|(_, value)| value.contains('\0')) {
            return blame(&format!("environment.{name}"), "a text with a zero".to_owned(), "none".to_owned());
        }
        if let Some(late) = self.after_end() {
            let found = format!("{} s, when the input has ended", self.stdin[late].at.get());
            return blame(&format!("stdin[{late}]"), found, "the empty text as the last one".to_owned());
        }
        match &self.success {
            Some(success) if *success == Success::default() => {
                blame("success", "nothing".to_owned(), "exit, output or finished, or several of them".to_owned())
            }
            Some(Success { output: Some(text), .. }) if text.is_empty() => {
                blame("success.output", "\"\"".to_owned(), "a text that it writes".to_owned())
            }
            _ => Ok(()),
        }
    }
}

impl Command {
    const ALLOWED: &str = "a program and its arguments: a text with words quoted as in a shell, or a list of words";

    /// The program and its arguments: there is at least the program.
    pub fn words(&self) -> &[String] {
        &self.0
    }

    fn of(words: Vec<String>) -> Option<Self> {
        let is_empty = words.first().is_none_or(String::is_empty);
        (!is_empty && !words.iter().any(|word| word.contains('\0'))).then_some(Self(words))
    }
}

impl<'de> Deserialize<'de> for Command {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (allowed, number) = (Self::ALLOWED, |_| None);
        Forms { allowed, text: |text| shlex::split(text).and_then(Self::of), number, list: Self::of }.read(deserializer)
    }
}

inline_schema!(Command, { "anyOf": [
    { "type": "string", "minLength": 1 },
    { "type": "array", "items": { "type": "string" }, "minItems": 1 },
] });

impl<'de> Deserialize<'de> for Input {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pair;

        impl<'de> Visitor<'de> for Pair {
            type Value = Input;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a pair of a time in seconds and a text, such as [5, \"on\"]")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> Result<Input, A::Error> {
                let wrong = || de::Error::invalid_value(Unexpected::Seq, &self);
                let at = pair.next_element()?.ok_or_else(wrong)?;
                let text = pair.next_element()?.ok_or_else(wrong)?;
                match pair.next_element::<de::IgnoredAny>()? {
                    None => Ok(Input { at, text }),
                    Some(_) => Err(wrong()),
                }
            }
        }

        deserializer.deserialize_any(Pair)
    }
}

impl JsonSchema for Input {
    fn schema_name() -> Cow<'static, str> {
        "Input".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A time in seconds, and the text that comes then.",
            "type": "array",
            "prefixItems": [generator.subschema_for::<Seconds>(), { "type": "string" }],
            "minItems": 2,
            "maxItems": 2,
        })
    }
}

impl<'de> Deserialize<'de> for ProgramAt {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = |place: &str| match place {
            "client" => Some(Self::Client),
            "server" => Some(Self::Server),
            "internet" => Some(Self::Internet),
            "root" => Some(Self::Nodes(vec![NodeId::ROOT])),
            _ => None,
        };
        let list = |numbers: Vec<Integer<0, MAX_NODE>>| {
            let nodes: Vec<NodeId> = numbers.into_iter().map(|number| node(number.get())).collect();
            (!nodes.is_empty()).then_some(Self::Nodes(nodes))
        };
        let number = |number| written_node(number).map(|node| Self::Nodes(vec![node]));
        let allowed = format!(
            "\"client\", \"server\", \"internet\", \"root\", the number of a node, 0 to {MAX_NODE}, or a list of numbers"
        );
        Forms { allowed: &allowed, text, number, list }.read(deserializer)
    }
}

inline_schema!(ProgramAt, { "anyOf": [
    { "enum": ["client", "server", "internet", "root"] },
    { "type": "integer", "minimum": 0, "maximum": MAX_NODE },
    { "type": "array", "items": { "type": "integer", "minimum": 0, "maximum": MAX_NODE }, "minItems": 1, "uniqueItems": true },
] });
