//! Datagrams across several hops, in each of the three ways that fragments can go.

mod buffers;
mod capture;
mod flights;
mod harness;
mod marks;
mod timing;
mod ways;
