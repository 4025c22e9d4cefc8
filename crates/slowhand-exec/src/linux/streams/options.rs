//! Options of sockets (socket(7), tcp(7), ip(7), ipv6(7)).
//!
//! `TCP_NODELAY`, keep-alive, `SO_LINGER` of 0 s, `IPV6_V6ONLY`, `SO_REUSEADDR` and `SO_REUSEPORT` have their effect. The others of
//! [`KEPT`] are kept and have none. What is in no list is the kernel's at the level of sockets, and refused at the others.

use super::{Socket, State, Streams};
use crate::linux::descriptor::Descriptor;
use slowhand_net::clock::{Duration, Instant};
use slowhand_net::transport::tcp::{self, Connection, KeepAlive, Nagle, TcpConfig};
use std::collections::BTreeMap;

/// The options that a program has set, by level and number.
type Options = BTreeMap<(i32, i32), Vec<u8>>;

/// Options of sockets that the kernel's socket of Unix has not, or has in another sense.
const OWN: &[i32] = &[
    libc::SO_REUSEADDR,
    libc::SO_REUSEPORT,
    libc::SO_ERROR,
    libc::SO_SNDBUF,
    libc::SO_RCVBUF,
    libc::SO_SNDBUFFORCE,
    libc::SO_RCVBUFFORCE,
    libc::SO_KEEPALIVE,
    libc::SO_LINGER,
    libc::SO_DOMAIN,
    libc::SO_PROTOCOL,
    libc::SO_OOBINLINE,
];

/// Options below sockets that a program may set, with what they are before; linux/tcp.h, linux/in.h, linux/in6.h.
const KEPT: &[((i32, i32), i32)] = &[
    ((libc::IPPROTO_TCP, libc::TCP_NODELAY), 0),
    ((libc::IPPROTO_TCP, libc::TCP_MAXSEG), 0),
    ((libc::IPPROTO_TCP, libc::TCP_CORK), 0),
    ((libc::IPPROTO_TCP, libc::TCP_KEEPIDLE), 7200),
    ((libc::IPPROTO_TCP, libc::TCP_KEEPINTVL), 75),
    ((libc::IPPROTO_TCP, libc::TCP_KEEPCNT), 9),
    ((libc::IPPROTO_TCP, libc::TCP_SYNCNT), 6),
    ((libc::IPPROTO_TCP, libc::TCP_LINGER2), 60),
    ((libc::IPPROTO_TCP, libc::TCP_DEFER_ACCEPT), 0),
    ((libc::IPPROTO_TCP, libc::TCP_QUICKACK), 1),
    ((libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT), 0),
    ((libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT), 0),
    ((libc::IPPROTO_IP, libc::IP_TOS), 0),
    ((libc::IPPROTO_IP, libc::IP_TTL), 64),
    ((libc::IPPROTO_IP, libc::IP_MTU_DISCOVER), 1),
    ((libc::IPPROTO_IP, libc::IP_RECVERR), 0),
    ((libc::IPPROTO_IP, libc::IP_FREEBIND), 0),
    ((libc::IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT), 0),
    ((libc::IPPROTO_IPV6, libc::IPV6_V6ONLY), 0),
    ((libc::IPPROTO_IPV6, libc::IPV6_TCLASS), 0),
    ((libc::IPPROTO_IPV6, libc::IPV6_UNICAST_HOPS), 64),
    ((libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER), 1),
    ((libc::IPPROTO_IPV6, libc::IPV6_RECVERR), 0),
    ((libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO), 0),
];

/// `IP_BIND_ADDRESS_NO_PORT` (Linux, include/uapi/linux/in.h).
const IP_BIND_ADDRESS_NO_PORT: i32 = 24;

/// The longest option that is kept. All that are have a number, or two.
const LONGEST: usize = 16;

/// The result of a call of getsockopt(2) or setsockopt(2).
pub(crate) enum Answer {
    /// The kernel makes it.
    Kernel,
    /// This is the value.
    Value(Vec<u8>),
    Error(i32),
}

impl Streams {
    /// setsockopt(2).
    pub(crate) fn set_option(&mut self, inode: u64, level: i32, option: i32, value: &[u8], now: Instant) -> Answer {
        let Some(socket) = self.sockets.get_mut(&inode) else { return Answer::Error(libc::EBADF) };
        let key = (level, option);
        let is_kept = match level {
            libc::SOL_SOCKET if !OWN.contains(&option) => return Answer::Kernel,
            libc::SOL_SOCKET => ![libc::SO_ERROR, libc::SO_DOMAIN, libc::SO_PROTOCOL].contains(&option),
            _ => kept(key).is_some(),
        };
        let is_long_enough = value.len() >= size_of::<i32>();
        if !is_kept || !is_long_enough || value.len() > LONGEST {
            return Answer::Error(if is_kept { libc::EINVAL } else { libc::ENOPROTOOPT });
        }
        socket.options.insert(key, value.to_vec());
        if let State::Open { connection: Some(number), .. } | State::Opening(number) = socket.state
            && let Some(connected) = self.connections.get_mut(&number)
        {
            let site = &self.site;
            let config = configured(&site.tcp, &socket.options);
            connected.connection.set_nagle(config.nagle);
            let keeps =
                [libc::SO_KEEPALIVE, libc::TCP_KEEPIDLE, libc::TCP_KEEPINTVL, libc::TCP_KEEPCNT].contains(&option);
            if keeps && connected.connection.set_keep_alive(now, config.keep_alive).is_err() {
                return Answer::Error(libc::EINVAL);
            }
        }
        Answer::Value(Vec::new())
    }

    /// getsockopt(2).
    pub(crate) fn option(&mut self, inode: u64, descriptor: &Descriptor, level: i32, option: i32) -> Answer {
        let Some(socket) = self.sockets.get_mut(&inode) else { return Answer::Error(libc::EBADF) };
        let site = &self.site;
        let number = |number: i32| Answer::Value(number.to_ne_bytes().to_vec());
        let connection = match socket.state {
            State::Open { connection: Some(number), .. } | State::Opening(number) => self.connections.get(&number),
            _ => None,
        };
        let connection = connection.map(|connected| &connected.connection);
        match (level, option) {
            (libc::SOL_SOCKET, libc::SO_ERROR) => {
                let of_kernel = descriptor.take_error();
                number(socket.error.take().unwrap_or(of_kernel))
            }
            (libc::SOL_SOCKET, libc::SO_DOMAIN) => number(socket.family.domain()),
            (libc::SOL_SOCKET, libc::SO_PROTOCOL) => number(libc::IPPROTO_TCP),
            (libc::IPPROTO_TCP, libc::TCP_MAXSEG) => {
                number(connection.map_or(site.tcp.mss.into(), |connection| connection.segment_size() as i32))
            }
            key if socket.options.contains_key(&key) => Answer::Value(socket.options[&key].clone()),
            (libc::SOL_SOCKET, libc::SO_SNDBUF) => number(site.tcp.send_buffer as i32),
            (libc::SOL_SOCKET, libc::SO_RCVBUF) => number(site.tcp.receive_buffer as i32),
            (libc::SOL_SOCKET, libc::SO_LINGER) => Answer::Value(vec![0; 8]),
            (libc::SOL_SOCKET, _) if OWN.contains(&option) => number(0),
            (libc::SOL_SOCKET, _) => Answer::Kernel,
            (libc::IPPROTO_TCP, libc::TCP_INFO) => Answer::Value(information(socket, connection)),
            (libc::IPPROTO_TCP, libc::TCP_CONGESTION) => {
                let name: &[u8; 16] = match site.tcp.congestion {
                    tcp::CongestionControl::Reno => b"reno\0\0\0\0\0\0\0\0\0\0\0\0",
                    tcp::CongestionControl::Cubic => b"cubic\0\0\0\0\0\0\0\0\0\0\0",
                };
                Answer::Value(name.to_vec())
            }
            key => kept(key).map_or(Answer::Error(libc::ENOPROTOOPT), number),
        }
    }
}

/// The value of an option of [`KEPT`] before it is set.
fn kept(key: (i32, i32)) -> Option<i32> {
    KEPT.iter().find(|(kept, _)| *kept == key).map(|(_, value)| *value)
}

/// True if an option is a number other than 0.
pub(super) fn is_on(options: &Options, key: (i32, i32)) -> bool {
    number(options, key).is_some_and(|value| value != 0)
}

/// True if the end of a connection is to be a reset: it lingers, for 0 s (socket(7), `SO_LINGER`).
pub(super) fn resets(options: &Options) -> bool {
    let lingers = options.get(&(libc::SOL_SOCKET, libc::SO_LINGER));
    lingers.is_some_and(|value| value.len() >= 8 && value[..4] != [0; 4] && value[4..8] == [0; 4])
}

fn number(options: &Options, key: (i32, i32)) -> Option<i32> {
    options.get(&key)?.first_chunk().map(|octets| i32::from_ne_bytes(*octets))
}

/// TCP of a host, as the options of a socket have it.
pub(super) fn configured(tcp: &TcpConfig, options: &Options) -> TcpConfig {
    let mut config = tcp.clone();
    if is_on(options, (libc::IPPROTO_TCP, libc::TCP_NODELAY)) {
        config.nagle = Nagle::Off;
    }
    if is_on(options, (libc::SOL_SOCKET, libc::SO_KEEPALIVE)) {
        let of = |option: i32| {
            let key = (libc::IPPROTO_TCP, option);
            number(options, key).or(kept(key)).unwrap_or(1).max(1) as u64
        };
        config.keep_alive = Some(KeepAlive {
            idle: Duration::from_secs(of(libc::TCP_KEEPIDLE)),
            interval: Duration::from_secs(of(libc::TCP_KEEPINTVL)),
            probes: of(libc::TCP_KEEPCNT).min(u8::MAX.into()) as u8,
        });
    }
    config
}

/// `struct tcp_info` (Linux, include/uapi/linux/tcp.h): the state, the options, times, windows; 0 is what is not known.
fn information(socket: &Socket, connection: Option<&Connection>) -> Vec<u8> {
    let mut octets = vec![0; 104];
    let state = connection.map_or(
        match socket.state {
            State::Listening { .. } => 10,
            State::Open { .. } => 1,
            _ => 7,
        },
        |connection| match connection.state() {
            // include/net/tcp_states.h
            tcp::State::Established => 1,
            tcp::State::SynSent => 2,
            tcp::State::SynReceived => 3,
            tcp::State::FinWait1 => 4,
            tcp::State::FinWait2 => 5,
            tcp::State::TimeWait => 6,
            tcp::State::Closed => 7,
            tcp::State::CloseWait => 8,
            tcp::State::LastAck => 9,
            tcp::State::Listen => 10,
            tcp::State::Closing => 11,
        },
    );
    octets[0] = state;
    let Some(connection) = connection else { return octets };
    let mss = connection.segment_size().max(1);
    let rtt = connection.smoothed_rtt().map_or(0, |rtt| rtt.as_micros() as u32);
    let statistics = connection.statistics();
    let words = [
        (8, connection.retransmission_timeout().as_micros() as u32),
        (16, mss),
        (20, mss),
        (24, connection.in_flight().div_ceil(mss)), // segments without acknowledgement
        (68, rtt),
        (72, rtt / 2),
        (80, connection.congestion_window() / mss),
        (100, statistics.retransmissions as u32),
    ];
    for (place, word) in words {
        octets[place..place + 4].copy_from_slice(&word.to_ne_bytes());
    }
    octets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_change_tcp() {
        let mut options = Options::new();
        let tcp = TcpConfig::linux();
        assert_eq!(configured(&tcp, &options), tcp);
        options.insert((libc::IPPROTO_TCP, libc::TCP_NODELAY), 1_i32.to_ne_bytes().to_vec());
        options.insert((libc::SOL_SOCKET, libc::SO_KEEPALIVE), 1_i32.to_ne_bytes().to_vec());
        options.insert((libc::IPPROTO_TCP, libc::TCP_KEEPIDLE), 15_i32.to_ne_bytes().to_vec());
        let changed = configured(&tcp, &options);
        assert_eq!(changed.nagle, Nagle::Off);
        let keep_alive = changed.keep_alive.unwrap();
        assert_eq!(
            (keep_alive.idle, keep_alive.interval, keep_alive.probes),
            (Duration::from_secs(15), Duration::from_secs(75), 9)
        );
        assert!(!resets(&options));
        options.insert((libc::SOL_SOCKET, libc::SO_LINGER), [1_i32, 0].map(i32::to_ne_bytes).concat());
        assert!(resets(&options));
    }
}
