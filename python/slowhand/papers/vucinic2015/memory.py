"""Section IV: session slots, and refused requests."""

from __future__ import annotations

from pathlib import Path

from slowhand import capacity, plot
from slowhand.estimate import Estimate, of_metric
from slowhand.papers.points import Laboratory, Values

SLOTS, CLIENTS, RHO = 3, 5, 0.5
BYTES_PER_SESSION = 400
RESERVED_BYTES = 15_184
"""See `wismote-reserved` in assumptions.toml."""

SWEEP = [0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0]


def measure(laboratory: Laboratory) -> Values:
    """Our values for the rows of this part."""
    found = capacity.compute(slots=SLOTS, clients=CLIENTS, rho=RHO, policy="refuse")
    simulated = found["simulated"]

    def slots(device: str) -> Estimate:
        fit = capacity.memory(
            device, bytes_per_session=BYTES_PER_SESSION, reserved_bytes=RESERVED_BYTES
        )
        return Estimate(fit.slots)

    return {
        "blocking": Estimate(100 * found["time_congestion"]),
        "refused": Estimate(100 * found["call_congestion"]),
        "blocking.simulated": of_metric(simulated["time_congestion"], 100),
        "refused.simulated": of_metric(simulated["call_congestion"], 100),
        "slots.wismote": slots("wismote"),
        "slots.greennet": slots("greennet"),
    }


def draw(laboratory: Laboratory, folder: Path) -> list[Path]:
    """Draws refused requests, and the handshakes that other policies cost."""
    swept = [capacity.compute(slots=SLOTS, clients=CLIENTS, rho=rho) for rho in SWEEP]
    title = f"A server with {SLOTS} session slots for {CLIENTS} clients"
    with plot.sheet(2, title=title, width=6.4) as sheet:
        refused, handshakes = sheet.axes
        for axes, key, scale in (
            (refused, "call_congestion", 100),
            (handshakes, "handshakes_per_session", 1),
        ):
            curves = {
                policy.replace("-", " "): [
                    of_metric(result["policies"][policy][key], scale) for result in swept
                ]
                for policy in swept[0]["policies"]
            }
            sheet.curves(axes, SWEEP, curves)
            axes.set(xlabel="traffic of a client without session [Erlang]", xlim=(0, None))
        refused.plot(SWEEP, [100 * r["call_congestion"] for r in swept], ":", color=plot.GREY)
        refused.plot(SWEEP, [100 * r["time_congestion"] for r in swept], "--", color=plot.GREY)
        refused.plot([], [], "--", color=plot.GREY, label="Engset: time all slots are taken")
        refused.plot([], [], ":", color=plot.GREY, label="Engset: requests refused")
        refused.legend(loc="upper left")
        refused.set(title="requests refused", ylabel="share [%]", ylim=(-3, 80))
        handshakes.set_title("handshakes for each session that ends of itself")
        handshakes.set_ylabel("handshakes")
        return sheet.save(folder, "capacity")
