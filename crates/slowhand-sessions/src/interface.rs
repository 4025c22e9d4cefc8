//! The interface between this crate and libraries in C, as `csrc/slowhand/stack.h` has it. build.rs generates it from that header.
#![allow(non_camel_case_types, missing_docs)]

include!(concat!(env!("OUT_DIR"), "/mirrors/stack.rs"));

unsafe extern "C" {
    // The libraries that are built in: constants of csrc/*/stack.c.
    pub(crate) safe static slowhand_mbedtls: slowhand_stack;
    pub(crate) safe static slowhand_openssl: slowhand_stack;
    pub(crate) safe static slowhand_tinydtls: slowhand_stack;
}
