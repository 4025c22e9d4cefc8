//! DCCP as its users see it: whole connections in virtual time, with themselves, with a peer that was written from the RFC
//! alone, and as tshark reads them.

mod faults;
mod pair;
mod peer;
mod strangers;
mod tshark;
