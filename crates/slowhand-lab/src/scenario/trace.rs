//! The file of a trace: delivery ratios of links over time, as CSV.

use std::path::Path;

use slowhand_net::address::NodeId;
use slowhand_net::clock::Instant;

use super::nodes::{MAX_NODE, node};
use crate::input::{InputError, Place, Probability, Seconds};

/// Sender, receiver and channel; `None` for all channels.
pub(super) type Key = (NodeId, NodeId, Option<u8>);

/// A line: from an instant on, the delivery ratio of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) at: Instant,
    pub(super) link: Key,
    pub(super) pdr: f64,
}

/// The first line.
const HEADER: &str = "time_s,from,to,channel,pdr";

/// The lines of a file. Empty lines and those that begin with `#` mean nothing.
pub(super) fn rows(file: &Path, text: &str) -> Result<Vec<Row>, InputError> {
    let error = |number: usize, column: &str, found: &str, allowed: &str| InputError {
        place: Place::Line(file.to_owned(), number),
        key: column.to_owned(),
        found: if found.is_empty() { "nothing".to_owned() } else { found.to_owned() },
        allowed: allowed.to_owned(),
        together: false,
    };
    let lines = (1..).zip(text.lines()).map(|(number, line)| (number, line.trim()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    match lines.next() {
        Some((_, HEADER)) => {}
        found => {
            let (number, line) = found.unwrap_or((1, ""));
            return Err(error(number, "", line, &format!("the line {HEADER}")));
        }
    }
    let row = |(number, line): (usize, &str)| {
        let mut fields = line.split(',').map(str::trim);
        let mut next = || fields.next().unwrap_or_default();
        let [time, from, to, channel, pdr] = [next(), next(), next(), next(), next()];
        if let Some(more) = fields.next() {
            return Err(error(number, "", &format!("a sixth value, {more}"), HEADER));
        }
        let end = |column, text: &str| {
            let found = text.parse().ok().filter(|&number: &u32| number <= MAX_NODE);
            found.map(node).ok_or_else(|| error(number, column, text, &format!("a node, 0 to {MAX_NODE}")))
        };
        let at = time.parse().ok().and_then(Seconds::new);
        let at = at.ok_or_else(|| error(number, "time_s", time, "seconds, from 0 to 1000000"))?;
        let (from, to) = (end("from", from)?, end("to", to)?);
        let is_channel = |channel: &u8| (11..=26).contains(channel);
        let channel = match channel {
            "" => None,
            text => Some(text.parse().ok().filter(is_channel).ok_or_else(|| {
                error(number, "channel", text, "a channel from 11 to 26, or nothing for all channels")
            })?),
        };
        let ratio = pdr.parse().ok().and_then(Probability::new);
        let ratio = ratio.ok_or_else(|| error(number, "pdr", pdr, "a probability from 0 to 1"))?;
        Ok(Row { at: Instant::ZERO + at.duration(), link: (from, to, channel), pdr: ratio.get() })
    };
    lines.map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Row>, String> {
        rows(Path::new("trace.csv"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn lines_are_rows() {
        let text = "# a comment\ntime_s,from,to,channel,pdr\r\n0,1,0,11,0.5\n\n 2.5, 0, 1, , 1\n";
        let row = |at, link, pdr| Row { at: Instant::from_micros(at), link, pdr };
        let [root, one] = [NodeId(0), NodeId(1)];
        let expected = vec![row(0, (one, root, Some(11)), 0.5), row(2_500_000, (root, one, None), 1.0)];
        assert_eq!(read(text), Ok(expected));
        assert_eq!(read(HEADER), Ok(Vec::new()));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let header = "allowed: the line time_s,from,to,channel,pdr";
        for (text, message) in [
            ("", format!("trace.csv:1: found nothing, {header}")),
            ("#\ntime,src\n", format!("trace.csv:2: found time,src, {header}")),
            ("-1,1,0,,1", "trace.csv:2: time_s: found -1, allowed: seconds, from 0 to 1000000".to_owned()),
            ("nan,1,0,,1", "trace.csv:2: time_s: found nan, allowed: seconds, from 0 to 1000000".to_owned()),
            ("0,one,0,,1", "trace.csv:2: from: found one, allowed: a node, 0 to 65534".to_owned()),
            ("0,1", "trace.csv:2: to: found nothing, allowed: a node, 0 to 65534".to_owned()),
            (
                "0,1,0,27,1",
                "trace.csv:2: channel: found 27, allowed: a channel from 11 to 26, or nothing for all channels"
                    .to_owned(),
            ),
            ("0,1,0,,97", "trace.csv:2: pdr: found 97, allowed: a probability from 0 to 1".to_owned()),
            ("0,1,0,,1,-80", format!("trace.csv:2: found a sixth value, -80, allowed: {HEADER}")),
        ] {
            let text =
                if text.is_empty() || text.starts_with('#') { text.to_owned() } else { format!("{HEADER}\n{text}") };
            assert_eq!(read(&text), Err(message));
        }
    }
}
