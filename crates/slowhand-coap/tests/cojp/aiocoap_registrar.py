"""aiocoap as a registrar (RFC 9031): reads a request from stdin and answers it, both in hexadecimal.

It prints the method, Uri-Host, Uri-Path and Proxy-Scheme, the object, and the protected response.
"""

import sys

import aiocoap
from aiocoap import oscore

SECRET = bytes.fromhex("deadbeefcafedeadbeefcafedeadbeef")
DEVICE = bytes.fromhex("0212740000000005")
RESPONSE = bytes.fromhex("a202820150" + "e6" * 16 + "038142af93")


class Security(oscore.CanProtect, oscore.CanUnprotect, oscore.SecurityContextUtils):
    """The context of section 7.3, at the registrar."""

    alg_aead = oscore.algorithms[oscore.DEFAULT_ALGORITHM]
    hashfun = oscore.hashfunctions[oscore.DEFAULT_HASHFUNCTION]

    def __init__(self) -> None:
        self.sender_id, self.recipient_id, self.id_context = b"JRC", b"", DEVICE
        self.derive_keys(b"", SECRET)
        self.sender_sequence_number = 0
        self.recipient_replay_window = oscore.ReplayWindow(32, lambda: None)
        self.recipient_replay_window.initialize_empty()

    def post_seqnoincrease(self) -> None:
        """Stores nothing."""


def main() -> None:
    security = Security()
    outer = aiocoap.Message.decode(bytes.fromhex(sys.stdin.read()))
    request, request_id = security.unprotect(outer)
    options = request.opt
    print(request.code)
    print(outer.opt.uri_host, "/".join(options.uri_path), outer.opt.proxy_scheme)
    print(request.payload.hex())
    response = aiocoap.Message(code=aiocoap.CHANGED, payload=RESPONSE)
    protected, _ = security.protect(response, request_id)
    protected.mtype, protected.mid, protected.token = aiocoap.ACK, outer.mid, outer.token
    print(protected.encode().hex())


main()
