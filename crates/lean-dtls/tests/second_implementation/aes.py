"""AES-128 (FIPS 197), and with a nonce of 12 octets CCM (NIST SP 800-38C) and GCM (NIST SP 800-38D)."""


def double(octet: int) -> int:
    return (octet << 1) ^ (0x11B if octet & 0x80 else 0)


def make_sbox() -> list[int]:
    sbox = [0] * 256
    p = q = 1
    while True:
        p = p ^ double(p)  # times 3
        for shift in (1, 2, 4):  # divided by 3
            q ^= q << shift
        q = (q & 0xFF) ^ (0x09 if q & 0x80 else 0)
        rotated = [(q << n | q >> (8 - n)) & 0xFF for n in range(5)]
        sbox[p] = rotated[0] ^ rotated[1] ^ rotated[2] ^ rotated[3] ^ rotated[4] ^ 0x63
        if p == 1:
            break
    sbox[0] = 0x63
    return sbox


SBOX = make_sbox()


def expand(key: bytes) -> list[list[int]]:
    words = [list(key[n : n + 4]) for n in range(0, 16, 4)]
    constant = 1
    for n in range(4, 44):
        word = words[-1]
        if n % 4 == 0:
            word = [SBOX[octet] for octet in word[1:] + word[:1]]
            word[0] ^= constant
            constant = double(constant)
        words.append([a ^ b for a, b in zip(words[n - 4], word, strict=True)])
    return [sum(words[n : n + 4], []) for n in range(0, 44, 4)]


def encrypt(keys: list[list[int]], block: bytes) -> bytes:
    state = [a ^ b for a, b in zip(block, keys[0], strict=True)]
    for number, key in enumerate(keys[1:], 1):
        state = [SBOX[state[(n + 4 * (n % 4)) % 16]] for n in range(16)]
        if number < 10:
            mixed = []
            for n in range(0, 16, 4):
                column = state[n : n + 4]
                every = column[0] ^ column[1] ^ column[2] ^ column[3]
                mixed += [column[m] ^ every ^ double(column[m] ^ column[(m + 1) % 4]) for m in range(4)]
            state = mixed
        state = [a ^ b for a, b in zip(state, key, strict=True)]
    return bytes(state)


def xor(octets: bytes, others: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(octets, others, strict=False))


def padded(octets: bytes) -> bytes:
    return octets + bytes(-len(octets) % 16)


def blocks_of(octets: bytes) -> list[bytes]:
    return [octets[n : n + 16] for n in range(0, len(octets), 16)]


class Aead:
    """What CCM and GCM have in common: a stream of encrypted counters, and a tag that is encrypted with one of them."""

    def __init__(self, key: bytes, tag_length: int) -> None:
        self.keys = expand(key)
        self.tag_length = tag_length

    def tag(self, nonce: bytes, associated: bytes, content: bytes, crypted: bytes) -> bytes:
        raise NotImplementedError

    def counter(self, nonce: bytes, number: int) -> bytes:
        raise NotImplementedError

    def crypt(self, nonce: bytes, content: bytes) -> bytes:
        numbers = range(1, 1 + (len(content) + 15) // 16)
        stream = b"".join(encrypt(self.keys, self.counter(nonce, number)) for number in numbers)
        return xor(content, stream)

    def seal_tag(self, nonce: bytes, associated: bytes, content: bytes, crypted: bytes) -> bytes:
        tag = self.tag(nonce, associated, content, crypted)
        return xor(tag, encrypt(self.keys, self.counter(nonce, 0)))[: self.tag_length]

    def seal(self, nonce: bytes, associated: bytes, content: bytes) -> bytes:
        crypted = self.crypt(nonce, content)
        return crypted + self.seal_tag(nonce, associated, content, crypted)

    def open(self, nonce: bytes, associated: bytes, sealed: bytes) -> bytes:
        crypted, tag = sealed[: -self.tag_length], sealed[-self.tag_length :]
        content = self.crypt(nonce, crypted)
        if tag != self.seal_tag(nonce, associated, content, crypted):
            raise ValueError("a record with a wrong tag")
        return content


class Ccm(Aead):
    def counter(self, nonce: bytes, number: int) -> bytes:
        return b"\x02" + nonce + number.to_bytes(3, "big")

    def tag(self, nonce: bytes, associated: bytes, content: bytes, crypted: bytes) -> bytes:
        first = bytes([0x40 | (self.tag_length - 2) // 2 << 3 | 2]) + nonce + len(content).to_bytes(3, "big")
        state = bytes(16)
        for block in blocks_of(first + padded(len(associated).to_bytes(2, "big") + associated) + padded(content)):
            state = encrypt(self.keys, xor(state, block))
        return state


class Gcm(Aead):
    def counter(self, nonce: bytes, number: int) -> bytes:
        return nonce + (number + 1).to_bytes(4, "big")

    def tag(self, nonce: bytes, associated: bytes, content: bytes, crypted: bytes) -> bytes:
        key = int.from_bytes(encrypt(self.keys, bytes(16)), "big")
        lengths = (8 * len(associated)).to_bytes(8, "big") + (8 * len(crypted)).to_bytes(8, "big")
        state = 0
        for block in blocks_of(padded(associated) + padded(crypted) + lengths):
            state = self.multiply(state ^ int.from_bytes(block, "big"), key)
        return state.to_bytes(16, "big")

    @staticmethod
    def multiply(x: int, y: int) -> int:
        product = 0
        for bit in range(127, -1, -1):
            if x >> bit & 1:
                product ^= y
            y = y >> 1 ^ (0xE1 << 120 if y & 1 else 0)
        return product
