"""One end of a TLS session of OpenSSL, over stdin and stdout.

    python3 openssl_peer.py client|server tls1.2|tls1.3 CIPHERS CREDENTIALS KIND KEY_LOG

KIND names the credentials: secp256r1, rsa2048 or another. Takes frames (length in 4 octets, bytes that arrive), answers each with one (length in 4 octets, 1 octet that
says whether the handshake is complete, bytes to send).
"""

import base64
import ssl
import struct
import sys
import tempfile
from pathlib import Path

NO_CHECK_TIME = 0x200000  # X509_V_FLAG_NO_CHECK_TIME of openssl/x509_vfy.h: a world has a calendar of its own


def context(role: str, version: str, ciphers: str, credentials: Path, kind: str, key_log: str) -> ssl.SSLContext:
    result = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT if role == "client" else ssl.PROTOCOL_TLS_SERVER)
    chosen = {"tls1.2": ssl.TLSVersion.TLSv1_2, "tls1.3": ssl.TLSVersion.TLSv1_3}[version]
    result.minimum_version = result.maximum_version = chosen
    result.set_ciphers(ciphers)
    result.check_hostname = False
    result.verify_mode = ssl.CERT_REQUIRED
    result.verify_flags |= NO_CHECK_TIME
    result.load_verify_locations(cadata=(credentials / f"{kind}-authority.der").read_bytes())
    certificate = ssl.DER_cert_to_PEM_cert((credentials / f"{kind}-{role}.der").read_bytes())
    key = base64.encodebytes((credentials / f"{kind}-{role}-key.der").read_bytes()).decode()
    label = "RSA PRIVATE KEY" if kind.startswith("rsa") else "EC PRIVATE KEY"
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(f"{certificate}-----BEGIN {label}-----\n{key}-----END {label}-----\n")
        file.flush()
        result.load_cert_chain(file.name)
    result.keylog_filename = key_log
    return result


def main() -> None:
    role, version, ciphers, credentials, kind, key_log = sys.argv[1:]
    arriving, leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = context(role, version, ciphers, Path(credentials), kind, key_log).wrap_bio(
        arriving, leaving, server_side=role == "server"
    )
    complete = False
    while header := sys.stdin.buffer.read(4):
        arriving.write(sys.stdin.buffer.read(*struct.unpack(">I", header)))
        if not complete:
            try:
                session.do_handshake()
                complete = True
            except ssl.SSLWantReadError:
                pass
        octets = leaving.read()
        sys.stdout.buffer.write(struct.pack(">IB", len(octets), complete) + octets)
        sys.stdout.buffer.flush()


main()
