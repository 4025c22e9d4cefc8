//! The address modes of IPHC (RFC 6282 section 3.1.1: SAC, SAM, M, DAC, DAM).

use std::net::Ipv6Addr;

use super::super::Error;
use super::super::context::{Context, Contexts};
use super::super::cursor::{Reader, Writer};
use crate::address::Eui64;

/// The bits between the prefix and the 16 bits of mode 2: the identifier is 0000:00ff:fe00:XXXX (RFC 6282 section
/// 3.2.2).
const SHORT_IDENTIFIER: u128 = 0x0000_00ff_fe00_0000;

/// The octets of a multicast address that are carried without context, by mode: all, ffXX::00XX:XXXX:XXXX,
/// ffXX::00XX:XXXX and ff02::00XX. The other octets are zero, except the first.
const MULTICAST_INLINE: [&[usize]; 4] =
    [&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], &[1, 11, 12, 13, 14, 15], &[1, 13, 14, 15], &[15]];

/// The octets (X) of a multicast address with a unicast prefix (P) that are carried with a context:
/// ffXX:XXLL:PPPP:PPPP:PPPP:PPPP:XXXX:XXXX (RFC 3306, RFC 3956).
const PREFIX_MULTICAST_INLINE: [usize; 6] = [1, 2, 12, 13, 14, 15];

/// The link-local scope. Mode 3 implies it.
const SCOPE_LINK_LOCAL: u8 = 0x02;

/// A compressed address: its bits in the base header, and its octets after the base header.
#[derive(Clone, Copy)]
pub(super) struct Coded {
    /// M: a multicast address.
    pub(super) multicast: bool,
    /// SAC or DAC: the address uses a context.
    pub(super) stateful: bool,
    /// SAM or DAM.
    pub(super) mode: u8,
    /// The identifier of the context; zero if there is none.
    pub(super) context: u8,
    bits: u128,
}

impl Coded {
    /// The shortest form of a source address.
    #[inline]
    pub(super) fn source(address: Ipv6Addr, link: Eui64, contexts: &Contexts) -> Self {
        if address.is_unspecified() {
            // SAC with mode 0 stands for "::", not for an address in full.
            return Self { stateful: true, ..Self::full(address) };
        }
        Self::unicast(address, link, contexts)
    }

    /// The shortest form of a destination address.
    #[inline]
    pub(super) fn destination(address: Ipv6Addr, link: Eui64, contexts: &Contexts) -> Self {
        if address.is_multicast() {
            Self::any_multicast(address, contexts)
        } else {
            Self::unicast(address, link, contexts)
        }
    }

    fn any_multicast(address: Ipv6Addr, contexts: &Contexts) -> Self {
        let plain = Self::multicast(address);
        match Self::prefix_multicast(address, contexts) {
            Some(shorter) if plain.mode == 0 => shorter,
            _ => plain,
        }
    }

    fn full(address: Ipv6Addr) -> Self {
        Self { multicast: false, stateful: false, mode: 0, context: 0, bits: address.to_bits() }
    }

    #[inline]
    fn unicast(address: Ipv6Addr, link: Eui64, contexts: &Contexts) -> Self {
        let full = Self::full(address);
        let stateful = !Context::LINK_LOCAL.covers(address);
        let base = if stateful { contexts.covering(address) } else { Some((0, Context::LINK_LOCAL)) };
        match base.and_then(|(id, base)| Some((id, shortest_mode(base, full.bits, link)?))) {
            Some((context, mode)) => Self { stateful, mode, context, ..full },
            None => full,
        }
    }

    fn multicast(address: Ipv6Addr) -> Self {
        let octets = address.octets();
        let is_possible = |mode: usize| {
            let is_elided = |at: &usize| !MULTICAST_INLINE[mode].contains(at);
            let implied = |at: usize| match at {
                0 => 0xff,
                1 => SCOPE_LINK_LOCAL,
                _ => 0,
            };
            (0..16).filter(is_elided).all(|at| octets[at] == implied(at))
        };
        let mode = [3, 2, 1].into_iter().find(|&mode| is_possible(mode)).unwrap_or(0);
        Self { multicast: true, mode: mode as u8, ..Self::full(address) }
    }

    fn prefix_multicast(address: Ipv6Addr, contexts: &Contexts) -> Option<Self> {
        let (context, _) = contexts
            .iter()
            .find(|(_, context)| expand_prefix_multicast(*context, address.octets()) == Some(address))?;
        Some(Self { multicast: true, stateful: true, context, ..Self::full(address) })
    }

    /// Appends the octets that are carried.
    #[inline]
    pub(super) fn emit(&self, out: &mut Writer<'_>) -> Result<(), Error> {
        match (self.multicast, self.stateful, self.mode) {
            (false, true, 0) | (false, _, 3) => Ok(()), // "::", or nothing is carried
            (false, _, 2) => out.slice(&(self.bits as u16).to_be_bytes()),
            (false, _, 1) => out.slice(&(self.bits as u64).to_be_bytes()),
            (false, ..) => out.slice(&self.bits.to_be_bytes()),
            (true, true, _) => self.emit_octets(&PREFIX_MULTICAST_INLINE, out),
            (true, false, mode) => self.emit_octets(MULTICAST_INLINE[usize::from(mode)], out),
        }
    }

    fn emit_octets(&self, positions: &[usize], out: &mut Writer<'_>) -> Result<(), Error> {
        positions.iter().try_for_each(|&at| out.u8(self.bits.to_be_bytes()[at]))
    }
}

/// Reads a source address. `stateful` is SAC, `mode` is SAM. `contexts` has the identifier of the context to use.
#[inline]
pub(super) fn read_source(
    input: &mut Reader<'_>,
    (stateful, mode): (bool, u8),
    link: Eui64,
    contexts: (&Contexts, u8),
) -> Result<Ipv6Addr, Error> {
    match (stateful, mode) {
        (true, 0) => Ok(Ipv6Addr::UNSPECIFIED),
        _ => read_unicast(input, (stateful, mode), link, contexts),
    }
}

/// Reads a destination address. `multicast` is M, `stateful` is DAC, `mode` is DAM; `contexts` as for a source.
#[inline]
pub(super) fn read_destination(
    input: &mut Reader<'_>,
    (multicast, stateful, mode): (bool, bool, u8),
    link: Eui64,
    contexts: (&Contexts, u8),
) -> Result<Ipv6Addr, Error> {
    match (multicast, stateful, mode) {
        (false, true, 0) => Err(Error::Reserved),
        (false, ..) => read_unicast(input, (stateful, mode), link, contexts),
        (true, false, mode) => read_multicast(input, mode),
        (true, true, 0) => read_prefix_multicast(input, named(contexts)?),
        (true, true, _) => Err(Error::Reserved),
    }
}

fn named((contexts, id): (&Contexts, u8)) -> Result<Context, Error> {
    contexts.get(id).ok_or(Error::Context(id))
}

#[inline]
fn read_unicast(
    input: &mut Reader<'_>,
    (stateful, mode): (bool, u8),
    link: Eui64,
    contexts: (&Contexts, u8),
) -> Result<Ipv6Addr, Error> {
    let base = if stateful { named(contexts)? } else { Context::LINK_LOCAL };
    let bits = match mode {
        0 => u128::from_be_bytes(input.array()?),
        1 => expand_64(base, u64::from_be_bytes(input.array()?)),
        2 => expand_16(base, input.u16()?),
        _ => expand_link(base, link),
    };
    Ok(Ipv6Addr::from_bits(bits))
}

/// The unicast mode that carries the fewest octets and still gives the receiver the same address; none but mode 0 if `None`.
#[inline]
fn shortest_mode(base: Context, bits: u128, link: Eui64) -> Option<u8> {
    if expand_link(base, link) == bits {
        Some(3)
    } else if expand_16(base, bits as u16) == bits {
        Some(2)
    } else if expand_64(base, bits as u64) == bits {
        Some(1)
    } else {
        None
    }
}

/// The address of which mode 1 carries the last 64 bits.
fn expand_64(base: Context, last: u64) -> u128 {
    base.over(last.into())
}

/// The address of which mode 2 carries the last 16 bits.
fn expand_16(base: Context, last: u16) -> u128 {
    base.over(SHORT_IDENTIFIER | u128::from(last))
}

/// The address of mode 3, which follows from the link-layer address.
fn expand_link(base: Context, link: Eui64) -> u128 {
    base.over(u64::from_be_bytes(link.interface_identifier()).into())
}

fn read_multicast(input: &mut Reader<'_>, mode: u8) -> Result<Ipv6Addr, Error> {
    let mut address = [0; 16];
    address[..2].copy_from_slice(&[0xff, SCOPE_LINK_LOCAL]);
    for &at in MULTICAST_INLINE[usize::from(mode)] {
        address[at] = input.u8()?;
    }
    Ok(Ipv6Addr::from(address))
}

fn read_prefix_multicast(input: &mut Reader<'_>, context: Context) -> Result<Ipv6Addr, Error> {
    let mut address = [0; 16];
    for at in PREFIX_MULTICAST_INLINE {
        address[at] = input.u8()?;
    }
    expand_prefix_multicast(context, address).ok_or(Error::Reserved)
}

/// None if the prefix is longer than the 64 bits that the address has for it (RFC 3306 section 4).
fn expand_prefix_multicast(context: Context, inline: [u8; 16]) -> Option<Ipv6Addr> {
    let mut address = inline;
    address[0] = 0xff;
    address[3] = (context.length() <= 64).then_some(context.length())?;
    address[4..12].copy_from_slice(&context.prefix().octets()[..8]);
    Some(Ipv6Addr::from(address))
}
