"""Objects by other software, cbor2 and cryptography, for the tests of ours.

peer.py make SECRET PRIVATE     prints an object of number 300, and the key set of its consumer
peer.py open OBJECT GRANT       prints the value of an object, or fails

All are hexadecimal. The producer is `p`, its resource `t`, the identifier of the secret 1.
"""

import sys

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers.aead import AESCCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

CCM, ES256, DIRECT = ({1: algorithm} for algorithm in (10, -7, -10))
EMPTY = b""


def content_key(secret: bytes, partial_iv: bytes) -> bytes:
    party_u, nobody = [b"p", partial_iv, None], [None, None, None]
    context = [10, party_u, nobody, [128, cbor2.dumps(DIRECT)]]
    return HKDF(hashes.SHA256(), 16, None, cbor2.dumps(context)).derive(secret)


def signed_structure(partial_iv: bytes, value: bytes) -> bytes:
    external = cbor2.dumps(partial_iv) + cbor2.dumps(b"\1") + cbor2.dumps("t")
    return cbor2.dumps(["Signature1", cbor2.dumps(ES256), external, value])


def cipher(secret: bytes, partial_iv: bytes) -> tuple[AESCCM, bytes, bytes]:
    associated = cbor2.dumps(["Encrypt0", cbor2.dumps(CCM), EMPTY])
    key = content_key(secret, partial_iv)
    return AESCCM(key, tag_length=8), partial_iv.rjust(13, b"\0"), associated


def make(secret: bytes, private: bytes) -> tuple[bytes, bytes]:
    partial_iv = (300).to_bytes(2)
    key = ec.derive_private_key(int.from_bytes(private), ec.SECP256R1())
    der = key.sign(signed_structure(partial_iv, b"21.5"), ec.ECDSA(hashes.SHA256()))
    signature = b"".join(number.to_bytes(32) for number in utils.decode_dss_signature(der))
    signed = cbor2.dumps([cbor2.dumps(ES256), {}, b"21.5", signature])
    aead, nonce, associated = cipher(secret, partial_iv)
    ciphertext = aead.encrypt(nonce, signed, associated)
    point = key.public_key().public_numbers()
    of_secret = {1: 4, 2: b"\1", 3: -10, -1: secret}
    of_point = {1: 2, -1: 1, -2: point.x.to_bytes(32), -3: point.y.to_bytes(32)}
    protected = cbor2.dumps(CCM)
    return (
        cbor2.dumps([protected, {4: b"\1", 6: partial_iv}, ciphertext]),
        cbor2.dumps([of_secret, of_point]),
    )


def open_object(octets: bytes, grant: bytes) -> bytes:
    of_secret, of_point = cbor2.loads(grant)
    protected, unprotected, ciphertext = cbor2.loads(octets)
    assert cbor2.loads(protected) == CCM
    assert unprotected[4] == of_secret[2]
    aead, nonce, associated = cipher(of_secret[-1], unprotected[6])
    signed = cbor2.loads(aead.decrypt(nonce, ciphertext, associated))
    of_signature, _, value, signature = signed
    assert cbor2.loads(of_signature) == ES256
    x, y, r, s = (
        int.from_bytes(octets)
        for octets in (of_point[-2], of_point[-3], signature[:32], signature[32:])
    )
    public = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
    der = utils.encode_dss_signature(r, s)
    public.verify(der, signed_structure(unprotected[6], value), ec.ECDSA(hashes.SHA256()))
    return value


if __name__ == "__main__":
    first, second = (bytes.fromhex(text) for text in sys.argv[2:])
    if sys.argv[1] == "make":
        print(*(octets.hex() for octets in make(first, second)), sep="\n")
    else:
        print(open_object(first, second).hex())
