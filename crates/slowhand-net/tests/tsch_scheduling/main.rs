//! Scheduling functions over real 6P frames: first cells, adaptation to load, tunnels, and what losses do.

mod air;
mod functions;
mod wire;
