//! What the border router does between a mesh under TSCH and a host on the Internet.

mod harness;
mod proxy;
mod suppression;
