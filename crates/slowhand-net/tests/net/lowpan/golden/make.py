#!/usr/bin/env python3
"""Writes headers.hex and fragments.hex: 6LoWPAN frame payloads as scapy builds them.

    pip install scapy==2.8.0 && python3 make.py

Every field of the compressed header is given to scapy by hand, from the tables of RFC 6282, so that the choice of modes
and the arithmetic of addresses do not come from the code under test, nor from scapy's (which knows no contexts and takes
the traffic class without its rotation). The packets behind them are scapy's IPv6, UDP, TCP and ICMPv6 with their checksums.
"""

import ipaddress
import pathlib

from scapy.layers.inet import TCP, UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6
from scapy.layers.sixlowpan import (
    LoWPAN_IPHC,
    LoWPAN_NHC,
    LoWPAN_NHC_UDP,
    LoWPANFragmentationFirst,
    LoWPANFragmentationSubsequent,
    LoWPANUncompressedIPv6,
)
from scapy.packet import Raw, raw

HERE = pathlib.Path(__file__).parent

# The link addresses of nodes 1 and 0, and the interface identifiers that follow (universal/local bit inverted).
LINK = ("0212740000000001", "0212740000000000")
MESH1, MESH0 = "2001:db8::12:7400:0:1", "2001:db8::12:7400:0:0"
LOCAL1, LOCAL0 = "fe80::12:7400:0:1", "fe80::12:7400:0:0"
HOST = "2001:db8:1::1"

# Both addresses elided through context 0 unless a case says otherwise. Contexts: 0 is 2001:db8::/64, 1 is 2001:db8:1::/64,
# 2 is 2001:db8:2::99/128, 3 is 2001:db8:3::ff:fe12:0/112, 15 is 2001:db8:f::/48.
BASE = dict(tf=3, nh=1, hlim=2, cid=0, sac=1, sam=3, m=0, dac=1, dam=3)
PAYLOAD = bytes(range(24))


def udp_case(name, ports=(61617, 61616), p=None, tc=0, fl=0, hop_limit=64, elided=False, **fields):
    """A UDP packet and its compressed form; `p` is the port mode with the values that travel."""
    packet = raw(IPv6(src=MESH1, dst=MESH0, tc=tc, fl=fl, hlim=hop_limit) / UDP(sport=ports[0], dport=ports[1]) / Raw(PAYLOAD))
    mode, source, destination = p or (3, ports[0] & 0xF, ports[1] & 0xF)
    checksum = IPv6(packet)[UDP].chksum
    nhc = LoWPAN_NHC_UDP(P=mode, udpSourcePort=source, udpDestPort=destination, C=int(elided), udpChecksum=checksum)
    compressed = raw(iphc(**fields) / LoWPAN_NHC(exts=[nhc])) + PAYLOAD
    return name, compressed, packet


def zero_sum_case(name):
    """A UDP packet whose checksum comes out as zero, which is sent as 0xffff."""
    upper = IPv6(src=MESH1, dst=MESH0, hlim=64) / UDP(sport=61617, dport=61616)
    base = IPv6(raw(upper / Raw(bytes(2))))[UDP].chksum
    # Two octets equal to the checksum without them add up to all ones.
    payload = base.to_bytes(2, "big")
    packet = raw(upper / Raw(payload))
    assert IPv6(packet)[UDP].chksum == 0xFFFF
    nhc = LoWPAN_NHC_UDP(P=3, udpSourcePort=1, udpDestPort=0, C=0, udpChecksum=0xFFFF)
    return name, raw(iphc() / LoWPAN_NHC(exts=[nhc])) + payload, packet


def inline_case(name, upper, next_header):
    """A packet whose next header travels as it is."""
    packet = raw(IPv6(src=MESH1, dst=MESH0, hlim=64) / upper)
    return name, raw(iphc(nh=0, nhField=next_header)) + packet[40:], packet


def iphc(src="::", dst="::", **fields):
    """A compressed header; of `src` and `dst` travel the last octets, as many as the modes say."""
    return LoWPAN_IPHC(**{**BASE, **fields}, src=src, dst=dst)


def tail(octets):
    """Octets that travel, as the tail of an address."""
    return str(ipaddress.IPv6Address(bytes.fromhex(octets).rjust(16, b"\0")))


def cases():
    full = dict(sac=0, sam=0)
    yield udp_case("ports in four bits")
    yield udp_case("ports: the lowest and the highest of four bits", ports=(61616, 61631), p=(3, 0, 15))
    yield udp_case("ports: destination in eight bits", ports=(5684, 61616), p=(1, 5684, 0xB0))
    yield udp_case("ports: source in eight bits", ports=(61617, 5684), p=(2, 0xB1, 5684))
    yield udp_case("ports: just outside of eight bits", ports=(0xEFFF, 0xF100), p=(0, 0xEFFF, 0xF100))
    yield udp_case("ports: four bits need both", ports=(0xF0B5, 0xF0C0), p=(1, 0xF0B5, 0xC0))
    yield udp_case("ports in full", ports=(1, 65535), p=(0, 1, 65535))

    # Traffic class 0xb9: DSCP 46, ECN 1; on the air ECN comes first.
    yield udp_case("traffic: class and flow", tc=0xB9, fl=0xABCDE, tf=0, tc_ecn=1, tc_dscp=46, flowlabel=0xABCDE)
    yield udp_case("traffic: ECN and flow", tc=0x03, fl=0x12345, tf=1, tc_ecn=3, flowlabel=0x12345)
    yield udp_case("traffic: flow alone", fl=0xFFFFF, tf=1, tc_ecn=0, flowlabel=0xFFFFF)
    yield udp_case("traffic: class alone", tc=0xB9, tf=2, tc_ecn=1, tc_dscp=46)
    yield udp_case("traffic: ECN alone", tc=0x02, tf=2, tc_ecn=2, tc_dscp=0)

    yield udp_case("hop limit 1", hop_limit=1, hlim=1)
    yield udp_case("hop limit 255", hop_limit=255, hlim=3)
    yield udp_case("hop limit inline", hop_limit=63, hlim=0, hopLimit=63)
    yield udp_case("hop limit zero", hop_limit=0, hlim=0, hopLimit=0)

    yield address_case("link-local, both elided", LOCAL1, LOCAL0, sac=0, sam=3, dac=0, dam=3)
    yield address_case("link-local, 16 bits", "fe80::ff:fe00:1234", "fe80::ff:fe00:0", sac=0, sam=2, src=tail("1234"), dac=0, dam=2)
    yield address_case(
        "link-local, 64 bits", "fe80::1:2:3:4", "fe80::1", sac=0, sam=1, src=tail("0001000200030004"), dac=0, dam=1,
        dst=tail("0000000000000001"),
    )
    yield address_case("in full", "2001:db8:ffff::1", "fe80:1::2", **full, src="2001:db8:ffff::1", dac=0, dam=0, dst="fe80:1::2")
    yield address_case("unspecified source", "::", MESH0, sac=1, sam=0)
    yield address_case("unspecified destination", MESH1, "::", dac=0, dam=0)
    yield address_case("context 0, 16 bits", "2001:db8::ff:fe00:8001", "2001:db8::ff:fe00:1", sam=2, src=tail("8001"), dam=2, dst=tail("0001"))
    yield address_case("context 0, 64 bits", "2001:db8::1", "2001:db8::2", sam=1, src=tail("0000000000000001"), dam=1, dst=tail("0000000000000002"))
    yield address_case("context 1, from the mesh", MESH1, HOST, cid=1, sci=0, dci=1, dam=1, dst=tail("0000000000000001"))
    yield address_case("context 1, to the mesh", HOST, MESH0, cid=1, sci=1, dci=0, sam=1, src=tail("0000000000000001"))
    yield address_case("context 2 of 128 bits", "2001:db8:2::99", MESH0, cid=1, sci=2, dci=0, sam=3)
    yield address_case("context 3 of 112 bits", "2001:db8:3::ff:fe12:3456", MESH0, cid=1, sci=3, dci=0, sam=2, src=tail("3456"))
    yield address_case("context 15 of 48 bits", "2001:db8:f::1", MESH0, cid=1, sci=15, dci=0, sam=1, src=tail("0000000000000001"))

    group = dict(m=1, dac=0)
    yield address_case("multicast, 8 bits", MESH1, "ff02::1a", **group, dam=3, dst=tail("1a"))
    yield address_case("multicast, 32 bits", MESH1, "ff05::1:3", **group, dam=2, dst=tail("05010003"))
    yield address_case("multicast, 48 bits", MESH1, "ff02::1:ff00:1", **group, dam=1, dst=tail("0201ff000001"))
    yield address_case("multicast, in full", MESH1, "ff02:1::1", **group, dam=0, dst="ff02:1::1")
    yield address_case("multicast, site scope is not 8 bits", MESH1, "ff05::2", **group, dam=2, dst=tail("05000002"))
    yield address_case("multicast on context 0", MESH1, "ff35:40:2001:db8::1234:5678", m=1, dac=1, dam=0, dst=tail("350012345678"))
    yield address_case("multicast on context 1", MESH1, "ff35:140:2001:db8:1::1", cid=1, sci=0, dci=1, m=1, dac=1, dam=0, dst=tail("350100000001"))

    yield zero_sum_case("checksum that would be zero")
    yield inline_case("TCP", TCP(sport=61617, dport=443, seq=1, flags="S", options=[("MSS", 844)]), 6)
    yield inline_case("ICMPv6", ICMPv6EchoRequest(id=1, seq=2, data=b"slowhand"), 58)


def address_case(name, source, destination, **fields):
    """A UDP packet between two addresses."""
    packet = raw(IPv6(src=source, dst=destination, hlim=64) / UDP(sport=61617, dport=61616) / Raw(PAYLOAD))
    nhc = LoWPAN_NHC_UDP(P=3, udpSourcePort=1, udpDestPort=0, C=0, udpChecksum=IPv6(packet)[UDP].chksum)
    return name, raw(iphc(**fields) / LoWPAN_NHC(exts=[nhc])) + PAYLOAD, packet


def understood():
    """What is read, but not what we would send."""
    yield udp_case("checksum elided", elided=True)
    packet = raw(IPv6(src=MESH1, dst=MESH0, hlim=64) / UDP(sport=1, dport=2) / Raw(PAYLOAD))
    yield "uncompressed", raw(LoWPANUncompressedIPv6()) + packet, packet
    yield "UDP inline", raw(iphc(nh=0, nhField=17)) + packet[40:], packet
    _, compressed, packet = udp_case("", cid=1, sci=0, dci=0)
    yield "context 0 named", compressed, packet
    _, compressed, packet = udp_case("", tf=0, tc_ecn=0, tc_dscp=0, flowlabel=0)
    yield "traffic inline though zero", compressed, packet


def fragments():
    """Packets in fragments: which octets go into which frame is written out by hand."""
    # 104 octets a frame: 4 + 6 of headers leave 94, in whole units 88; later ones 99, in whole units 96.
    yield fragment_case("three frames of 104", 300, 104, 0x0007, [(48, 136), (136, 232), (232, 300)])
    yield fragment_case("just one frame: 6 + 98", 48 + 98, 104, 0xFFFF, [])
    yield fragment_case("one octet too many: 6 + 99", 48 + 99, 104, 0xFFFF, [(48, 136), (136, 147)])
    # The last fragment takes 99, though whole units would be 96.
    yield fragment_case("the last is not bound to units", 136 + 99, 104, 0x1234, [(48, 136), (136, 235)])
    # 85 octets: 75 in the first, whole units 72; then 80 each.
    yield fragment_case("pieces of 80", 1280, 85, 0x0100, [(48, 120), *((at, min(at + 80, 1280)) for at in range(120, 1280, 80))])
    # The longest there is.
    yield fragment_case("the longest", 2047, 104, 0x0001, [(48, 136), *((at, min(at + 96, 2047)) for at in range(136, 2047, 96))])


def fragment_case(name, size, capacity, tag, extents):
    """A UDP packet of `size` octets whose octets `extents` follow the fragment headers; the first 48 are compressed.
    No extents: no fragments."""
    payload = bytes((7 * at + at // 256) & 0xFF for at in range(size - 48))
    packet = raw(IPv6(src=MESH1, dst=MESH0, hlim=64) / UDP(sport=61617, dport=61616) / Raw(payload))
    assert len(packet) == size
    nhc = LoWPAN_NHC_UDP(P=3, udpSourcePort=1, udpDestPort=0, C=0, udpChecksum=IPv6(packet)[UDP].chksum)
    header = raw(iphc() / LoWPAN_NHC(exts=[nhc]))
    frames = [] if extents else [header + payload]
    for start, end in extents:
        if start == 48:
            frame = raw(LoWPANFragmentationFirst(datagramSize=size, datagramTag=tag)) + header
        else:
            frame = raw(LoWPANFragmentationSubsequent(datagramSize=size, datagramTag=tag, datagramOffset=start // 8))
        frames.append(frame + packet[start:end])
    assert max(map(len, frames)) <= capacity
    return name, capacity, tag, packet, frames


def write(name, blocks):
    """One block of `key value` lines a case, blank lines between."""
    head = f"# Written by make.py with scapy; link addresses {LINK[0]} to {LINK[1]}.\n"
    (HERE / name).write_text(head + "\n" + "\n".join("".join(f"{key} {value}\n" for key, value in block) for block in blocks))


write("headers.hex", [[("name", n), ("compressed", c.hex()), ("packet", p.hex())] for n, c, p in cases()])
write("understood.hex", [[("name", n), ("compressed", c.hex()), ("packet", p.hex())] for n, c, p in understood()])
write(
    "fragments.hex",
    [
        [("name", n), ("capacity", capacity), ("tag", tag), ("packet", p.hex()), *(("frame", f.hex()) for f in frames)]
        for n, capacity, tag, p, frames in fragments()
    ],
)
