"""aiocoap as a peer: `aiocoap_peer.py server PORT` or `aiocoap_peer.py client PORT FILE`.

Over TCP, `tcp-server` and `tcp-client` do the same without observing anything.
"""

import asyncio
import sys
from pathlib import Path

from aiocoap import CHANGED, GET, PUT, Context, Message
from aiocoap.resource import ObservableResource, Site


class Data(ObservableResource):
    """What was put last. Who observes it gets each state."""

    body = b""

    async def render_get(self, request: Message) -> Message:
        return Message(payload=self.body)

    async def render_put(self, request: Message) -> Message:
        self.body = request.payload
        self.updated_state()
        return Message(code=CHANGED)


async def serve(port: int, transport: str) -> None:
    site = Site()
    site.add_resource(["example_data"], Data())
    await Context.create_server_context(site, bind=("127.0.0.1", port), transports=[transport])
    print("ready", flush=True)
    await asyncio.get_running_loop().create_future()


async def put_and_get(context: Context, uri: str, body: bytes) -> None:
    """Puts a body, and gets it again."""
    put = await context.request(Message(code=PUT, uri=f"{uri}/example_data", payload=body)).response
    assert put.code == CHANGED, put
    get = await context.request(Message(code=GET, uri=f"{uri}/example_data")).response
    assert get.payload == body, get


async def ask_over_tcp(port: int, body: bytes) -> None:
    context = await Context.create_client_context()
    uri = f"coap+tcp://127.0.0.1:{port}"
    # As long as aiocoap 0.4 has no CSM of the server, it sends blocks of BERT.
    await context.request(Message(code=GET, uri=f"{uri}/example_data")).response
    await put_and_get(context, uri, body)
    await context.shutdown()


async def ask(port: int, body: bytes) -> None:
    """Puts a body, gets it again, and observes a number that goes up to 3."""
    context = await Context.create_client_context()
    uri = f"coap://127.0.0.1:{port}"
    await put_and_get(context, uri, body)
    request = context.request(Message(code=GET, uri=f"{uri}/number", observe=0))
    numbers = [int((await request.response).payload)]
    async for notification in request.observation:
        numbers.append(int(notification.payload))
        if numbers[-1] == 3:
            break
    request.observation.cancel()
    print(numbers)
    await context.shutdown()


def main() -> None:
    port = int(sys.argv[2])
    match sys.argv[1]:
        case "server":
            asyncio.run(serve(port, "udp6"))
        case "tcp-server":
            asyncio.run(serve(port, "tcpserver"))
        case "client":
            asyncio.run(ask(port, Path(sys.argv[3]).read_bytes()))
        case "tcp-client":
            asyncio.run(ask_over_tcp(port, Path(sys.argv[3]).read_bytes()))


main()
