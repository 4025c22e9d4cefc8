"""Keys that no scenario sets: each is set here, and changes what a run measures, or its frames."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import slowhand

# Nodes 0, 1 and 2 hear each other. The link between 0 and 1 is bad.
TRIANGLE = (
    'network.topology={ kind = "explicit", links = [{ from = 0, to = 1, pdr = 0.3 }, '
    "{ from = 0, to = 2 }, { from = 2, to = 1 }] }"
)
STAR = 'network.topology={ kind = "star", leaves = 3 }'
WEAK_LEAF = (
    'network.topology={ kind = "explicit", links = [{ from = 0, to = 1 }, { from = 0, to = 2 }, '
    "{ from = 0, to = 3, power_db = -20 }] }"
)
ALL = "client.nodes=[1, 2, 3]"
CSL = "mac.csl={ period_ms = 500 }"
LOSSES = ("network.link_pdr=0.4", "mac.max_retries=0")
CERTIFICATES = 'session.suite="TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8"'
LEAN = ('session.stack="lean-dtls"', 'session.protocol="dtls1.2"', CERTIFICATES)
TLS12 = ('session.stack="openssl"', 'session.protocol="tls1.2"', CERTIFICATES)

# What `slowhand.run` measures: a scenario, keys beside it, the key, and a column that it changes.
RUNS = [
    (
        "lossy-line",
        ("lowpan.reassembly='recovery'", "lowpan.fragment_loss=0.1"),
        "lowpan.recovery.first_alone=false",
        "frames",
    ),
    ("lossy-line", ("lowpan.reassembly='recovery'",), "lowpan.recovery.fragment_size=60", "frames"),
    ("lossy-line", ("lowpan.reassembly='recovery'",), "lowpan.recovery.window=2", "frames"),
    ("csma", (CSL,), "mac.csl.accuracy_ppm=255", "energy_client_listen_mj"),
    ("csma", (CSL,), "mac.csl.receive_after_ms=20", "energy_client_listen_mj"),
    ("csma", (CSL,), "mac.csl.uncertainty_ms=5", "energy_client_listen_mj"),
    ("thread", (CSL,), "mac.csl.timeout_s=6", "energy_client_tx_mj"),
    ("csma", ("network.link_pdr=0.7",), "mac.data_wait_ms=10", "duration_s"),
    ("thread", (), "mac.fast_polls=1", "frames_control"),
    ("thread", (), "mac.fast_poll_period_ms=1000", "frames_control"),
    ("thread", ("network.link_pdr=0.5",), "mac.indirect_attempts=1", "datagrams_lost"),
    ("thread", ("mac.fast_poll='never'",), "mac.indirect_timeout_s=5", "datagrams_lost"),
    (
        "csma",
        ("mac.fast_poll='never'", "mac.poll_period_ms=20000", "network.link_pdr=0.7"),
        "mac.pending_in_data_acks=false",
        "frames_control",
    ),
    ("sensor", ("mac.load={}",), "mac.load.dio=false", "bytes_phy"),
    ("sensor", ("mac.load={}",), "mac.load.dio_doublings=0", "frames"),
    ("sensor", ("mac.load={}",), "mac.load.dio_interval_min=8", "frames"),
    ("sensor", ("mac.load={}",), "mac.load.dio_redundancy=1", "frames"),
    ("sensor", ("mac.load={}",), "mac.load.keep_alive_s=2", "frames"),
    (
        "xmac",
        ("network.topology={ kind = 'star', leaves = 5 }", "mac.queue=20"),
        "mac.neighbor_queues=1",
        "frames",
    ),
    (
        "lossy-line",
        ("mac.security={ level = 'mic-32' }",),
        "mac.security.asn_in_nonce=false",
        "bytes_phy",
    ),
    ("lossy-line", (), "mac.start_of_frame='sfd'", "energy_client_listen_mj"),
    ("csma", (STAR, ALL, "network.link_pdr=0.6"), "mac.retry_max_be=3", "duration_s"),
    (
        "csma",
        (STAR, ALL, CERTIFICATES, "mac.max_csma_backoffs=0"),
        "mac.retries_busy_channel=false",
        "frames",
    ),
    ("lossy-line", (CERTIFICATES,), "lowpan.reassembly_buffer_octets=120", "frames"),
    ("busy", ("lowpan.reassembly_buffers=1",), "lowpan.reassembly_when_full='oldest'", "frames"),
    ("lossy-line", ("mac.scheduling='tunnel'",), "mac.tunnel_cells=8", "duration_s"),
    (
        "lossy-line",
        ("network.gilbert_elliott={ good_ms = 100, bad_ms = 100, bad_pdr = 0.5 }",),
        "network.gilbert_elliott.good_pdr=0.7",
        "frames",
    ),
    (
        "lossy-line",
        ("lowpan.reassembly='forwarding'", CERTIFICATES, "client.nodes=[2, 3]"),
        "network.nodes={ 1 = { forwarding_entries = 1 } }",
        "datagrams_lost",
    ),
    ("lossy-line", (TRIANGLE, "client.nodes=[1]"), "network.parents={ 1 = 2, 2 = 0 }", "bytes_phy"),
    ("lossy-line", (TRIANGLE, "client.nodes=[1]"), "network.routing='etx'", "bytes_phy"),
    ("xmac", ("network.capture={}", STAR, ALL), WEAK_LEAF, "frames"),
    (
        "lossy-line",
        (
            STAR,
            ALL,
            "server.slots=1",
            "server.policy='evict-idle-longest'",
            "server.idle_after_s=1",
        ),
        "server.idle_after_s=1000",
        "outcome",
    ),
    (
        "coap-dtls",
        ("lowpan.frame_loss=0.3", "application.requests=20"),
        "session.coap.congestion='cocoa'",
        "energy_client_data_mj",
    ),
    ("lossy-line", LEAN, "session.record_size_limit=256", "bytes_payload"),
    (
        "lossy-line",
        (*LEAN, "session.backoff='cocoa'", "session.timeout_s=0.5"),
        "session.timeout_floor_s=20",
        "datagrams",
    ),
    (
        "lossy-line",
        (
            *TLS12,
            "session.auth='mutual'",
            "server.device='openmote-cc2538'",
            "server.internet_delay_ms=100",
            "transport.client.mss=64",
            "transport.client.initial_window=10",
        ),
        "transport.server.waits_while_computing=true",
        "duration_s",
    ),
]

# TLS with long chains in short segments, some of which are lost.
SEGMENTS = (
    'session.stack="openssl"',
    'session.protocol="tls1.3"',
    'session.suite="TLS_AES_128_GCM_SHA256"',
    'session.auth="mutual"',
    "session.certificate_length=3000",
    "session.timeout_s=600",
    "session.give_up_s=600",
    "transport.client.mss=64",
    "transport.server.mss=64",
    "network.link_pdr=0.8",
    "lowpan.frame_loss=0.05",
    "server.internet_loss=0.1",
)

# Keys of TCP: keys beside these, the key, and a column that it changes.
TCP = [
    ((), "transport.client.congestion='cubic'", "duration_s"),
    (("transport.client.rto_after_syn_loss_s=1",), "transport.client.max_rto_s=1", "frames"),
    (
        (
            "transport.client.sack=false",
            "transport.client.tail_loss_probe=false",
            "transport.client.initial_window=10",
        ),
        "transport.client.recovery='reno'",
        "duration_s",
    ),
    ((), "transport.client.rto_after_syn_loss_s=30", "frames"),
    ((), "transport.client.sack=false", "bytes_phy"),
    ((), "transport.client.single_segment=true", "duration_s"),
    (("transport.client.initial_window=1",), "transport.client.slow_start=false", "duration_s"),
    ((), "transport.client.syn_measured=false", "duration_s"),
    ((), "transport.client.tail_loss_probe=true", "frames"),
    (
        ("transport.client.timestamps=true", "transport.server.timestamps=true"),
        "transport.client.timestamps=false",
        "bytes_phy",
    ),
    ((), "transport.server.congestion='reno'", "duration_s"),
    ((), "transport.server.delayed_ack_ms=500", "duration_s"),
    ((), "transport.server.initial_window=1", "duration_s"),
    (("transport.server.rto_after_syn_loss_s=1",), "transport.server.max_rto_s=1", "frames"),
    ((), "transport.server.min_rto_s=3", "duration_s"),
    (
        (
            "transport.server.sack=false",
            "transport.server.tail_loss_probe=false",
            "transport.server.initial_window=10",
        ),
        "transport.server.recovery='reno'",
        "duration_s",
    ),
    ((), "transport.server.rto_after_syn_loss_s=30", "frames"),
    ((), "transport.server.sack=false", "bytes_phy"),
    (("transport.server.initial_window=10",), "transport.server.send_buffer=256", "duration_s"),
    ((), "transport.server.single_segment=true", "duration_s"),
    (("transport.server.initial_window=1",), "transport.server.slow_start=false", "duration_s"),
    ((), "transport.server.syn_measured=false", "duration_s"),
    ((), "transport.server.tail_loss_probe=false", "frames"),
    (
        ("transport.client.timestamps=true", "transport.server.timestamps=true"),
        "transport.server.timestamps=false",
        "bytes_phy",
    ),
]

# What `slowhand.join` measures of two hops.
JOINS = [
    ((), "join.beacons_shared=false", "synchronised_s"),
    ((), "join.dao_delay_s=30", "packet_s"),
    ((), "join.dao_period_s=2", "energy_mj"),
    ((), "join.dao_probability=0.5", "packet_s"),
    ((), "join.dio_doublings=0", "parent_s"),
    ((), "join.dio_interval_min=14", "parent_s"),
    ((), "join.dio_probability=0.5", "parent_s"),
    (("network.topology={ kind = 'star', leaves = 5 }",), "join.dio_redundancy=1", "parent_s"),
    (("join.dio_interval_min=20",), "join.dis_period_s=1", "energy_mj"),
    ((), "join.packet_octets=100", "packet_s"),
    (("network.link_pdr=0.5", "mac.max_retries=0"), "join.packet_period_s=1", "packets"),
    ((), "join.start_spread_s=30", "start_s"),
    (LOSSES, "join.timeout_doubles=false", "join_frames"),
    (LOSSES, "join.timeout_random_factor=1", "join_frames"),
]


def changes(name: str, given: Sequence[str], change: str, column: str) -> bool:
    """True if a key changes a column of a run, or of the nodes that join."""
    measure, count = (slowhand.join, 5) if name == "join" else (slowhand.run, 20)
    before = measure(slowhand.Scenario(name, [*given]), count=count)
    after = measure(slowhand.Scenario(name, [*given, change]), count=count)
    return not before[column].equals(after[column])


@pytest.mark.parametrize(("name", "given", "change", "column"), RUNS)
def test_a_key_changes_a_run(name: str, given: Sequence[str], change: str, column: str) -> None:
    assert changes(name, given, change, column)


@pytest.mark.parametrize(("given", "change", "column"), TCP)
def test_a_key_of_tcp_changes_a_run(given: Sequence[str], change: str, column: str) -> None:
    assert changes("lossy-line", [*SEGMENTS, *given], change, column)


@pytest.mark.parametrize(("given", "change", "column"), JOINS)
def test_a_key_changes_how_nodes_join(given: Sequence[str], change: str, column: str) -> None:
    two_hops = ("network.topology.hops=2", "network.profile='rfc'")
    assert changes("join", [*two_hops, *given], change, column)


def test_the_key_index_is_in_the_frames(tmp_path: Path) -> None:
    """Nothing that is measured depends on it."""
    secured = "mac.security={ level = 'mic-32' }"
    frames = []
    for index, more in enumerate(([], ["mac.security.key_index=7"])):
        file = tmp_path / f"{index}.pcapng"
        slowhand.Scenario("lossy-line", [secured, *more]).capture(file, seed=1)
        frames.append(file.read_bytes())
    assert len(frames[0]) == len(frames[1]) and frames[0] != frames[1]


def test_a_trace_can_begin_later() -> None:
    """The link is bad in the first five seconds of the trace."""
    rows = [(0, 1, 0, None, 0.5), (5, 1, 0, None, 1)]
    trace = {"network.trace.file": rows}
    whole = slowhand.run(slowhand.Scenario("quickstart", trace), count=20)
    late = slowhand.run(
        slowhand.Scenario("quickstart", {**trace, "network.trace.start_s": 5}), count=20
    )
    assert late["frames"].sum() < whole["frames"].sum()
