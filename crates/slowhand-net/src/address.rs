//! Nodes, their link-layer addresses and their IPv6 addresses.

use std::fmt;
use std::net::Ipv6Addr;

/// A node of the mesh. Node 0 is the root (the border router).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u16);

impl NodeId {
    /// The root of the mesh: the border router.
    pub const ROOT: Self = Self(0);

    /// The destination of a frame that is for all who hear it: no node has this number.
    pub const EVERYONE: Self = Self(u16::MAX);

    /// The node as an index into per-node tables.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// An EUI-64, most significant octet first (802.15.4 sends it least significant octet first).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Eui64(pub [u8; 8]);

impl Eui64 {
    /// The address of a node: locally administered, the node's number in the last two octets.
    pub const fn of_node(node: NodeId) -> Self {
        let [high, low] = node.0.to_be_bytes();
        Self([0x02, 0x12, 0x74, 0x00, 0x00, 0x00, high, low])
    }

    /// A 16-bit address as an EUI-64: the one whose interface identifier is that of the 16-bit address,
    /// 0000:00ff:fe00:XXXX (RFC 6282 section 3.2.2).
    pub const fn of_short(address: u16) -> Self {
        let [high, low] = address.to_be_bytes();
        Self([0x02, 0x00, 0x00, 0xff, 0xfe, 0x00, high, low])
    }

    /// The address from which the interface identifier of an IPv6 address follows.
    pub const fn of_address(address: Ipv6Addr) -> Self {
        let [_, _, _, _, _, _, _, _, identifier @ ..] = address.octets();
        Self::of_identifier(identifier)
    }

    /// The address with this interface identifier.
    pub const fn of_identifier(identifier: [u8; 8]) -> Self {
        Self(Self(identifier).interface_identifier())
    }

    /// The node of the mesh that has this address.
    pub const fn node(self) -> NodeId {
        NodeId(u16::from_be_bytes([self.0[6], self.0[7]]))
    }

    /// The interface identifier of RFC 4291 appendix A: the EUI-64 with the universal/local bit inverted.
    pub const fn interface_identifier(self) -> [u8; 8] {
        let mut identifier = self.0;
        identifier[0] ^= 0x02;
        identifier
    }
}

/// The addresses in frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Addressing {
    /// 64 bits: the EUI-64 of each node.
    #[default]
    Extended,
    /// 16 bits: the number of each node. IPv6 addresses do not follow from them.
    Short,
}

impl Addressing {
    /// The address of a node, as an EUI-64.
    pub const fn of_node(self, node: NodeId) -> Eui64 {
        match self {
            Self::Extended => Eui64::of_node(node),
            Self::Short => Eui64::of_short(node.0),
        }
    }
}

/// The PAN identifier of the mesh: any value except 0xffff would do.
pub const PAN_ID: u16 = 0xcafe;

/// The /64 prefix of the mesh, IPHC context 0 (RFC 3849 documentation prefix).
pub const MESH_PREFIX: [u8; 8] = [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0];

/// The /64 prefix of the server on the Internet, IPHC context 1 (RFC 3849 documentation prefix).
pub const INTERNET_PREFIX: [u8; 8] = [0x20, 0x01, 0x0d, 0xb8, 0, 1, 0, 0];

/// The address of a node of the mesh by its 16-bit address, the locator of Thread (RLOC): it follows from the addresses in
/// frames with 16-bit addresses.
pub fn locator_address(node: NodeId) -> Ipv6Addr {
    address_of_identifier(Eui64::of_short(node.0).interface_identifier())
}

/// The link-local address of a node.
pub fn link_local_address(node: NodeId) -> Ipv6Addr {
    with_prefix([0xfe, 0x80, 0, 0, 0, 0, 0, 0], Eui64::of_node(node).interface_identifier())
}

/// The global address of the mesh with this interface identifier.
pub fn address_of_identifier(identifier: [u8; 8]) -> Ipv6Addr {
    with_prefix(MESH_PREFIX, identifier)
}

/// The global address of a node of the mesh.
pub fn mesh_address(node: NodeId) -> Ipv6Addr {
    with_prefix(MESH_PREFIX, Eui64::of_node(node).interface_identifier())
}

/// The address of the server on the Internet, behind the border router.
pub fn internet_address() -> Ipv6Addr {
    with_prefix(INTERNET_PREFIX, [0, 0, 0, 0, 0, 0, 0, 1])
}

/// The address of another host on the Internet, beside the server.
pub fn other_internet_address() -> Ipv6Addr {
    with_prefix(INTERNET_PREFIX, [0, 0, 0, 0, 0, 0, 0, 2])
}

/// One end of a packet's path: a node of the mesh, or the Internet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// A node of the mesh.
    Node(NodeId),
    /// The hosts behind the border router. Only the addresses in a packet tell them apart.
    Internet,
}

impl Host {
    /// The global address of a node, or of the default server on the Internet.
    pub fn address(self) -> Ipv6Addr {
        match self {
            Self::Node(node) => mesh_address(node),
            Self::Internet => internet_address(),
        }
    }

    /// The host that has this address. Every address outside the prefix of the mesh is on the Internet. None if the
    /// address has the prefix of the mesh but not the form of a node's address.
    pub fn of_address(address: Ipv6Addr) -> Option<Self> {
        let octets = address.octets();
        if octets[..8] != MESH_PREFIX {
            return Some(Self::Internet);
        }
        let node = NodeId(u16::from_be_bytes([octets[14], octets[15]]));
        (mesh_address(node) == address || locator_address(node) == address).then_some(Self::Node(node))
    }
}

fn with_prefix(prefix: [u8; 8], identifier: [u8; 8]) -> Ipv6Addr {
    let mut octets = [0; 16];
    octets[..8].copy_from_slice(&prefix);
    octets[8..].copy_from_slice(&identifier);
    Ipv6Addr::from(octets)
}
