"""Network namespaces with a TUN device each, and the path between their TCPs.

Standard library only; needs root, /dev/net/tun, `unshare` (util-linux) and `ip` (iproute2). A host
is a child process in its own network namespace, so all of it is gone when the process ends.
"""

import fcntl
import heapq
import json
import os
import select
import socket
import struct
import subprocess
import sys
import time

PORT = 4433
TUNSETIFF = 0x400454CA  # linux/if_tun.h
IFF_TUN_NO_PI = 0x1001
TCP_MAXSEG = 2  # linux/tcp.h
TCP_CONGESTION = 13
FIN, SYN, RST, PSH, ACK, URG, ECE, CWR = (1 << bit for bit in range(8))


def address(side):
    return "fd00::1" if side == "a" else "fd00::2"


def now_us():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000


# --- a host: runs in its own namespace -------------------------------------------------------


def host(side, control_fd):
    """Opens the TUN, hands it to the parent, then does what the parent says, line by line."""
    control = socket.socket(fileno=control_fd)
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH14x", b"tun0", IFF_TUN_NO_PI))
    commands = [
        "ip link set lo up",
        "ip link set tun0 mtu 1280 up",
        f"ip -6 addr add {address(side)}/64 dev tun0 nodad",
    ]
    for command in commands:
        subprocess.run(command.split(), check=True)
    socket.send_fds(control, [b"t"], [tun])
    lines = control.makefile("rw")
    connection = listener = None
    received = bytearray()
    for line in lines:
        do, *arguments = json.loads(line)
        answer = None
        if do == "sysctl":
            name, value = arguments
            with open("/proc/sys/net/ipv4/" + name, "w") as knob:
                knob.write(str(value))
        elif do == "listen":
            listener = open_socket(arguments[0])
            listener.bind(("::", PORT))
            listener.listen()
        elif do == "connect":
            connection = open_socket(arguments[0])
            connection.setblocking(False)
            connection.connect_ex((address("b" if side == "a" else "a"), PORT))
        elif do == "accept":
            listener.settimeout(arguments[0])
            connection, _ = listener.accept()
            apply_options(connection, arguments[1])
            connection.setblocking(False)
        elif do == "write":
            connection.setblocking(True)
            data = pattern(arguments[0], arguments[1])
            if len(arguments) > 2 and arguments[2]:
                connection.settimeout(arguments[2])
            answer = now_us()
            connection.sendall(data)
        elif do == "close":
            answer = now_us()
            connection.shutdown(socket.SHUT_WR)
        elif do == "read":
            # Reads until so many octets, or the end, or the time is over.
            count, seconds = arguments
            end = time.monotonic() + seconds
            while len(received) < count and time.monotonic() < end:
                if select.select([connection], [], [], 0.05)[0]:
                    chunk = connection.recv(65536)
                    if not chunk:
                        break
                    received += chunk
            intact = bytes(received) == pattern(0, len(received))
            answer = [len(received), intact]
        lines.write(json.dumps(answer) + "\n")
        lines.flush()


def open_socket(options):
    made = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    apply_options(made, options)
    return made


def apply_options(made, options):
    if options.get("mss"):
        made.setsockopt(socket.IPPROTO_TCP, TCP_MAXSEG, options["mss"])
    if options.get("congestion"):
        # By socket: a namespace may set only what the host allows to everyone.
        made.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, options["congestion"].encode())
    if options.get("nodelay"):
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def pattern(start, count):
    """The octets that the Rust tests send: i * 31 mod 251."""
    cycle = bytes(i * 31 % 251 for i in range(251))
    whole = cycle * ((start % 251 + count) // 251 + 1)
    return whole[start % 251 : start % 251 + count]


class Host:
    def __init__(self, side):
        ours, theirs = socket.socketpair()
        self.process = subprocess.Popen(
            ["unshare", "-n", sys.executable, os.path.abspath(__file__), side, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        _, fds, _, _ = socket.recv_fds(ours, 1, 1)
        if not fds:
            raise SystemExit("the host did not come up: are we root, and is there /dev/net/tun?")
        self.tun = fds[0]
        self.lines = ours.makefile("rw")
        self.control = ours

    def start(self, *command):
        self.lines.write(json.dumps(command) + "\n")
        self.lines.flush()

    def answer(self):
        return json.loads(self.lines.readline() or "null")

    def do(self, *command):
        self.start(*command)
        return self.answer()

    def end(self):
        self.lines.close()
        self.control.close()
        self.process.terminate()
        self.process.wait()
        os.close(self.tun)


# --- segments ---------------------------------------------------------------------------------


class Segment:
    """A TCP segment in an IPv6 packet without extension headers."""

    def __init__(self, packet):
        self.packet = packet
        self.mark = packet[1] >> 4 & 3
        header = packet[40:]
        _, _, self.seq, self.ack, offset, self.flags, self.window = struct.unpack_from("!HHIIBBH", header)
        end = (offset >> 4) * 4
        self.payload = header[end:]
        self.options = parse_options(header[20:end])

    def with_congestion(self):
        packet = bytearray(self.packet)
        packet[1] |= 0x30
        return bytes(packet)


def parse_options(data):
    options = {}
    while data and data[0] != 0:
        if data[0] == 1:
            data = data[1:]
            continue
        kind, length = data[0], data[1]
        body = data[2:length]
        if kind == 2:
            options["mss"] = struct.unpack("!H", body)[0]
        elif kind == 3:
            options["ws"] = body[0]
        elif kind == 4:
            options["sackok"] = 1
        elif kind == 5:
            edges = struct.unpack(f"!{len(body) // 4}I", body)
            options["sack"] = list(zip(edges[::2], edges[1::2]))
        elif kind == 8:
            options["ts"] = struct.unpack("!II", body)
        data = data[length:]
    return options


def is_tcp(packet):
    return len(packet) >= 60 and packet[0] >> 4 == 6 and packet[6] == 6


# --- the path ---------------------------------------------------------------------------------


class Path:
    """Carries packets between two TUNs with a delay; `fate(side, segment)` says what becomes of
    each: a list of extra delays in us, one a copy (empty: lost), and whether it is marked."""

    def __init__(self, tuns, delay_us, fate, record=None):
        self.tuns = tuns
        self.delay_us = delay_us
        self.fate = fate
        self.record = record
        self.waiting = []
        self.count = 0
        self.has_ended = False  # a side has sent an empty packet

    def run(self, until_us, done=lambda: False, extra=()):
        """Until a time, or until `done`; returns the readable ones of `extra` at once."""
        sides = {tun: side for side, tun in self.tuns.items()}
        while (now := now_us()) < until_us and not done():
            while self.waiting and self.waiting[0][0] <= now:
                _, _, side, packet, entry = heapq.heappop(self.waiting)
                os.write(self.tuns[side], packet)
                if entry is not None:
                    entry["arrived"].append(now_us())
                now = now_us()
            wake = min([until_us] + [w[0] for w in self.waiting[:1]])
            timeout = max(0, min(wake - now, 20_000)) / 1e6
            readable = select.select([*sides, *extra], [], [], timeout)[0]
            for tun in readable:
                if tun in sides:
                    packet = os.read(tun, 2048)
                    self.has_ended |= not packet
                    self.take(sides[tun], packet)
            others = [fd for fd in readable if fd not in sides]
            if others:
                return others
        return []

    def take(self, side, packet):
        if not is_tcp(packet):
            return
        sent = now_us()
        segment = Segment(packet)
        delays, marked = self.fate(side, segment)
        if marked:
            packet = segment.with_congestion()
        entry = None
        if self.record is not None:
            entry = {"sent": sent, "side": side, "segment": segment, "arrived": [], "marked": marked}
            self.record.append(entry)
        other = "b" if side == "a" else "a"
        for extra in delays:
            self.count += 1
            heapq.heappush(self.waiting, (sent + self.delay_us + extra, self.count, other, packet, entry))


if __name__ == "__main__":
    host(sys.argv[1], int(sys.argv[2]))
