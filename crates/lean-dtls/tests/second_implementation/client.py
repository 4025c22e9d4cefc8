"""A client of the lean profile, written from docs/reference/lean-profile.md alone. It shares no line with the engine.

It speaks with the test that starts it by lines: each case begins with `case SWITCHES SEED`. Then it writes datagrams in
hexadecimal and an empty line, and reads the server's in the same way, until it writes `ok` or `failed REASON`.
"""

import hashlib
import hmac
import random
import sys

from aes import Ccm, encrypt, expand

KEY = b"0123456789abcdef"
IDENTITY = b"client-identity"

OMIT_MESSAGES, SHORT_NONCE, SERVER_FINISHED_FIRST, SHORT_HEADER, ACKNOWLEDGE, KNOWN_ADDRESS, SHORT_FINISHED = (
    1 << n for n in range(7)
)
EXTENSION = 0xFF4C
ALERT, HANDSHAKE, DATA, ACK, CHANGE_CIPHER_SPEC = 21, 22, 23, 26, 20
SHORT_TYPES = {ALERT: 28, HANDSHAKE: 29, DATA: 30, ACK: 31}
LONG_TYPES = {short: long for long, short in SHORT_TYPES.items()}


# RFC 5246 and RFC 6347.


def prf(secret: bytes, label: bytes, seed: bytes, length: int) -> bytes:
    output, a = b"", label + seed
    while len(output) < length:
        a = hmac.digest(secret, a, "sha256")
        output += hmac.digest(secret, a + label + seed, "sha256")
    return output[:length]


def vector(prefix: int, content: bytes) -> bytes:
    return len(content).to_bytes(prefix, "big") + content


def extension(number: int, content: bytes) -> bytes:
    return number.to_bytes(2, "big") + vector(2, content)


def require(condition: bool, what: str) -> None:
    if not condition:
        raise ValueError(what)


class Client:
    def __init__(self, switches: int, seed: int) -> None:
        self.offered, self.lean = switches, 0
        self.random = random.Random(seed).randbytes(32)
        self.transcript = b""
        self.message, self.expected = 0, 0
        self.sequence = [0, 0]
        self.latest = -1
        self.finished_received = False
        self.acknowledged = False
        self.sent_finished: int | None = None

    # Records.

    def record(self, epoch: int, kind: int, content: bytes) -> bytes:
        sequence = self.sequence[epoch]
        self.sequence[epoch] += 1
        number = epoch.to_bytes(2, "big") + sequence.to_bytes(6, "big")
        long = bytes([kind]) + b"\xfe\xfd" + number
        if epoch == 0:
            return long + vector(2, content)
        associated = number + bytes([kind]) + b"\xfe\xfd" + len(content).to_bytes(2, "big")
        sealed = self.own.seal(self.own_salt + number, associated, content)
        if not self.lean & SHORT_NONCE:
            sealed = number + sealed
        if self.lean & SHORT_HEADER:
            return bytes([SHORT_TYPES[kind]]) + number[6:] + sealed
        return long + vector(2, sealed)

    def records(self, datagram: bytes) -> list[tuple[int, int, int, bytes]]:
        """Epoch, sequence number, type and content of each record."""
        found = []
        while datagram:
            if self.lean & SHORT_HEADER and datagram[0] in LONG_TYPES:
                kind, lower = LONG_TYPES[datagram[0]], int.from_bytes(datagram[1:3], "big")
                base = (self.latest + 1) & ~0xFFFF
                near = [base + step + lower for step in (-0x10000, 0, 0x10000) if base + step + lower >= 0]
                sequence = min(near, key=lambda candidate: abs(candidate - self.latest - 1))
                epoch, content, datagram = 1, datagram[3:], b""
            else:
                require(datagram[1] == 0xFE, "not a record")
                kind, epoch = datagram[0], int.from_bytes(datagram[3:5], "big")
                sequence = int.from_bytes(datagram[5:11], "big")
                length = int.from_bytes(datagram[11:13], "big")
                content, datagram = datagram[13 : 13 + length], datagram[13 + length :]
            found.append((epoch, sequence, kind, self.opened(epoch, sequence, kind, content)))
        return found

    def opened(self, epoch: int, sequence: int, kind: int, content: bytes) -> bytes:
        if epoch == 0:
            return content
        number = epoch.to_bytes(2, "big") + sequence.to_bytes(6, "big")
        if not self.lean & SHORT_NONCE:
            number_in_record, content = content[:8], content[8:]
        else:
            number_in_record = number
        associated = number + bytes([kind]) + b"\xfe\xfd" + (len(content) - 8).to_bytes(2, "big")
        opened = self.peer.open(self.peer_salt + number_in_record, associated, content)
        require(sequence > self.latest, "a record came twice")
        self.latest = sequence
        return opened

    # Messages.

    def send(self, epoch: int, kind: int, body: bytes) -> bytes:
        length, number = len(body).to_bytes(3, "big"), self.message.to_bytes(2, "big")
        self.message += 1
        octets = bytes([kind]) + length + number + bytes(3) + length + body
        self.transcript += octets
        return self.record(epoch, HANDSHAKE, body if epoch and self.lean & SHORT_FINISHED else octets)

    def hello(self, cookie: bytes) -> bytes:
        lean = bytes([self.offered])
        if self.offered & OMIT_MESSAGES and not self.offered & KNOWN_ADDRESS:
            lean += IDENTITY
        extensions = extension(0x17, b"") + (extension(EXTENSION, lean) if self.offered else b"")
        body = b"\xfe\xfd" + self.random + b"\0" + vector(1, cookie) + vector(2, b"\xc0\xa8\x00\xff") + b"\x01\x00"
        self.transcript = b""
        return self.send(0, 1, body + vector(2, extensions))

    def derive(self) -> None:
        premaster = vector(2, bytes(len(KEY))) + vector(2, KEY)
        session = hashlib.sha256(self.transcript).digest()
        self.master = prf(premaster, b"extended master secret", session, 48)
        block = prf(self.master, b"key expansion", self.server_random + self.random, 40)
        self.own, self.peer = Ccm(block[:16], 8), Ccm(block[16:32], 8)
        self.own_salt, self.peer_salt = block[32:36], block[36:]

    def verify_data(self, label: bytes) -> bytes:
        return prf(self.master, label, hashlib.sha256(self.transcript).digest(), 12)

    def finished(self) -> bytes:
        self.sent_finished = self.sequence[1]
        return self.send(1, 20, self.verify_data(b"client finished"))

    # The handshake.

    def receive(self, datagram: bytes) -> list[bytes]:
        answer: list[bytes] = []
        rest = datagram
        while rest:
            # One record at a time: a ServerHello changes how those after it are read.
            short = self.lean & SHORT_HEADER and rest[0] in LONG_TYPES
            length = len(rest) if short else 13 + int.from_bytes(rest[11:13], "big")
            for epoch, _, kind, content in self.records(rest[:length]):
                answer += self.receive_record(epoch, kind, content)
            rest = rest[length:]
        return answer

    def receive_record(self, epoch: int, kind: int, content: bytes) -> list[bytes]:
        if kind == HANDSHAKE:
            return self.receive_message(epoch, content)
        if kind == ACK:
            require(epoch == 1 and len(content) % 3 == 0, "a malformed acknowledgement")
            names = [content[n : n + 3] for n in range(0, len(content), 3)]
            require(self.sent_finished is not None, "an acknowledgement of nothing")
            self.acknowledged = bytes([1]) + (self.sent_finished or 0).to_bytes(2, "big") in names
            return []
        require(kind == CHANGE_CIPHER_SPEC and not self.lean & OMIT_MESSAGES, f"a record of type {kind}")
        return []

    def receive_message(self, epoch: int, octets: bytes) -> list[bytes]:
        if epoch and self.lean & SHORT_FINISHED:
            length = len(octets).to_bytes(3, "big")
            octets = b"\x14" + length + self.expected.to_bytes(2, "big") + bytes(3) + length + octets
        kind, body = octets[0], octets[12:]
        require(int.from_bytes(octets[1:4], "big") == len(body), "a fragment")
        require(int.from_bytes(octets[4:6], "big") == self.expected, "a message out of turn")
        self.expected += 1
        first = bool(self.lean & SERVER_FINISHED_FIRST)
        if kind == 3:
            return [self.hello(body[3 : 3 + body[2]])]
        if kind == 20:
            require(epoch == 1 and body == self.verify_data(b"server finished"), "a wrong Finished")
            self.finished_received = True
            self.transcript += octets
            return [self.finished()] if first else []
        self.transcript += octets
        if kind == 2:
            self.read_server_hello(body)
            if not self.lean & OMIT_MESSAGES:
                return []
            self.derive()
            return [] if self.lean & SERVER_FINISHED_FIRST else [self.finished()]
        require(kind == 14, f"a message of type {kind}")
        exchange = self.send(0, 16, vector(2, IDENTITY))
        self.derive()
        return [exchange + self.record(0, CHANGE_CIPHER_SPEC, b"\x01") + self.finished()]

    def read_server_hello(self, body: bytes) -> None:
        self.server_random = body[2:34]
        rest = body[35 + body[34] :]
        require(rest[:3] == b"\xc0\xa8\x00", "another suite")
        rest, extensions = rest[5:], {}
        while rest:
            number, length = int.from_bytes(rest[:2], "big"), int.from_bytes(rest[2:4], "big")
            extensions[number], rest = rest[4 : 4 + length], rest[4 + length :]
        if EXTENSION in extensions:
            require(set(extensions) == {EXTENSION}, "what the lean profile stands for")
            require(len(extensions[EXTENSION]) == 1, "a malformed answer")
            self.lean = extensions[EXTENSION][0]
        else:
            require(extensions == {0x17: b"", 0xFF01: b"\x00"}, "the extensions of plain DTLS")
        require(self.lean & ~self.offered == 0, "switches that were not offered")
        if not self.lean & OMIT_MESSAGES:
            require(not self.lean & (SERVER_FINISHED_FIRST | KNOWN_ADDRESS), "switches that need OMIT_MESSAGES")


def exchange(datagrams: list[bytes]) -> list[bytes]:
    for datagram in datagrams:
        print(datagram.hex())
    print(flush=True)
    received = []
    while line := sys.stdin.readline().strip():
        received.append(bytes.fromhex(line))
    return received


def run(switches: int, seed: int) -> int:
    client = Client(switches, seed)
    outgoing = [client.hello(b"")]
    while outgoing:
        incoming = exchange(outgoing)
        outgoing = [answer for datagram in incoming for answer in client.receive(datagram)]
    require(client.finished_received and client.sent_finished is not None, "the handshake is not complete")
    owes = SERVER_FINISHED_FIRST | ACKNOWLEDGE
    require(client.acknowledged == (client.lean & owes == owes), "an acknowledgement, exactly if there is to be one")
    # The server sends back what it gets.
    for text in (b"22.5 C", b"", b"x" * 100):
        for datagram in exchange([client.record(1, DATA, text)]):
            echoed = [content for _, _, kind, content in client.records(datagram) if kind == DATA]
            require(echoed == [text], "other data came back")
            text = b"echoed"
        require(text == b"echoed", "nothing came back")
    exchange([client.record(1, ALERT, b"\x01\x00")])
    return client.lean


def main() -> None:
    # FIPS 197, appendix B.
    key, block = "2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734"
    cipher = encrypt(expand(bytes.fromhex(key)), bytes.fromhex(block))
    require(cipher.hex() == "3925841d02dc09fbdc118597196a0b32", "AES")
    while line := sys.stdin.readline():
        _, switches, seed = line.split()
        try:
            print(f"ok {run(int(switches), int(seed))}")
        except ValueError as error:
            print(f"failed {error}")
        print(flush=True)


if __name__ == "__main__":
    main()
