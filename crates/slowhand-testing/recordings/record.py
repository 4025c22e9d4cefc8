"""Records openssl.txt and openssl-fragments.txt again: OpenSSL's s_client and s_server, and a relay that drops one datagram.

Usage: record.py 1200 > openssl.txt; record.py 256 > openssl-fragments.txt (the number is the MTU), in a directory with a
key in key.pem and its certificate in certificate.pem:
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -keyout key.pem -out certificate.pem -nodes -subj /CN=slowhand
"""

import select
import socket
import subprocess
import sys
import time

DROPPED = 3
SERVER, RELAY = ("127.0.0.1", 15684), ("127.0.0.1", 15685)
SESSION = f"-dtls1_2 -mtu {sys.argv[1]} -cipher ECDHE-ECDSA-AES128-CCM8@SECLEVEL=0"


def openssl(command: str) -> subprocess.Popen[bytes]:
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(f"openssl {command} {SESSION}".split(), stdin=subprocess.PIPE, **quiet)


def main() -> None:
    towards_client, towards_server = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    towards_client.bind(RELAY)
    server = openssl(f"s_server -listen -port {SERVER[1]} -key key.pem -cert certificate.pem")
    time.sleep(0.7)
    client = openssl(f"s_client -connect {RELAY[0]}:{RELAY[1]}")
    peer, sent = None, 0
    end = time.monotonic() + 4.5
    while time.monotonic() < end:
        for readable in select.select([towards_client, towards_server], [], [], 0.2)[0]:
            datagram, source = readable.recvfrom(4096)
            if readable is towards_server:
                print("down", datagram.hex())
                towards_client.sendto(datagram, peer)
                continue
            peer, sent = source, sent + 1
            print("up-dropped" if sent == DROPPED else "up", datagram.hex())
            if sent != DROPPED:
                towards_server.sendto(datagram, SERVER)
    client.kill()
    server.kill()


if __name__ == "__main__":
    main()
