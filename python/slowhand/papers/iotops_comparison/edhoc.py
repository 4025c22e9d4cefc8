"""EDHOC (section 2.6 of the draft), and over CoAP (its appendix A), by lakers and slowhand-coap."""

from __future__ import annotations

from slowhand.estimate import Estimate
from slowhand.keys import Setting
from slowhand.papers.iotops_comparison.coap import Message
from slowhand.papers.iotops_comparison.conversation import conversation
from slowhand.papers.points import Laboratory, Settings, Values

METHOD_4: Settings = {"session.protocol": "edhoc", "session.edhoc.message_4": True}

MAC, SIGNATURE = 8, 64
"""Octets of what proves an identity: a MAC with static Diffie-Hellman keys, or a signature (RFC
9528 section 5.3.2, cipher suite 2)."""

X5T = 14
"""Octets of a map with an x5t: one of it for the map, 2 for the label, 2 for the list and its first
element, 1 for the length, 8 of the hash (RFC 9360 section 2, RFC 9529 chapter 2). A kid has one."""

VARIANTS = {
    "dh.kid": "static DH, kid",
    "dh.x5t": "static DH, x5t",
    "signature.kid": "signatures, kid",
    "signature.x5t": "signatures, x5t",
}
"""The credentials of the draft, in words: what proves an identity, and what names it."""

MEASURED = "dh.kid"
"""The credentials of the sessions here, from whose messages the others follow."""


def messages(laboratory: Laboratory, **options: Setting) -> list[bytes]:
    """Messages 1 to 4, without what CoAP needs: the flags before message_1 and message_3."""
    settings = {**METHOD_4, **{f"session.edhoc.{name}": value for name, value in options.items()}}
    payloads = [
        Message.read(octets).payload for _, octets in conversation(laboratory, settings).payloads
    ]
    # RFC 9528 appendix A.2: `true` before message_1, C_R before message_3, of an octet each.
    return [octets[1:] if number % 2 == 0 else octets for number, octets in enumerate(payloads)]


def variant(octets: list[int], name: str) -> list[int]:
    """Octets of messages 1 to 3 with credentials of `VARIANTS`, from those of `MEASURED`."""
    proof, identifier = name.split(".")
    more = X5T - 1 if identifier == "x5t" else 0
    more += SIGNATURE - MAC + 1 if proof == "signature" else 0
    return [
        octets[0],
        _string(_content(octets[1]) + more),
        _string(_content(octets[2]) + more),
    ]


def _content(octets: int) -> int:
    """The octets that a byte string of CBOR holds, from all its octets (RFC 8949 section 3)."""
    return next(octets - header for header in (1, 2) if _string(octets - header) == octets)


def _string(content: int) -> int:
    """Octets of a byte string of CBOR with so much content, up to 255."""
    return content + (1 if content < 24 else 2)


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part."""
    ours = [len(message) for message in messages(laboratory)]
    by_value = [len(message) for message in messages(laboratory, credentials="ccs")]
    values: dict[str, Estimate | None] = {"message_4": Estimate(ours[3])}
    for name in VARIANTS:
        for number, octets in enumerate(variant(ours, name), 1):
            values[f"{name}.{number}"] = Estimate(octets)
    for number, octets in enumerate(by_value[1:3], 2):
        values[f"ccs.{number}"] = Estimate(octets)
    return values | _over_coap(laboratory, ours)


def _over_coap(laboratory: Laboratory, octets: list[int]) -> dict[str, Estimate]:
    """The octets that CoAP adds to messages 1 to 3, and the combined request to a request."""
    values = {}
    sent = [payload for _, payload in conversation(laboratory, METHOD_4).payloads]
    for number, (whole, message) in enumerate(zip(sent[:3], octets, strict=False), 1):
        read = Message.read(whole)
        values[f"coap.{number}"] = Estimate(len(whole) - message)
        values[f"coap.{number}.least"] = Estimate(len(whole) - message - _beside(read))
    request: Settings = {"session.protocol": "edhoc", "application.requests": 1}
    combined = conversation(laboratory, {**request, "session.edhoc.combined": True}).payloads[2][1]
    alone = conversation(laboratory, request).payloads[4][1]
    values["coap.combined"] = Estimate(len(combined) - len(alone) - octets[2])
    return values


def _beside(message: Message) -> int:
    """Octets that the draft leaves out: a token, a Content-Format, the path `.well-known`."""
    formats = [option.octets for option in message.options if option.number == 12]
    paths = [option.octets for option in message.options if option.value == b".well-known"]
    return message.token + sum(formats) + sum(paths)
