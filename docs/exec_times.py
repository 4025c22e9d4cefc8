"""Prints how long worlds of programs take by the clock, as docs/reference/exec.md says it.

.venv/bin/python docs/exec_times.py     20 s on two idle cores
"""

import time
from collections.abc import Mapping

import slowhand
from slowhand.api import Source

PSK = "-psk 00112233 -cipher PSK-AES128-CCM8:@SECLEVEL=0"
CLIENT = f"openssl s_client -dtls1_2 -timeout -connect {{server}}:5684 {PSK}"
SERVER = f"openssl s_server -dtls1_2 -timeout -accept 5684 -nocert {PSK}"
PAIRS = 100
LONGEST_S = 70.0
"""A little more than the first two worlds take, in seconds of the network."""


def took(scenario: Source, count: int, threads: int, **programs: str | Mapping[int, str]) -> float:
    """Seconds of the clock for one world. A world that fails ends the measurement.

    A single world has the threads for its hosts.
    """
    began = time.monotonic()
    done = slowhand.exec(
        scenario,
        count=count,
        again=0,
        threads=threads,
        duration_s=LONGEST_S,
        **programs,  # type: ignore[arg-type]
    )
    assert not done.failures, done.failures
    return (time.monotonic() - began) / count


def pairs() -> dict[int, str]:
    """OpenSSL's servers at the nodes with odd numbers, and a client of each at the next node."""
    at = {}
    for server in range(1, 2 * PAIRS, 2):
        client = CLIENT.replace("{server}", f"node{server}")
        at[server] = f"{SERVER} -naccept 1 -quiet"
        at[server + 1] = f"sh -c 'sleep 1; exec {client}'"
    return at


def main() -> None:
    """Prints a line for each."""
    openssl = {"client": CLIENT, "server": SERVER}
    coap = {
        "client": "coap-client-notls -m get -B 60 coap://{server}/time",
        "server": "coap-server-notls -A {address}",
    }
    star = slowhand.Scenario("storm-csma", ["network.topology.nodes=1000", "client.count=100"])
    tree = slowhand.Scenario(
        "storm-csma", [f"network.topology.nodes={2 * PAIRS + 10}", "client.count=1"]
    )
    print(f"two programs of OpenSSL, 64 s    {took('lossy-line', 20, 1, **openssl):6.2f} s")
    print(f"the same, two side by side       {took('lossy-line', 20, 2, **openssl):6.2f} s")
    print(f"100 clients of CoAP              {took(star, 1, 2, **coap):6.2f} s")
    print(f"100 pairs of OpenSSL             {took(tree, 1, 2, at=pairs()):6.2f} s")


if __name__ == "__main__":
    main()
