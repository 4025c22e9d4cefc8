//! Datagrams across several hops, in each of the three ways that fragments can go.

mod buffers;
mod capacity;
mod capture;
mod flights;
mod harness;
mod late;
mod marks;
mod packets;
mod timing;
mod ways;
