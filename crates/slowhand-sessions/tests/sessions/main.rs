//! Sessions of real libraries against each other, without a network.

mod application;
mod arithmetic;
mod certificates;
mod computation;
mod configuration;
mod determinism;
mod failures;
mod interoperation;
mod lean;
mod lean_dtls13;
mod lean_extensions;
mod lean_profile;
mod lean_public_keys;
mod lean_wire;
mod losses;
mod mirrors;
mod openssl;
mod orders;
mod pair;
mod performance;
mod processors;
mod resumption;
mod robustness;
mod rsa;
mod sizes;
mod stream;
