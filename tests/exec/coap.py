"""A client and a server of aiocoap: `coap.py client|server ADDRESS`."""

import asyncio
import sys

import aiocoap
from aiocoap import resource


class Time(resource.Resource):  # type: ignore[misc]
    """The time of its event loop."""

    async def render_get(self, _request: aiocoap.Message) -> aiocoap.Message:
        """Somebody asks."""
        return aiocoap.Message(payload=str(asyncio.get_running_loop().time()).encode())


async def main(role: str, address: str) -> None:
    """Serves, or asks once."""
    if role == "server":
        site = resource.Site()
        site.add_resource(["time"], Time())
        await aiocoap.Context.create_server_context(site, bind=(address, 5683))
        await asyncio.sleep(1e6)
    context = await aiocoap.Context.create_client_context()
    request = aiocoap.Message(code=aiocoap.GET, uri=f"coap://[{address}]/time")
    response = await context.request(request).response
    print(response.code, response.payload)


asyncio.run(main(*sys.argv[1:]))
