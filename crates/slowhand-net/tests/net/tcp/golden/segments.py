#!/usr/bin/env python3
"""Writes segments.hex: TCP segments as scapy builds them, checksum included.

The options stand in the order in which Linux writes them (compare the SYNs in the traces).
Needs scapy:  PYTHONPATH=... python3 segments.py > segments.hex
"""

from scapy.layers.inet import TCP
from scapy.layers.inet6 import IPv6

SEGMENTS = {
    "syn-linux": (dict(flags="S", seq=1000, window=64800), [
        ("MSS", 1220), ("SAckOK", b""), ("Timestamp", (123456, 0)), ("NOP", None), ("WScale", 7)], b""),
    "syn-constrained": (dict(flags="S", seq=0xFFFFFFFF, window=2144), [
        ("MSS", 536), ("NOP", None), ("NOP", None), ("SAckOK", b"")], b""),
    "syn-ecn": (dict(flags="SEC", seq=7, window=65535), [("MSS", 336)], b""),
    "syn-ack-ecn": (dict(flags="SAE", seq=9, ack=8, window=100), [
        ("MSS", 336), ("NOP", None), ("WScale", 14)], b""),
    "data": (dict(flags="PA", seq=0x12345678, ack=0x9ABCDEF0, window=502), [
        ("NOP", None), ("NOP", None), ("Timestamp", (0xDEADBEEF, 0x01020304))], b"odd octets: 15!"),
    "data-cwr": (dict(flags="AC", seq=1, ack=2, window=3), [], b"\x00\xff" * 32),
    "sack-one": (dict(flags="A", seq=5, ack=100, window=1000), [
        ("NOP", None), ("NOP", None), ("SAck", (200, 300))], b""),
    "sack-three-timestamps": (dict(flags="A", seq=5, ack=100, window=1000), [
        ("NOP", None), ("NOP", None), ("Timestamp", (77, 66)),
        ("NOP", None), ("NOP", None), ("SAck", (900, 1000, 200, 300, 0xFFFFFF00, 10))], b""),
    "sack-four": (dict(flags="AE", seq=5, ack=100, window=1000), [
        ("NOP", None), ("NOP", None), ("SAck", (1, 2, 3, 4, 5, 6, 7, 8))], b""),
    "fin": (dict(flags="FA", seq=4000, ack=5000, window=0), [], b""),
    "reset": (dict(flags="R", seq=4000, window=0), [], b""),
}

for name, (header, options, payload) in SEGMENTS.items():
    packet = IPv6(src="2001:db8::1", dst="2001:db8:1::1") / TCP(
        sport=40000, dport=4433, options=options, **header) / payload
    print(name, bytes(packet)[40:].hex())
