//! The numbers of datagrams, by which everything that is told about the network names them.

/// The datagram a frame carries a part of: a number that the sender of the datagram chose.
/// It travels beside the octets, not in them.
pub type DatagramId = u32;

/// What carries no part of a datagram, such as the frames by which nodes agree on their schedule.
pub const NO_DATAGRAM: DatagramId = DatagramId::MAX;

/// The first of the numbers that routers give to what they send themselves: the segments of the border router's TCP proxy,
/// and ICMPv6 errors. All others who send datagrams keep to numbers below it.
pub const ROUTER_DATAGRAMS: DatagramId = 1 << 31;

/// True if a datagram is one that a router sent itself.
pub const fn is_of_router(datagram: DatagramId) -> bool {
    datagram >= ROUTER_DATAGRAMS && datagram != NO_DATAGRAM
}
