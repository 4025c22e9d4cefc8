//! 6LoWPAN.
