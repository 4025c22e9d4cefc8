"""An echo over UDP by asyncio, and threads: `udp.py client|server ADDRESS`."""

import asyncio
import secrets
import sys
import threading
import time
import uuid
from typing import Any


class Echo(asyncio.DatagramProtocol):
    """Answers each datagram."""

    def connection_made(self, transport: Any) -> None:
        """It can send."""
        self.transport = transport

    def datagram_received(self, data: bytes, address: Any) -> None:
        """Something has come."""
        self.transport.sendto(b"re: " + data, address)


class Client(asyncio.DatagramProtocol):
    """Prints what comes, and when."""

    def datagram_received(self, data: bytes, _address: Any) -> None:
        """Something has come."""
        print(asyncio.get_running_loop().time(), data, flush=True)


async def main(role: str, address: str) -> None:
    """Serves, or asks three times and then lets threads work."""
    loop = asyncio.get_running_loop()
    if role == "server":
        await loop.create_datagram_endpoint(Echo, local_addr=(address, 9999))
        await asyncio.sleep(1e6)
    transport, _ = await loop.create_datagram_endpoint(Client, remote_addr=(address, 9999))
    for _ in range(3):
        transport.sendto(secrets.token_hex(4).encode())
        await asyncio.sleep(7.25)

    def work(number: int) -> tuple[float, str, int, str]:
        time.sleep(number / 10)
        return time.time(), str(uuid.uuid4()), hash("a"), threading.current_thread().name

    print(await asyncio.gather(*[loop.run_in_executor(None, work, n) for n in range(4)]))


asyncio.run(main(*sys.argv[1:]))
