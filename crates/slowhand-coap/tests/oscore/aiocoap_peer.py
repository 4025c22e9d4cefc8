"""Aiocoap as a peer of the tests of OSCORE: a server, or a client that says what it has received.

aiocoap_peer.py server SENDER RECIPIENT CONTEXT         prints its port; ends when its input does
aiocoap_peer.py client SENDER RECIPIENT CONTEXT PORT    prints a line for each response

The IDs and the ID Context are hexadecimal, `-` is no ID Context. The secret is that of RFC 8613, appendix C.
Both have lost their replay window, as after a restart: the server asks for the Echo option.
"""

import asyncio
import secrets
import socket
import sys

import aiocoap
from aiocoap import oscore
from aiocoap.credentials import CredentialsMap
from aiocoap.oscore_sitewrapper import OscoreSiteWrapper
from aiocoap.resource import ObservableResource, Site

SECRET = bytes.fromhex("0102030405060708090a0b0c0d0e0f10")
SALT = bytes.fromhex("9e7ca92223786340")
LONG = bytes(place % 251 for place in range(2_000))


class Security(oscore.CanProtect, oscore.CanUnprotect, oscore.SecurityContextUtils):
    """A security context that has restarted. It writes no files."""

    alg_aead = oscore.algorithms[oscore.DEFAULT_ALGORITHM]
    hashfun = oscore.hashfunctions[oscore.DEFAULT_HASHFUNCTION]

    def __init__(self, sender: str, recipient: str, context: str) -> None:
        self.sender_id, self.recipient_id = bytes.fromhex(sender), bytes.fromhex(recipient)
        self.id_context = None if context == "-" else bytes.fromhex(context)
        self.derive_keys(SALT, SECRET)
        self.sender_sequence_number = 1_000
        self.recipient_replay_window = oscore.ReplayWindow(32, lambda: None)
        self.echo_recovery = secrets.token_bytes(8)
        self.authenticated_claims = ["peer"]

    def post_seqnoincrease(self) -> None:
        """Stores nothing."""


class Stored(ObservableResource):
    """What was put here last."""

    content = b""

    async def render_get(self, request: aiocoap.Message) -> aiocoap.Message:
        return aiocoap.Message(payload=self.content)

    async def render_put(self, request: aiocoap.Message) -> aiocoap.Message:
        self.content = request.payload
        self.updated_state()
        return aiocoap.Message(code=aiocoap.CHANGED)


async def serve(known: CredentialsMap) -> None:
    site = Site()
    site.add_resource(["a"], Stored())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        at = free.getsockname()
    context = await aiocoap.Context.create_server_context(OscoreSiteWrapper(site, known), bind=at)
    print(at[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await context.shutdown()


async def ask(known: CredentialsMap, uri: str) -> None:
    context = await aiocoap.Context.create_client_context()
    context.client_credentials = known

    async def say(response: aiocoap.Message) -> None:
        secured = response.remote.authenticated_claims
        assert secured, "the response was not protected"
        same = " LONG" if response.payload == LONG else f" {response.payload.decode()}"
        print(f"{response.code.dotted}{same}".strip(), flush=True)

    async def put(payload: bytes) -> None:
        message = aiocoap.Message(code=aiocoap.PUT, uri=uri, payload=payload)
        await say(await context.request(message).response)

    async def get() -> None:
        await say(await context.request(aiocoap.Message(code=aiocoap.GET, uri=uri)).response)

    await put(b"21.5")
    await get()
    await put(LONG)
    await get()
    await put(b"first")
    observing = context.request(aiocoap.Message(code=aiocoap.GET, uri=uri, observe=0))
    await say(await observing.response)
    notifications = aiter(observing.observation)
    for payload in (b"second", b"third", b"fourth"):
        await put(payload)
        await say(await anext(notifications))
    await context.shutdown()


def main() -> None:
    role, sender, recipient, context, *port = sys.argv[1:]
    known = CredentialsMap()
    security = Security(sender, recipient, context)
    if role == "server":
        known[":peer"] = security
        asyncio.run(serve(known))
    else:
        uri = f"coap://127.0.0.1:{port[0]}"
        known[f"{uri}/*"] = security
        asyncio.run(ask(known, f"{uri}/a"))


main()
