//! The interface between slowhand and a stack, as `slowhand/stack.h` has it. build.rs generates it from that header.
#![allow(non_camel_case_types, dead_code)]

include!(concat!(env!("OUT_DIR"), "/stack.rs"));
