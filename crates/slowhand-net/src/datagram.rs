//! The numbers of datagrams, by which everything that is told about the network names them.

/// The datagram a frame carries a part of: a number that the sender of the datagram chose.
/// It travels beside the octets, not in them.
pub type DatagramId = u32;

/// What carries no part of a datagram, such as the frames by which nodes agree on their schedule.
pub const NO_DATAGRAM: DatagramId = DatagramId::MAX;

/// The first of the numbers that the border router gives to what it sends itself. All who send datagrams keep to
/// numbers below it.
pub const GATEWAY_DATAGRAMS: DatagramId = 1 << 31;

/// Whether a datagram is one that the border router sent itself.
pub const fn is_of_gateway(datagram: DatagramId) -> bool {
    datagram >= GATEWAY_DATAGRAMS && datagram != NO_DATAGRAM
}
