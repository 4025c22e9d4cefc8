//! Which socket has which port of a host (bind(2), listen(2), ip(7), ipv6(7)).

use super::{Socket, State, Streams, ends, options};
use std::net::{IpAddr, SocketAddr};

impl Streams {
    /// Gives a socket an address and a port.
    ///
    /// # Errors
    /// Another socket has it.
    pub(super) fn bind(&mut self, inode: u64, address: SocketAddr) -> Result<(), i32> {
        let others = self.others(inode);
        let socket = self.sockets.get_mut(&inode).ok_or(libc::EBADF)?;
        let port = if address.port() == 0 { socket.spare_port } else { address.port() };
        let address = SocketAddr::new(address.ip(), port);
        socket.local = Some(address);
        if others.iter().any(|other| self.conflicts(inode, *other, false)) {
            self.sockets.get_mut(&inode).ok_or(libc::EBADF)?.local = None;
            return Err(libc::EADDRINUSE);
        }
        self.site.bound.push(inode);
        Ok(())
    }

    /// True if a socket that is to listen may do so.
    pub(super) fn may_listen(&mut self, inode: u64) -> bool {
        let others = self.others(inode);
        self.sockets.contains_key(&inode) && !others.iter().any(|other| self.conflicts(inode, *other, true))
    }

    /// The other sockets of a host that have a port of their own. Those that are closed are forgotten.
    fn others(&mut self, inode: u64) -> Vec<u64> {
        let bound = std::mem::take(&mut self.site.bound);
        let bound: Vec<u64> = bound.into_iter().filter(|inode| self.is_there(*inode)).collect();
        self.site.bound.clone_from(&bound);
        bound.into_iter().filter(|other| *other != inode).collect()
    }

    /// True if one of two sockets may not have its port because of the other.
    fn conflicts(&self, one: u64, other: u64, listens: bool) -> bool {
        let (Some(one), Some(other)) = (self.sockets.get(&one), self.sockets.get(&other)) else { return false };
        let both = |option: i32| {
            let has = |socket: &Socket| options::is_on(&socket.options, (libc::SOL_SOCKET, option));
            has(one) && has(other)
        };
        let other_listens = matches!(other.state, State::Listening { .. });
        let may_share = if listens { !other_listens } else { both(libc::SO_REUSEADDR) && !other_listens };
        overlap(one, other) && !may_share && !both(libc::SO_REUSEPORT)
    }

    /// The socket that listens for connections to an address: one that has this address before one that has all.
    pub(super) fn listener(&mut self, address: SocketAddr) -> Option<u64> {
        let rank = |inode: &u64| {
            let socket = self.sockets.get(inode)?;
            let local = socket.local.filter(|_| matches!(socket.state, State::Listening { .. }))?;
            let takes = local.port() == address.port() && takes(socket, local.ip(), address.ip());
            takes.then_some((local.ip().is_unspecified(), *inode))
        };
        let mut ranked: Vec<(bool, u64)> = self.site.bound.iter().filter_map(rank).collect();
        ranked.sort_by_key(|(takes_all, _)| *takes_all); // stable: else the first one that has listened
        ranked.into_iter().map(|(_, inode)| inode).find(|inode| self.is_there(*inode))
    }

    /// True if a program has this socket, which has a name. Afterwards the thread is in the namespace of its host.
    fn is_there(&self, inode: u64) -> bool {
        let number = self.sockets.get(&inode).map(|socket| socket.number);
        number.is_some_and(|number| self.site.namespace.enter().is_ok() && ends::is_there(number))
    }
}

/// True if a socket with this local address takes connections to an address.
fn takes(socket: &Socket, local: IpAddr, address: IpAddr) -> bool {
    let is_any = local.is_unspecified() && (local.is_ipv6() == address.is_ipv6() || has_both(socket));
    is_any || local == address
}

/// True if a socket of IPv6 takes connections of IPv4 too (ipv6(7)).
fn has_both(socket: &Socket) -> bool {
    let is_any = socket.local.is_some_and(|local| local.ip().is_unspecified() && local.is_ipv6());
    is_any && !options::is_on(&socket.options, (libc::IPPROTO_IPV6, libc::IPV6_V6ONLY))
}

fn overlap(one: &Socket, other: &Socket) -> bool {
    let (Some(first), Some(second)) = (one.local, other.local) else { return false };
    let meet = takes(one, first.ip(), second.ip()) || takes(other, second.ip(), first.ip());
    first.port() == second.port() && meet
}
