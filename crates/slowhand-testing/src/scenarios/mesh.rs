//! `[network]`: topologies, links, and what changes with time.

use super::{Draw, TRACE_FILE};

/// The facts about a mesh that the other sections must know.
pub(super) struct Mesh {
    /// The number of nodes, the root included.
    pub(super) nodes: u64,
    /// The nodes without children.
    pub(super) leaves: Vec<u64>,
}

pub(super) fn draw(draw: &mut Draw) -> Mesh {
    let mesh = topology(draw);
    links(draw);
    variation(draw, &mesh);
    draw.maybe(
        8,
        "network.nodes",
        &[
            "{ 0 = { queue = 60, reassembly_buffers = 4 } }",
            "{ 1 = { queue = 3 } }",
            "{ 1 = { reassembly_buffers = 1, frame_handling_ms = 3 } }",
        ],
    );
    draw.maybe(
        20,
        "network.profile",
        &["\"contiki-ng\"", "\"openthread\"", "\"riot\"", "\"zephyr\"", "\"openwsn\"", "\"rfc\""],
    );
    draw.maybe(10, "network.capture", &["{ threshold_db = 3, spread_db = 4 }", "{ threshold_db = 6, spread_db = 0 }"]);
    draw.maybe(14, "network.frame_handling_ms", &["2", "2", "5.5", "5.5", "\"device\""]);
    mesh
}

fn topology(draw: &mut Draw) -> Mesh {
    let random = &mut draw.random;
    let kind = *random.weighted(&[(35, "line"), (25, "star"), (15, "tree"), (25, "explicit")]);
    let (value, parents): (String, Vec<u64>) = match kind {
        "line" => {
            let hops = *random.weighted(&[(30, 1), (30, 2), (25, 3), (15, 4)]);
            (format!("{{ kind = \"line\", hops = {hops} }}"), (0..hops).collect())
        }
        "star" => {
            let leaves = random.in_range(1..5);
            (format!("{{ kind = \"star\", leaves = {leaves} }}"), vec![0; leaves as usize])
        }
        "tree" => {
            let nodes = random.in_range(4..8);
            let value = format!("{{ kind = \"tree\", depth = 2, fan_out = 2, nodes = {nodes} }}");
            (value, (1..nodes).map(|node| (node - 1) / 2).collect())
        }
        _ => {
            let parents: Vec<u64> = (1..random.in_range(3..7)).map(|node| random.in_range(0..node)).collect();
            let links = (1..).zip(&parents).map(|(node, parent)| {
                let quality = *random.one_of(&["", "", ", pdr = 0.9", ", pdr = 0.95, reverse_pdr = 0.75"]);
                format!("{{ from = {parent}, to = {node}{quality} }}")
            });
            (format!("{{ kind = \"explicit\", links = [{}] }}", links.collect::<Vec<_>>().join(", ")), parents)
        }
    };
    draw.set("network.topology", value);
    let nodes = parents.len() as u64 + 1;
    if draw.random.percent(5) {
        let routes = (1..).zip(&parents).map(|(node, parent): (u64, _)| format!("{node} = {parent}"));
        draw.set("network.parents", format_args!("{{ {} }}", routes.collect::<Vec<_>>().join(", ")));
    } else {
        draw.maybe(8, "network.routing", &["\"etx\""]);
    }
    Mesh { nodes, leaves: (1..nodes).filter(|node| !parents.contains(node)).collect() }
}

fn links(draw: &mut Draw) {
    draw.maybe(45, "network.link_pdr", &[0.97, 0.95, 0.9, 0.8, 0.65]);
    draw.maybe(20, "network.ack_pdr", &[0.99, 0.9, 0.7]);
    draw.maybe(6, "network.channel_pdr", &["{ 26 = 0.7 }", "{ 15 = 0.2, 20 = 0.5 }"]);
}

fn variation(draw: &mut Draw, mesh: &Mesh) {
    draw.maybe(
        8,
        "network.gilbert_elliott",
        &["{ good_ms = 2000, bad_ms = 400 }", "{ good_ms = 500, bad_ms = 100, bad_pdr = 0.3 }"],
    );
    draw.maybe(
        7,
        "network.wifi",
        &[
            "[{ channel = 6, duty = 0.2, burst_ms = 4 }]",
            "[{ channel = 11, duty = 0.3, burst_ms = 2, loss = 0.8, nodes = [0] }]",
            "[{ channel = 1, duty = 0.1, burst_ms = 20 }, { channel = 13, duty = 0.2, burst_ms = 1 }]",
        ],
    );
    // Every topology has a link between nodes 0 and 1.
    if draw.random.percent(7) {
        draw.set("network.trace", format_args!("{{ file = \"{TRACE_FILE}\", repeat_s = 12, random_start = true }}"));
    } else {
        draw.maybe(6, "network.changes", &[
            "[{ at_s = 1, from = 0, to = 1, pdr = 0.5 }]",
            "[{ at_s = 0.4, from = 1, to = 0, pdr = 0, reverse_pdr = 0.8 }, { at_s = 6, from = 0, to = 1, pdr = 0.9 }]",
        ]);
    }
    if draw.random.percent(9) {
        let node = draw.random.in_range(0..mesh.nodes);
        let (from, lasts) = (draw.random.in_range(0..30), *draw.random.one_of(&[5, 20, 80]));
        let [from, until] = [from, from + lasts].map(|tenths| format!("{}.{}", tenths / 10, tenths % 10));
        draw.set("network.outages", format_args!("[{{ node = {node}, from_s = {from}, until_s = {until} }}]"));
    }
}
