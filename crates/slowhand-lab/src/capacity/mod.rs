//! The sessions that a server with few session slots can keep: Engset's loss formula, and a simulation that can do
//! what the formula cannot, such as closing one session to admit another.
//!
//! The model is that of Vučinić et al., PIMRC 2015, section IV: N clients, each of which asks for a session at a rate
//! lambda while it has none and keeps it for a mean time 1/mu; R slots; rho = lambda/mu.

mod simulation;

pub use crate::admission::Policy;
pub use simulation::{Simulated, Simulation};

/// Engset's formula: how often a server refuses a session if it closes none early (an M/M/R/R/N queue).
///
/// The results depend on the mean holding time only, not on its distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Engset {
    /// Session slots of the server (R).
    pub slots: u32,
    /// Clients (N).
    pub clients: u32,
    /// Traffic that an idle client offers, in Erlang: the rate at which it asks times the mean time it
    /// holds a slot (rho).
    pub rho: f64,
}

impl Engset {
    /// The share of time in which all slots are taken. The paper's "blocking probability" is this one: 17.24 % for
    /// R = 3, N = 5, rho = 0.5.
    pub fn time_congestion(&self) -> f64 {
        blocking(self.slots, self.clients, self.rho)
    }

    /// The probability that a request is refused. Who asks holds no slot, so it sees the system of
    /// the other N - 1 clients (the arrival theorem of finite sources): 10.0 % in the same case.
    pub fn call_congestion(&self) -> f64 {
        match self.clients {
            0 => 0.0,
            clients => blocking(self.slots, clients - 1, self.rho),
        }
    }
}

/// The probability of the state with all `slots` taken, by the recursion over the number of slots, which
/// neither overflows nor cancels.
fn blocking(slots: u32, clients: u32, rho: f64) -> f64 {
    (1..=slots).fold(1.0, |blocked, slot| {
        let offered = rho * f64::from(clients.saturating_sub(slot - 1)) * blocked;
        offered / (f64::from(slot) + offered)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_case_of_the_paper() {
        // States of 5 clients and 3 slots at rho 0.5 weigh 1, 2.5, 2.5, 1.25: the last is 1.25 / 7.25.
        // Of 4 clients: 1, 2, 1.5, 0.5: the last is 0.5 / 5.
        let engset = Engset { slots: 3, clients: 5, rho: 0.5 };
        assert!((engset.time_congestion() - 1.25 / 7.25).abs() < 1e-12);
        assert!((engset.call_congestion() - 0.1).abs() < 1e-12);
    }

    #[test]
    fn limits() {
        // As many slots as clients: nobody is refused, though all slots are sometimes taken.
        let enough = Engset { slots: 4, clients: 4, rho: 0.7 };
        assert_eq!(enough.call_congestion(), 0.0);
        assert!((enough.time_congestion() - (0.7_f64 / 1.7).powi(4)).abs() < 1e-12);
        // Many clients that ask rarely: Erlang's formula for the same traffic. B(2, 1) = 0.2.
        let many = Engset { slots: 2, clients: 1_000_000, rho: 1e-6 };
        assert!((many.time_congestion() - 0.2).abs() < 1e-5);
        // No slots: everybody is refused, always.
        assert_eq!(Engset { slots: 0, clients: 3, rho: 0.1 }.time_congestion(), 1.0);
    }
}
