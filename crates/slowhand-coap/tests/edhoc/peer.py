"""Aiocoap, which has lakers below it, as a peer of the tests of EDHOC: a server, or a client that says what it has received.

peer.py server STYLE               prints its port; ends when its input does
peer.py client STYLE FLOW PORT     prints the response to one request

STYLE is how it sends its credential: by-key-id or by-value. FLOW: combined or sequential. The credentials and keys are those of
RFC 9529, chapter 3.
"""

import asyncio
import socket
import sys

import aiocoap
import cbor2
from aiocoap.credentials import CredentialsMap
from aiocoap.edhoc import EdhocCredentials
from aiocoap.oscore_sitewrapper import OscoreSiteWrapper
from aiocoap.resource import Resource, Site

INITIATOR = cbor2.loads(
    bytes.fromhex(
        "a2027734322d35302d33312d46462d45462d33372d33322d333908a101a5010202412b2001215820ac75e9ece3e50bfc8ed60399889522405c47bf16"
        "df96660a41298cb4307f7eb62258206e5de611388a4b8a8211334ac7d37ecb52a387d257e6db3c2a93df21ff3affc8"
    )
)
RESPONDER = cbor2.loads(
    bytes.fromhex(
        "a2026b6578616d706c652e65647508a101a501020241322001215820bbc34960526ea4d32e940cad2a234148ddc21791a12afbcbac93622046dd44f0"
        "2258204519e257236b2a0ce2023f0931f1f386ca7afda64fcde0108c224c51eabf6072"
    )
)
OF_INITIATOR = bytes.fromhex("fb13adeb6518cee5f88417660841142e830a81fe334380a953406a1305e8706b")
OF_RESPONDER = bytes.fromhex("72cc4761dbd4c78f758931aa589d348d1ef874a7e303ede2f140dcf3e6aa4aac")


def credentials(own: dict, key: bytes, peer: dict, style: str, *, combined: bool) -> EdhocCredentials:
    return EdhocCredentials(
        suite=2,
        method=3,
        own_cred_style=style,
        own_cred={14: own},
        private_key={1: 2, -1: 1, -4: key},
        peer_cred={14: peer},
        use_combined_edhoc=combined,
    )


class Temperature(Resource):
    """Answers who has authenticated."""

    async def render_get(self, request: aiocoap.Message) -> aiocoap.Message:
        return aiocoap.Message(payload=b"21.5" if isinstance(request.remote.authenticated_claims, list) else b"nobody")


async def serve(style: str) -> None:
    site = Site()
    site.add_resource(["a"], Temperature())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        at = free.getsockname()
    known = CredentialsMap()
    known[f"coap://127.0.0.1:{at[1]}/*"] = credentials(RESPONDER, OF_RESPONDER, INITIATOR, style, combined=True)
    context = await aiocoap.Context.create_server_context(OscoreSiteWrapper(site, known), bind=at)
    print(at[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await context.shutdown()


async def ask(style: str, flow: str, port: str) -> None:
    context = await aiocoap.Context.create_client_context()
    uri = f"coap://127.0.0.1:{port}"
    combined = flow == "combined"
    context.client_credentials[f"{uri}/*"] = credentials(INITIATOR, OF_INITIATOR, RESPONDER, style, combined=combined)
    response = await context.request(aiocoap.Message(code=aiocoap.GET, uri=f"{uri}/a")).response
    print(response.code.dotted, response.payload.decode(), flush=True)
    await context.shutdown()


def main() -> None:
    role, *rest = sys.argv[1:]
    asyncio.run(serve(*rest) if role == "server" else ask(*rest))


main()
