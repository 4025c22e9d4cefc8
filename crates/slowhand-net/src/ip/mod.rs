//! IPv6 and UDP headers.
