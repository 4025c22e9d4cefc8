//! tshark counts the frames that the network has sent.

use crate::world::{Air, Frame, Valid, random};
use slowhand_lab::capture_run;
use slowhand_lab::interrupt::Interrupt;
use slowhand_net::observer::FrameKind;
use slowhand_testing::wireshark::Tshark;
use std::path::Path;

/// The frame type in the frame control field (IEEE 802.15.4-2020 section 7.2.2.2), where the kind says it.
fn frame_type(kind: FrameKind) -> Option<u32> {
    match kind {
        FrameKind::Beacon => Some(0),
        FrameKind::Data | FrameKind::SixTop | FrameKind::KeepAlive => Some(1),
        FrameKind::Ack => Some(2),
        FrameKind::DataRequest => Some(3),
        _ => None,
    }
}

/// tshark starts slowly, and a file of pcapng may have several sections: so it reads many captures at once.
#[test]
fn tshark_counts_the_same_frames() {
    let scenarios: u64 = if crate::is_full() { 1_000 } else { 40 };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (all, one) = (folder.join("laws.pcapng"), folder.join("laws-one.pcapng"));
    let mut captures = Vec::new();
    let mut frames: Vec<(u64, Frame)> = Vec::new();
    for seed in 0..scenarios {
        let Ok(Valid { scenario, plan }) = Valid::new(&random(seed)) else { continue };
        let mut air = Air::default();
        let records = plan.run(1, &mut air);
        let captured = capture_run(&scenario, 1, &one, &Interrupt::default()).unwrap().unwrap();
        assert_eq!(captured, records, "scenario {seed}: a capture changes nothing");
        air.0.sort_by_key(|frame| frame.at_us);
        frames.extend(air.0.into_iter().map(|frame| (seed, frame)));
        captures.extend(std::fs::read(&one).unwrap());
    }
    std::fs::write(&all, captures).unwrap();
    // The layers above the frames depend on the scenario. Other tests look at them.
    let tshark = Tshark::of(["--disable-protocol", "6lowpan"].map(str::to_owned).into());
    let fields = ["frame.time_epoch", "wpan.frame_type", "frame.len", "wpan-tap.length", "wpan.fcs_ok"];
    let rows = tshark.rows_of_file(&all, &fields);
    assert_eq!(rows.len(), frames.len());
    assert!(frames.len() as u64 > 20 * scenarios, "{} frames", frames.len());
    for (row, (seed, frame)) in rows.iter().zip(&frames) {
        let [time, kind, length, header, is_right] = &row[..] else { panic!("{row:?}") };
        let octets = length.parse::<u64>().unwrap() - header.parse::<u64>().unwrap();
        let at_us = (time.parse::<f64>().unwrap() * 1e6).round() as u64;
        let what = || format!("scenario {seed}: {frame:?}, tshark: {row:?}");
        // A capture has the code of link security, the network's own frames only its room.
        assert!(at_us == frame.at_us && octets == frame.octets && is_right == "1", "{}", what());
        let found = u32::from_str_radix(kind.trim_start_matches("0x"), 16).ok();
        assert!(frame_type(frame.kind).is_none_or(|expected| found == Some(expected)), "{}", what());
    }
}
