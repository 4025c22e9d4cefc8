"""Section 5.1: round trips of data, plain and protected.

A session here ends with its handshake. So a round trip of data is put together from what is
measured: the exchange of ClientHello and cookie, what a frame costs on a hop, the record of a
Finished, and the time that the node computes for one. What a record of another length costs
follows from the device's times for a block.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from slowhand.estimate import Estimate
from slowhand.papers.capture import FINISHED, HEADER, finished_octets
from slowhand.papers.devices import constant
from slowhand.papers.kothmayr2013 import finished, opal
from slowhand.papers.points import Laboratory, Point, Values

FAR = 4
"""The most hops of the paper."""

SMALL = 16
"""The octets of plaintext of the paper's example."""

PING = 80
"""The octets of the paper's larger ping."""

CERTIFICATES = (600, 1040)
"""Two lengths of certificates, of which the longer one takes a few frames more."""

MTU = 1232
"""The most octets of a datagram in a packet of 1280 octets."""

QUOTED = 255
"""The octets for which the paper gives the times of SHA-1 and AES."""

SIZES = range(SMALL, 257, 8)
"""See `sizes` in assumptions.toml."""

COOKIE_FRAMES = 3
"""Frames of the exchange of ClientHello and HelloVerifyRequest: two there, one back."""

AES_BLOCK, HASH_BLOCK, SHA1 = 16, 64, 20
"""Octets of a block of AES and of SHA-1, and of a digest of SHA-1."""

HASH_PADDING = 9
"""The least octets that SHA-1 appends: one bit, and eight octets of length."""

HEADERS = 18
"""Octets of the compressed IPv6 and UDP headers of a datagram to or from the server."""

FRAME = 100
"""Octets of a frame that 6LoWPAN fills: `max_frame_payload` in opal.toml."""

FRAG1_ROOM = 72
"""Octets of a datagram in its first fragment: with 4 octets of fragment header, the headers (48
octets uncompressed), and data up to a multiple of 8 of the uncompressed datagram."""

FRAGN_ROOM = 88
"""The octets in each further fragment: (100 - 5) octets, down to a multiple of 8."""


class Record(NamedTuple):
    """The record of a plaintext."""

    octets: int
    compute_ms: float
    """The time to protect it at the node. To read it takes as long."""


def point(hops: int, cookie: bool) -> Point:
    """A handshake of a client that computes in no time, with the cookie's exchange or without."""
    return opal.point(hops, {"client.compute_factor": 0}, suite=opal.PSK, cookie=cookie)


def certified(octets: int) -> Point:
    """A handshake with a certificate of this length, in one datagram with the server's flight."""
    return opal.point(rsa_bits=1024, auth="server", mtu=MTU, certificate_length=octets)


POINTS = [
    *(point(hops, cookie) for hops in (1, FAR) for cookie in (True, False)),
    finished.whole("rsa"),
    finished.without_last_flight("rsa"),
    *(certified(octets) for octets in CERTIFICATES),
]


def plain(octets: int) -> Record:
    """A datagram without DTLS."""
    return Record(octets, 0)


def hashed(octets: int) -> Record:
    """A record with a MAC and no encryption."""
    return Record(HEADER + octets + SHA1, _hash_ms(HEADER + octets))


def encrypted(octets: int) -> Record:
    """A record as mbedTLS makes it: encrypted, and then hashed (RFC 7366)."""
    ciphertext = _whole(octets + 1, AES_BLOCK)
    protected = HEADER + AES_BLOCK + ciphertext
    return Record(protected + SHA1, _hash_ms(protected) + _aes_ms(ciphertext))


def mac_first(octets: int) -> Record:
    """A record as OpenSSL 1.0.0d makes it: hashed, and then encrypted (RFC 5246).

    The paper's times have room for the blocks of the message alone: HMAC's two blocks of key are
    taken to be hashed once for a session.
    """
    ciphertext = _whole(octets + SHA1 + 1, AES_BLOCK)
    once_ms = 2 * _block_ms("sha1")
    computing_ms = _hash_ms(HEADER + octets) - once_ms + _aes_ms(ciphertext)
    return Record(HEADER + AES_BLOCK + ciphertext, computing_ms)


def frames(octets: int) -> int:
    """The frames of a datagram on one hop."""
    if octets + HEADERS <= FRAME:
        return 1
    return 1 + math.ceil((octets - FRAG1_ROOM) / FRAGN_ROOM)


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part."""

    def exchange_ms(hops: int) -> Estimate:
        with_cookie, without = (
            laboratory.mean(point(hops, cookie), "duration_s") for cookie in (True, False)
        )
        return (with_cookie - without) / Estimate(0.001)

    exchange = {hops: exchange_ms(hops) for hops in (1, FAR)}
    each_hop = (exchange[FAR] - exchange[1]) / Estimate(FAR - 1)
    frame_ms = each_hop.mean / COOKIE_FRAMES

    def round_trip_ms(message: Record, hops: int = 1) -> float:
        """A message there, one as long back; the node makes one record and reads one."""
        more = 2 * frames(message.octets) - COOKIE_FRAMES
        return exchange[hops].mean + more * hops * frame_ms + 2 * message.compute_ms

    def increases(
        protect: Callable[[int], Record], hops: int, largest: int = SIZES[-1]
    ) -> tuple[Estimate, Estimate]:
        """The most in ms, the mean in per cent."""
        sizes = range(SMALL, largest + 1, SIZES.step)
        base = [round_trip_ms(plain(size), hops) for size in sizes]
        more = [round_trip_ms(protect(size), hops) - b for size, b in zip(sizes, base, strict=True)]
        shares = [100 * m / b for m, b in zip(more, base, strict=True)]
        return Estimate(max(more)), Estimate(sum(shares) / len(shares))

    last, repeated = finished.whole("rsa"), finished.without_last_flight("rsa")
    record_octets = finished_octets(laboratory.folder, last)
    compute_ms = laboratory.mean(repeated, "compute_client_s") - laboratory.mean(
        last, "compute_client_s"
    )
    small = encrypted(SMALL)
    found: dict[str, Estimate | None] = {
        "cookie": exchange[1],
        "cookie.hop": each_hop,
        "16": Estimate(round_trip_ms(plain(SMALL))),
        "80": Estimate(round_trip_ms(plain(PING))),
        "16.aes": Estimate(round_trip_ms(small)),
        "16.aes.two": Estimate(round_trip_ms(mac_first(SMALL)) + 2 * frame_ms),
        "compute": compute_ms / Estimate(1 / 2000),
        "compute.mac-first": Estimate(2 * mac_first(SMALL).compute_ms),
        "record": Estimate(record_octets),
        "record.mac-first": Estimate(mac_first(SMALL).octets),
        "overhead": Estimate(record_octets - _whole(FINISHED + 1, AES_BLOCK) + AES_BLOCK),
        "sha1": Estimate(
            _whole(QUOTED + HASH_PADDING, HASH_BLOCK) / HASH_BLOCK * _block_ms("sha1")
        ),
        "aes": Estimate(_aes_ms(_whole(QUOTED, AES_BLOCK))),
        "steps": Estimate(_step(laboratory)),
    }
    for name, protect in (("aes", encrypted), ("sha", hashed)):
        for hops, place in ((1, ""), (FAR, ".far")):
            most, mean = increases(protect, hops)
            found |= {f"{name}.most{place}": most, f"{name}.mean{place}": mean}
    found["aes.most.384"], _ = increases(encrypted, 1, largest=384)
    _, found["aes.mean.far.128"] = increases(encrypted, FAR, largest=128)
    return found


def _step(laboratory: Laboratory) -> float:
    """The octets of one more frame."""
    short, long = (laboratory.mean(certified(octets), "frames").mean for octets in CERTIFICATES)
    return (CERTIFICATES[1] - CERTIFICATES[0]) / (long - short)


def _whole(octets: int, block: int) -> int:
    return math.ceil(octets / block) * block


def _block_ms(algorithm: str) -> float:
    return constant("opal-tpm", "crypto", f"{algorithm}_block_us") / 1000


def _aes_ms(octets: int) -> float:
    return octets / AES_BLOCK * _block_ms("aes")


def _hash_ms(octets: int) -> float:
    """HMAC: a block of key before the octets, and two blocks for the outer hash."""
    inner = _whole(HASH_BLOCK + octets + HASH_PADDING, HASH_BLOCK) // HASH_BLOCK
    return (inner + 2) * _block_ms("sha1")
