//! Addresses of sockets, as programs write and read them (ip(7), ipv6(7)).

use slowhand_net::ip::Endpoint;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Octets of `struct sockaddr_in` and of `struct sockaddr_in6`.
const LENGTH_V4: usize = 16;
const LENGTH_V6: usize = 28;

/// The family of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
}

/// An end of a connection as the address of a socket.
pub(crate) fn of(end: Endpoint) -> SocketAddr {
    SocketAddr::new(end.address.into(), end.port)
}

impl Family {
    pub(crate) fn of(domain: i32) -> Option<Self> {
        match domain {
            libc::AF_INET => Some(Self::V4),
            libc::AF_INET6 => Some(Self::V6),
            _ => None,
        }
    }

    pub(crate) fn domain(self) -> i32 {
        match self {
            Self::V4 => libc::AF_INET,
            Self::V6 => libc::AF_INET6,
        }
    }

    /// The address of no host: every address of this one.
    pub(crate) fn any(self) -> IpAddr {
        match self {
            Self::V4 => Ipv4Addr::UNSPECIFIED.into(),
            Self::V6 => Ipv6Addr::UNSPECIFIED.into(),
        }
    }

    /// Reads an address that a program gives. An IPv4 address in IPv6 is one of IPv4.
    ///
    /// # Errors
    /// The number of the error that the call returns.
    pub(crate) fn read(self, octets: &[u8]) -> Result<SocketAddr, i32> {
        let length = if self == Self::V4 { LENGTH_V4 } else { LENGTH_V6 };
        let of_family = |octets: &[u8]| i32::from(u16::from_ne_bytes([octets[0], octets[1]]));
        match octets.len() {
            ..2 => return Err(libc::EINVAL),
            _ if of_family(octets) != self.domain() => return Err(libc::EAFNOSUPPORT),
            found if found < length.min(24) => return Err(libc::EINVAL), // the last word of IPv6 may be left out
            _ => {}
        }
        let port = u16::from_be_bytes([octets[2], octets[3]]);
        let address = match self {
            Self::V4 => IpAddr::from([octets[4], octets[5], octets[6], octets[7]]),
            Self::V6 => {
                let mut address = [0; 16];
                address.copy_from_slice(&octets[8..24]);
                IpAddr::from(address).to_canonical()
            }
        };
        Ok(SocketAddr::new(address, port))
    }

    /// An address as a program of a socket of this family reads it.
    pub(crate) fn write(self, address: SocketAddr) -> Vec<u8> {
        let mut octets = (self.domain() as u16).to_ne_bytes().to_vec();
        octets.extend(address.port().to_be_bytes());
        match (self, address.ip()) {
            (Self::V4, IpAddr::V4(v4)) => octets.extend(v4.octets()),
            (Self::V4, IpAddr::V6(_)) => octets.extend([0; 4]), // no socket of IPv4 has one
            (Self::V6, ip) => {
                let v6 = match ip {
                    IpAddr::V4(v4) => v4.to_ipv6_mapped(),
                    IpAddr::V6(v6) => v6,
                };
                octets.extend([0; 4]); // the flow label
                octets.extend(v6.octets());
            }
        }
        octets.resize(if self == Self::V4 { LENGTH_V4 } else { LENGTH_V6 }, 0);
        octets
    }
}

/// True if a packet to this address stays on a host with that address.
pub(crate) fn is_local(address: IpAddr, host: Ipv6Addr) -> bool {
    address.is_unspecified() || address.is_loopback() || address == IpAddr::V6(host)
}

/// The address that is meant by one to which a connection is made: of no host, it is this host (RFC 1122 section 3.2.1.3).
pub(crate) fn destination(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    SocketAddr::new(ip, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_is_written() {
        for (family, address) in [
            (Family::V4, "127.0.0.1:80"),
            (Family::V6, "[2001:db8::1]:443"),
            (Family::V6, "127.0.0.1:80"), // in IPv6
        ] {
            let address: SocketAddr = address.parse().unwrap();
            let octets = family.write(address);
            assert_eq!(family.read(&octets), Ok(address));
            assert!(family.read(&octets[..octets.len() - 5]).is_err());
        }
        assert_eq!(Family::V6.read(&Family::V4.write("1.2.3.4:5".parse().unwrap())), Err(libc::EAFNOSUPPORT));
        assert_eq!(Family::V4.read(&[]), Err(libc::EINVAL));
    }

    #[test]
    fn addresses_of_this_host() {
        let host: Ipv6Addr = "2001:db8::1".parse().unwrap();
        for (address, is_here) in [
            ("::", true),
            ("::1", true),
            ("127.9.9.9", true),
            ("2001:db8::1", true),
            ("2001:db8::2", false),
            ("10.0.0.1", false),
        ] {
            assert_eq!(is_local(address.parse().unwrap(), host), is_here, "{address}");
        }
    }
}
