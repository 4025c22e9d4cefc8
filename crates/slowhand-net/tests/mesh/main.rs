//! Datagrams across several hops, in each of the three ways that fragments can go.

mod capture;
mod harness;
mod timing;
mod ways;
