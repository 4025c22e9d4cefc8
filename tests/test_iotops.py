"""`slowhand papers iotops-comparison`: flights field by field, codes, and what README.md says."""

import random
import re
from collections import Counter

import pytest

from slowhand import papers
from slowhand._native import ArgumentError, open_ccm_8
from slowhand.papers.iotops_comparison import (
    air,
    draft,
    dtls13,
    edhoc,
    fields,
    ghc,
    records,
    tls13,
)
from slowhand.papers.iotops_comparison.coap import Message
from slowhand.papers.iotops_comparison.conversation import Conversation, conversation
from slowhand.papers.points import Laboratory

PAPER = papers.find("iotops-comparison")

LABORATORY = Laboratory(PAPER.folder, count=3, update=lambda done: None)

SIGNATURE = "CertificateVerify: signature"

CAUSES = re.compile(r"^\| `((?:dtls13|tls13)\.[^`]+)`[^|]*\| (\d+) B \| ([\d.]+) \| (.*) \|$", re.M)
"""Rows of the README: which, the draft's octets, ours, the fields that differ."""


@pytest.mark.parametrize("kind", draft.KINDS)
def test_the_fields_of_the_draft_add_up_to_its_tables(kind: str) -> None:
    tables = {
        f"dtls13.{kind}.cid": draft.flights("dtls13", kind, has_cid=True),
        f"dtls13.{kind}.plain": draft.flights("dtls13", kind),
        f"tls13.mbedtls.{kind}": draft.flights("tls13", kind),
    }
    if kind != "psk":
        tables[f"tls13.x25519.{kind}"] = draft.flights("tls13", kind, x25519=True)
    for name, flights in tables.items():
        for number, flight in enumerate(flights, 1):
            assert sum(flight.values()) == PAPER.number(f"{name}.{number}"), name
    x25519 = draft.flights("dtls13", kind, x25519=True)
    if kind == "rpk":
        assert [sum(flight.values()) for flight in x25519] == [146, 360, 200]


@pytest.mark.parametrize("has_cid", [False, True])
@pytest.mark.parametrize("kind", draft.KINDS)
def test_lean_dtls_has_the_fields_of_the_draft(kind: str, has_cid: bool) -> None:
    ours = dtls13.flights(LABORATORY, kind, has_cid=has_cid)
    theirs = draft.flights("dtls13", kind, has_cid=has_cid)
    more = [fields.differences(a, b) for a, b in zip(ours[:3], theirs, strict=True)]
    for differences in more:
        assert abs(differences.pop(SIGNATURE, 0.0)) < 2
    types = ("client_certificate_type", "server_certificate_type")
    second = {f"EncryptedExtensions: {name}": -1 for name in types}
    second |= {fields.PROTECTED: 5 if has_cid else 4, fields.TYPE: 1, fields.TAG: 8}
    assert more == [{}, second if kind == "rpk" else {}, {}]
    # The fourth flight is an acknowledgement of one record: 16 octets and their length.
    assert ours[3]["ACK"] == 18


def test_the_readme_names_the_fields_that_differ() -> None:
    recorded = PAPER.recorded()
    assert recorded
    found = CAUSES.findall((PAPER.folder / "README.md").read_text())
    assert len(found) == 11
    for id, theirs, ours, causes in found:
        assert float(theirs) == PAPER.number(id)
        assert float(ours) == round(recorded["rows"][id][1], 2)
        named = re.findall(r"[+-]\d+", re.sub(r"\([^)]*\)", "", causes))
        assert sum(map(int, named)) == pytest.approx(float(ours) - float(theirs), abs=0.6), id


@pytest.mark.parametrize("stack", ["mbedtls", "openssl"])
def test_tls_differs_in_what_looks_like_tls_1_2_and_in_records(stack: str) -> None:
    ours = tls13.with_raw_public_keys(LABORATORY, stack)
    client, server, last = (
        fields.differences(a, b) for a, b in zip(ours, draft.flights("tls13", "rpk"), strict=True)
    )
    assert client["ClientHello: session ID"] == server["ServerHello: session ID"] == 32
    assert server["ChangeCipherSpec"] == last["ChangeCipherSpec"] == 6
    # Five messages and three, each in a record: header 5, tag 8.
    assert (server[fields.PROTECTED], last[fields.PROTECTED]) == (4 * 5, 2 * 5)
    assert (server[fields.TAG], last[fields.TAG]) == (4 * 8, 2 * 8)


def test_a_record_that_was_changed_is_not_read() -> None:
    settings = {"session.suite": dtls13.CCM_8, **dtls13.CREDENTIALS["psk"]}
    found = conversation(LABORATORY, settings)
    payloads = list(found.payloads)
    by, octets = payloads[-1]
    payloads[-1] = (by, octets[:-1] + bytes([octets[-1] ^ 1]))
    with pytest.raises(ValueError, match="a record of the server cannot be opened"):
        fields.of_flights(Conversation(tuple(payloads), found.secrets), is_datagram=True)


def test_ccm_by_the_example_of_nist() -> None:
    """Example 3 of SP 800-38C: a nonce of 12 octets, a tag of 8."""
    key, nonce = bytes(range(0x40, 0x50)), bytes(range(0x10, 0x1C))
    header, plain = bytes(range(20)), bytes(range(0x20, 0x38))
    sealed = bytes.fromhex("e3b201a9f5b71a7a9b1ceaeccd97e70b6176aad9a4428aa5484392fbc1b09951")
    assert open_ccm_8(key, nonce, header, sealed) == plain
    assert open_ccm_8(key, nonce, header[1:], sealed) is None
    assert open_ccm_8(key, nonce, header, b"short") is None
    with pytest.raises(ArgumentError, match=r"^key: found 15 octets, allowed: 16$"):
        open_ccm_8(key[1:], nonce, header, sealed)


def test_codes_of_the_draft_are_read() -> None:
    data = records.CIPHERTEXT + records.TAG
    dtls12 = bytes.fromhex("b0c303050016f20e") + data
    plain = bytes.fromhex("17fefd000100000000000500160001000000000005") + data
    assert ghc.decompress(dtls12, records.ADDRESSES) == plain
    tls12 = bytes.fromhex("051703030016850f05") + data
    plain = bytes.fromhex("17030300160000000000000005") + data
    assert ghc.decompress(tls12, records.ADDRESSES) == plain
    # The nonce of its record with a connection ID comes out wrong, unless the copy begins earlier.
    for code, nonce in (("f2", "0100000000000542"), ("f3", "0001000000000005")):
        found = ghc.decompress(bytes.fromhex(f"b0c304054200 16{code}0e") + data, records.ADDRESSES)
        assert found[14:22].hex() == nonce


def test_a_code_stands_for_what_was_compressed() -> None:
    draw = random.Random(7400)
    for _ in range(50):
        octets = bytes(draw.choice((0, 0, 1, 0xFD, draw.randrange(256))) for _ in range(40))
        code = ghc.compress(octets, records.ADDRESSES)
        assert ghc.decompress(code, records.ADDRESSES) == octets
    # By hand: 17 zeros are one code, 18 two; a repetition is a copy.
    assert ghc.compress(bytes(17), b"\1" * 32) == b"\x8f"
    assert len(ghc.compress(b"abcdefghij" * 2, b"\1" * 32)) == 11 + 2
    # The end of a code, which no datagram needs, and a copy from before the dictionary.
    for code in (b"\x90", b"\xa7\xff"):
        with pytest.raises(ValueError, match=r"^code 0x"):
            ghc.decompress(code, b"\1" * 32)


def test_addresses_change_no_overhead_of_the_draft(monkeypatch: pytest.MonkeyPatch) -> None:
    def found() -> list[int]:
        return [
            records.compressed(name, number)
            for name in ("dtls12", "dtls13", "tls12", "tls13")
            for number in records.NUMBERS
        ]

    before = found()
    monkeypatch.setattr(records, "ADDRESSES", bytes(range(100, 132)))
    assert found() == before


@pytest.mark.parametrize(("name", "octets"), [("dtls12", 21), ("tls12", 13), ("tls13", 5)])
def test_a_record_of_the_format_is_the_librarys(name: str, octets: int) -> None:
    request, _ = records.last(LABORATORY, name)
    made, _ = records._record(name, "05")
    # The lengths differ where the data do; those of DTLS 1.2 are behind the number.
    length = 11 if name == "dtls12" else 3
    without = [each[:length] + each[length + 2 : octets] for each in (request, made)]
    assert without[0] == without[1]


def test_messages_of_coap_by_hand() -> None:
    # GET, a token of an octet, Uri-Path "ab", Content-Format 0, an option of 300 octets, a payload.
    octets = bytes.fromhex("41010001aab2616210ee0001001f") + bytes(300) + b"\xffhi"
    message = Message.read(octets)
    assert (message.token, message.payload) == (1, b"hi")
    assert [(each.number, each.octets) for each in message.options] == [
        (11, 3), (12, 1), (12 + 269 + 1, 5 + 300)
    ]  # fmt: skip
    assert Message.read(bytes.fromhex("60000001")).payload == b""


def test_messages_of_edhoc_with_other_credentials() -> None:
    found = [len(message) for message in edhoc.messages(LABORATORY)]
    assert found == [37, 45, 19, 9]
    # RFC 9529 chapter 2: 37, 116, 90. Its C_R takes two octets.
    assert edhoc.variant(found, "signature.x5t") == [37, 116 - 1, 90]
    # RFC 8949 section 3: 23 octets have a header of one, 24 have one of two.
    assert (edhoc._content(24), edhoc._content(26)) == (23, 24)


def test_a_session_and_its_request_on_the_air() -> None:
    """By hand: each datagram of EDHOC is a frame, and a hop passes it once."""
    datagrams = Counter(combined=4, edhoc=6)
    for session, count in datagrams.items():
        for hops in (1, 4):
            at = air.point("tsch", session, hops, loss=0)
            found = air.total(LABORATORY, at, "frames")
            assert found and found.mean == count * hops, session
    # The first request is there without a third round trip.
    times = [
        air.total(LABORATORY, air.point("beacon", session, 4, loss=0), "time")
        for session in datagrams
    ]
    assert times[0] and times[1] and times[1].mean / times[0].mean == pytest.approx(1.5, rel=0.1)
