//! `[mac]` and `[lowpan]`.

use super::Draw;
use super::mesh::Mesh;

/// The facts about a link layer that the other sections must know.
pub(super) struct LinkLayer {
    pub(super) kind: &'static str,
    pub(super) has_sleepy: bool,
    pub(super) forwards_fragments: bool,
    pub(super) has_rpl: bool,
}

pub(super) fn draw(draw: &mut Draw, mesh: &Mesh) -> LinkLayer {
    let kind = *draw.random.weighted(&[(38, "tsch"), (32, "csma"), (15, "xmac"), (15, "beacon")]);
    draw.set_text("mac.kind", kind);
    let (mut has_sleepy, mut is_short) = (false, false);
    match kind {
        "tsch" => tsch(draw, mesh),
        "csma" => (has_sleepy, is_short) = csma(draw, mesh),
        "xmac" => xmac(draw),
        _ => beacon(draw),
    }
    draw.maybe(
        12,
        "mac.security",
        &[
            "{ level = \"enc-mic-32\" }",
            "{ level = \"mic-64\", key_id_mode = 0 }",
            "{ level = \"enc-mic-128\", key_id_mode = 2, key_index = 3 }",
        ],
    );
    draw.maybe(12, "mac.queue", &[3, 6, 12, 30]);
    losses(draw);
    let (reassembly, has_rpl) = fragments(draw, is_short);
    let forwards_fragments = matches!(reassembly, "forwarding" | "recovery");
    LinkLayer { kind, has_sleepy, forwards_fragments, has_rpl }
}

fn tsch(draw: &mut Draw, mesh: &Mesh) {
    let scheduling = *draw.random.weighted(&[(84, "static"), (6, "msf"), (5, "pid"), (5, "tunnel")]);
    if scheduling == "static" {
        let shared = draw.random.in_range(1..4);
        let each = *draw.random.weighted(&[(30, 0), (50, 1), (20, 2)]);
        let slots = shared + 2 * each * (mesh.nodes - 1) + mesh.nodes;
        let least = *[7, 11, 17, 23, 31, 41].iter().find(|length| **length >= slots).unwrap_or(&53);
        let slotframe = draw.random.in_range(least..least + 6);
        draw.set("mac.slotframe", slotframe);
        draw.set("mac.cells", format_args!("{{ shared = {shared}, up = {each}, down = {each} }}"));
        draw.maybe(if each > 0 { 20 } else { 5 }, "mac.autonomous", &[false]);
        draw.maybe(9, "mac.load", &["{}", "{ beacon_period_s = 2, dio_interval_min = 10, keep_alive_s = 3 }"]);
    } else {
        draw.set_text("mac.scheduling", scheduling);
        let slotframe = draw.random.in_range(17..41);
        draw.set("mac.slotframe", slotframe);
    }
    draw.maybe(50, "mac.slot_ms", &[10]);
    draw.maybe(25, "mac.max_retries", &[0, 1, 3, 3, 7, 7]);
    draw.maybe(10, "mac.min_be", &[1, 3]);
    draw.maybe(10, "mac.ack_source_address", &[true]);
    draw.maybe(10, "mac.start_of_frame", &["\"sfd\""]);
    draw.maybe(12, "mac.hopping_sequence", &["[15, 20, 25, 26]", "[17]"]);
}

/// Returns whether it has sleepy devices, and whether it has short addresses.
fn csma(draw: &mut Draw, mesh: &Mesh) -> (bool, bool) {
    let has_sleepy = draw.random.percent(45);
    if has_sleepy {
        if draw.random.percent(75) {
            draw.set_text("mac.sleepy", "leaves");
        } else {
            let leaf = *draw.random.one_of(&mesh.leaves);
            draw.set("mac.sleepy", format_args!("[{leaf}]"));
        }
        draw.maybe(70, "mac.poll_period_ms", &[300, 1_000, 3_000]);
        draw.maybe(30, "mac.fast_poll", &["\"session\"", "\"never\""]);
        draw.maybe(15, "mac.fast_poll_period_ms", &[50, 250]);
        draw.maybe(10, "mac.data_wait_ms", &[20, 50]);
        draw.maybe(12, "mac.csl", &["{ period_ms = 160 }", "{ period_ms = 480, accuracy_ppm = 40 }"]);
        draw.maybe(15, "mac.pending_in_data_acks", &[false]);
        draw.maybe(15, "mac.indirect_attempts", &[1, 2]);
        draw.maybe(15, "mac.indirect_timeout_s", &["7.68", "2"]);
    }
    let is_short = draw.random.percent(45);
    if is_short {
        draw.set_text("mac.addresses", "short");
    }
    draw.maybe(25, "mac.max_retries", &[0, 1, 3, 3, 7, 7]);
    draw.maybe(15, "mac.max_csma_backoffs", &[0, 2]);
    draw.maybe(15, "mac.retry_max_be", &[0, 3]);
    draw.maybe(15, "mac.retries_busy_channel", &[false]);
    draw.maybe(10, "mac.min_be", &[1, 4]);
    draw.maybe(10, "mac.channel", &[11, 17]);
    (has_sleepy, is_short)
}

fn xmac(draw: &mut Draw) {
    draw.maybe(60, "mac.check_interval_ms", &["31.25", "62.5", "250"]);
    draw.maybe(30, "mac.model", &["\"xmac-2010\""]);
    draw.maybe(20, "mac.retry", &["\"exponential\"", "\"linear\""]);
    draw.maybe(45, "mac.data_ack", &[true]);
    draw.maybe(15, "mac.neighbor_queues", &[1, 4]);
}

fn beacon(draw: &mut Draw) {
    draw.maybe(50, "mac.beacon_interval_ms", &["245.76", "983.04"]);
    draw.maybe(20, "mac.cap_ms", &["30.72"]);
    match draw.random.in_range(0..4) {
        0 => {
            draw.set_text("mac.downward", "direct");
            draw.set("mac.rx_on_when_idle", true);
        }
        1 => draw.set("mac.rx_on_when_idle", true),
        _ => {}
    }
    draw.maybe(20, "mac.late_frames", &[false]);
    draw.maybe(20, "mac.max_retries", &[0, 1, 7, 7]);
    draw.maybe(10, "mac.max_csma_backoffs", &[0, 2]);
    draw.maybe(10, "mac.transaction_persistence", &[3]);
}

/// Losses that the scenario asks for.
fn losses(draw: &mut Draw) {
    let before = draw.keys.len();
    draw.maybe(18, "lowpan.fragment_loss", &[0.02, 0.05, 0.1]);
    draw.maybe(14, "lowpan.frame_loss", &[0.02, 0.05, 0.15]);
    if draw.random.percent(20) {
        let numbers = [1, 2, 3].map(|_| draw.random.in_range(1..25).to_string());
        draw.set("lowpan.dropped_frames", format_args!("[{}]", numbers.join(", ")));
    }
    if draw.keys.len() > before {
        draw.maybe(25, "lowpan.loss_spread", &["\"flight\""]);
    }
}

/// Returns what happens to fragments, and whether packets have headers of RPL.
fn fragments(draw: &mut Draw, is_short: bool) -> (&'static str, bool) {
    let random = &mut draw.random;
    let reassembly = match is_short && random.percent(50) {
        true => "mesh-under",
        false => *random.weighted(&[(70, "per-hop"), (14, "forwarding"), (16, "recovery")]),
    };
    if reassembly != "per-hop" {
        draw.set_text("lowpan.reassembly", reassembly);
    }
    if matches!(reassembly, "forwarding" | "recovery") {
        draw.maybe(20, "lowpan.forwarding.entries", &[1, 2]);
        draw.maybe(10, "lowpan.forwarding.timeout_s", &[4, 10]);
    }
    if reassembly == "recovery" {
        draw.maybe(20, "lowpan.recovery.window", &[1, 3]);
        draw.maybe(20, "lowpan.recovery.retries", &[0, 1, 4]);
        draw.maybe(20, "lowpan.recovery.adaptive", &[true]);
        draw.maybe(15, "lowpan.recovery.first_alone", &[false]);
        draw.maybe(15, "lowpan.recovery.fragment_size", &[48, 64]);
        draw.maybe(15, "lowpan.recovery.arq_timeout_s", &["1.5", "4"]);
    }
    draw.maybe(if is_short { 30 } else { 10 }, "lowpan.max_frame_payload", &[72, 80, 96]);
    draw.maybe(25, "lowpan.reassembly_buffers", &[1, 3, 8]);
    draw.maybe(10, "lowpan.border_router_reassembly_buffers", &[1, 6]);
    draw.maybe(35, "lowpan.reassembly_timeout_s", &["1.25", "5", "20"]);
    draw.maybe(5, "lowpan.ecn_threshold", &[0.5]);
    draw.maybe(4, "lowpan.contexts", &["{ 0 = \"2001:db8::/64\" }"]);
    if reassembly == "mesh-under" || !draw.random.percent(22) {
        return (reassembly, false);
    }
    draw.maybe(100, "lowpan.rpl", &["\"storing\"", "\"non-storing\""]);
    draw.maybe(50, "lowpan.rpl_encoding", &["\"6lorh\""]);
    (reassembly, true)
}
