//! Questions of the page, asked natively. `tests/test_lab_page.py` asks the module itself.

use serde_json::{Value, json};
use slowhand_wasm::{Laboratory, MOST_OCTETS};

const SCENARIO: &str = r#"
    network = { topology = { kind = "line", hops = 2 } }
    mac = { kind = "csma" }
    client = { device = "openmote-cc2538" }
    session = { stack = "tinydtls", suite = "TLS_PSK_WITH_AES_128_CCM_8" }
"#;

fn ask(laboratory: &mut Laboratory, request: Value) -> Result<Value, Value> {
    let mut answer: Value = serde_json::from_str(&laboratory.answer(&request.to_string())).unwrap();
    match answer["error"].take() {
        Value::Null => Ok(answer["ok"].take()),
        error => Err(error),
    }
}

fn open(laboratory: &mut Laboratory, side: usize, overrides: &[&str]) -> Result<Value, Value> {
    let sources = json!({ "scenario": "a.toml", "files": { "a.toml": SCENARIO }, "overrides": overrides });
    ask(
        laboratory,
        json!({ "do": "open", "side": side, "sources": sources, "keys": ["network.topology", "session.mtu"] }),
    )
}

#[test]
fn two_scenarios_are_compared_in_the_same_worlds() {
    let mut laboratory = Laboratory::default();
    let told = open(&mut laboratory, 0, &[]).unwrap();
    assert_eq!(told["values"], json!({ "network.topology": { "kind": "line", "hops": 2 }, "session.mtu": null }));
    assert_eq!((&told["mac"], &told["clients"]), (&json!("csma"), &json!([2])));
    open(&mut laboratory, 1, &["network.topology.hops=4"]).unwrap();
    let rows =
        [0, 1].map(|side| ask(&mut laboratory, json!({ "do": "run", "side": side, "seed": 5, "count": 4 })).unwrap());
    let means = rows
        .map(|rows| rows.as_array().unwrap().iter().map(|row| row["duration_s"].as_f64().unwrap()).sum::<f64>() / 4.0);
    let difference = ask(&mut laboratory, json!({ "do": "difference" })).unwrap()["duration_s"].take();
    assert_eq!(difference["pairs"], 4);
    assert!((difference["mean"].as_f64().unwrap() - (means[1] - means[0])).abs() < 1e-12);
    assert!(means[1] > 1.5 * means[0], "twice as many hops: {means:?}");
    let summary = ask(&mut laboratory, json!({ "do": "summary", "side": 1 })).unwrap();
    assert_eq!(summary["completed"], 4);
    assert!((summary["metrics"]["duration_s"]["mean"].as_f64().unwrap() - means[1]).abs() < 1e-12);
    let columns = ask(&mut laboratory, json!({ "do": "columns", "side": 1 })).unwrap();
    assert_eq!(columns["seed"], json!([5, 6, 7, 8]));
}

#[test]
fn a_handshake_is_explained_and_captured() {
    let mut laboratory = Laboratory::default();
    open(&mut laboratory, 0, &[]).unwrap();
    let document = ask(&mut laboratory, json!({ "do": "explain", "side": 0, "seed": 3, "client": 2 })).unwrap();
    assert_eq!((&document["seed"], &document["outcome"]), (&json!(3), &json!("completed")));
    let frames = ask(&mut laboratory, json!({ "do": "capture", "side": 0, "seed": 3 })).unwrap();
    // A section header in little-endian order (pcapng, section 4.1), and the octets of the first ClientHello's record header.
    assert!(frames.as_str().unwrap().starts_with("0a0d0d0a"));
    assert!(frames.as_str().unwrap().contains("16feff0000"));
    let error = ask(&mut laboratory, json!({ "do": "explain", "side": 0, "seed": 3, "client": 7 })).unwrap_err();
    assert_eq!(error["message"], "found 7, allowed: the node of a client (2)");
}

#[test]
fn what_is_wrong_is_named() {
    let mut laboratory = Laboratory::default();
    let error = open(&mut laboratory, 0, &["network.link_pdr=2"]).unwrap_err();
    assert_eq!((&error["key"], &error["place"]), (&json!("network.link_pdr"), &json!("--set network.link_pdr")));
    assert_eq!(error["message"], format!("--set network.link_pdr: {}", error["reason"].as_str().unwrap()));
    let error = ask(&mut laboratory, json!({ "do": "run", "side": 0, "seed": 1, "count": 1 })).unwrap_err();
    assert_eq!(error["message"], "side: found 0, allowed: 0 or 1, if a scenario is open there");
    assert!(ask(&mut laboratory, json!({ "do": "sing" })).unwrap_err()["message"].as_str().unwrap().contains("sing"));
}

#[test]
fn a_page_refuses_a_world_that_takes_much_memory() {
    let mut laboratory = Laboratory::default();
    let star = |leaves: usize| format!("network.topology={{ kind = \"star\", leaves = {leaves} }}");
    open(&mut laboratory, 0, &[&star(600)]).unwrap();
    let error = open(&mut laboratory, 0, &[&star(700)]).unwrap_err();
    assert_eq!(MOST_OCTETS, 100_000_000);
    let message = error["message"].as_str().unwrap();
    assert!(
        message.starts_with("found a world of 701 nodes and 700 clients, about 110 MB; allowed in a page: 100 MB."),
        "{message}"
    );
}
