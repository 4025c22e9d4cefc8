"""Generic header compression (RFC 7400), which no library here has: the shortest code, and back.

| code | appends |
| --- | --- |
| `0kkkkkkk` | the next k octets |
| `1000nnnn` | n + 2 zeros |
| `101nssss` | nothing: 8 n are added to the length of the next copy, 8 s to its distance |
| `11nnnkkk` | n + 2 octets of those before, which begin k + n + 2 octets to the left |
"""

from __future__ import annotations

from collections.abc import Iterator

STATIC = bytes.fromhex("16fefd17fefd00010000000000010000")
"""The octets behind the addresses in the dictionary (RFC 7400 section 2.1)."""

_MOST_LITERAL, _MOST_ZEROS = 95, 17


def compress(octets: bytes, addresses: bytes) -> bytes:
    """The shortest code of a payload between these addresses, 32 octets."""
    text = addresses + STATIC + octets
    start = len(text) - len(octets)
    best = {0: b""}  # by octets that are coded; a literal of one octet reaches every place
    for at in range(len(octets)):
        for length, code in _steps(text, start + at):
            found = best[at] + code
            if at + length not in best or len(found) < len(best[at + length]):
                best[at + length] = found
    return best[len(octets)]


def _steps(text: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    """The number of octets from here on that each code appends, and the code."""
    rest = len(text) - at
    for length in range(1, min(rest, _MOST_LITERAL) + 1):
        yield length, bytes([length]) + text[at : at + length]
    for length in range(2, min(rest, _MOST_ZEROS) + 1):
        if any(text[at : at + length]):
            break
        yield length, bytes([0x80 | length - 2])
    for length in range(2, min(rest, at) + 1):
        # The nearest copy has the shortest code. It does not overlap.
        found = text.rfind(text[at : at + length], 0, at)
        if found < 0:
            break
        yield length, _copy(length, at - found)


def _copy(length: int, distance: int) -> bytes:
    """The code of a copy, with as many extensions before it as it needs."""
    longer, further = (length - 2) >> 3, (distance - length) >> 3
    code = b""
    while longer or further:
        more, left = min(longer, 1), min(further, 15)
        code += bytes([0xA0 | more << 4 | left])
        longer, further = longer - more, further - left
    return code + bytes([0xC0 | (length - 2 & 7) << 3 | distance - length & 7])


def decompress(code: bytes, addresses: bytes) -> bytes:
    """The payload that a code stands for. Raises `ValueError` if it stands for none."""
    dictionary = addresses + STATIC
    text = bytearray(dictionary)
    longer = further = at = 0
    while at < len(code):
        first = code[at]
        at += 1
        if first < 0x80:
            text += code[at : at + first]
            at += first
        elif first >> 4 == 8:
            text += bytes((first & 15) + 2)
        elif first >> 5 == 5:
            longer, further = longer + (first >> 1 & 8), further + ((first & 15) << 3)
        elif first >> 6 == 3:
            length = longer + (first >> 3 & 7) + 2
            begin = len(text) - (length + further + (first & 7))
            if begin < 0:
                raise ValueError(f"code {first:#x}: it begins before the dictionary")
            text += text[begin : begin + length]
            longer = further = 0
        else:
            raise ValueError(f"code {first:#x}: allowed: those of RFC 7400 section 2")
    return bytes(text[len(dictionary) :])
