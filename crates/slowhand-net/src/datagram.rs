//! The numbers of datagrams. Events and observers name a datagram by its number.

/// The number of a datagram. The sender of the datagram chooses it. Each frame that carries a part of the datagram has
/// this number beside its octets, not in them.
pub type DatagramId = u32;

/// The number of frames that carry no part of a datagram, such as the messages by which nodes negotiate cells.
pub const NO_DATAGRAM: DatagramId = DatagramId::MAX;

/// The first number of the datagrams that routers send themselves: the segments of the border router's TCP proxy,
/// ICMPv6 errors, and messages of neighbour discovery. All other senders use numbers below it.
pub const ROUTER_DATAGRAMS: DatagramId = 1 << 31;

/// True if a router sent this datagram itself.
pub const fn is_of_router(datagram: DatagramId) -> bool {
    datagram >= ROUTER_DATAGRAMS && datagram != NO_DATAGRAM
}
