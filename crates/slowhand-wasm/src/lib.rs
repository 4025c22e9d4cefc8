//! The laboratory for a web page: requests and answers are JSON, over the same functions that Python calls.
//!
//! `tools/lab-page` compiles this crate to a WebAssembly module and puts it into a page (`docs/lab`). There the functions of `abi`
//! are what the page calls. Natively [`Laboratory`] is the same without them, for tests.
//!
//! A request is an object with `do`, the name of what is to be done, and what it needs. An answer is `{"ok": ...}`, or `{"error": ...}`
//! with the message and, if the scenario is at fault, with the key and the place.
//!
//! ```
//! let scenario = r#"
//!     network = { topology = { kind = "line", hops = 2 } }
//!     mac = { kind = "tsch", slotframe = 11 }
//!     client = { device = "openmote-cc2538" }
//!     session = { stack = "tinydtls", suite = "TLS_PSK_WITH_AES_128_CCM_8" }
//! "#;
//! let sources = serde_json::json!({ "scenario": "a.toml", "files": { "a.toml": scenario }, "overrides": [] });
//! let mut laboratory = slowhand_wasm::Laboratory::default();
//! laboratory.answer(&serde_json::json!({ "do": "open", "side": 0, "sources": sources }).to_string());
//! let answer = laboratory.answer(r#"{"do": "run", "side": 0, "seed": 1, "count": 3}"#);
//! assert!(answer.starts_with(r#"{"ok":[{"client":2,"duration_s":"#), "{answer}");
//! ```
//!
//! # Modules
//!
//! `laboratory` has the requests; `abi` is what a page calls (room for a text, a call, room given back), for WebAssembly only. The target is
//! `wasm32-wasip1`: there is a C library for the libraries in C, and a system that answers little. What native code alone has is behind
//! `cfg(target_family = "wasm")`: OpenSSL, and one object with hidden symbols for each library in C (`build/isolate.rs` of
//! slowhand-sessions). `csrc/wasm` there has what is left of POSIX threads where there is one.

#[cfg(target_family = "wasm")]
mod abi;
mod laboratory;

pub use laboratory::{Laboratory, MOST_OCTETS};
