"""Records openssl-tls.txt again: OpenSSL's s_client and s_server over TLS 1.2, and a relay that keeps what each end sends.

Usage: record_stream.py > openssl-tls.txt, in a directory with key.pem and certificate.pem as record.py has them.
"""

import select
import socket
import subprocess
import time

SERVER, RELAY = ("127.0.0.1", 15684), ("127.0.0.1", 15685)
SESSION = "-tls1_2 -cipher ECDHE-ECDSA-AES128-GCM-SHA256"


def openssl(command: str) -> subprocess.Popen[bytes]:
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(f"openssl {command} {SESSION}".split(), stdin=subprocess.PIPE, **quiet)


def main() -> None:
    server = openssl(f"s_server -port {SERVER[1]} -key key.pem -cert certificate.pem")
    time.sleep(0.7)
    with socket.create_server(RELAY) as listener:
        client = openssl(f"s_client -connect {RELAY[0]}:{RELAY[1]}")
        ends = [listener.accept()[0], socket.create_connection(SERVER)]
    sent = [b"", b""]
    end = time.monotonic() + 2
    while time.monotonic() < end:
        for readable in select.select(ends, [], [], 0.2)[0]:
            sender = ends.index(readable)
            octets = readable.recv(4096)
            sent[sender] += octets
            ends[1 - sender].sendall(octets)
    print("up", sent[0].hex())
    print("down", sent[1].hex())
    client.kill()
    server.kill()


if __name__ == "__main__":
    main()
