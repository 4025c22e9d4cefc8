"""The life of a battery, what takes its charge, and what would make it last longer.

>>> import slowhand
>>> answer = slowhand.lives.ask("battery", "l91-pair", worlds=5)
>>> answer.document["battery"], answer.document["unit"]
('l91-pair', 'a day')
>>> [one["name"] for one in answer.document["alternatives"]][:2]
['a connection ID', 'resumption when the NAT has forgotten']
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from slowhand import data
from slowhand._native import DAY_S
from slowhand.api import Scenario, Source, loaded, origin
from slowhand.bounds import natural
from slowhand.keys import Settings
from slowhand.lives import alternatives, words
from slowhand.lives.life import DAYS, WORLDS, Told, computed
from slowhand.terminal import printed

__all__ = ["BATTERY", "DAYS_IN_FULL", "Answer", "ask", "energy_parts", "has_handshakes"]

BATTERY = "cr2032"
"""The battery, if not given: the usual coin cell."""

DAYS_IN_FULL = 30.0
"""The days of a life that is simulated in full, if not given."""

ALIKE = 0.01
"""Lives that differ by less are called the same. (Assumed: nobody would choose by it.)"""

LINK_LAYER = {"csma": "polls", "tsch": "listening", "xmac": "listening", "beacon": "beacons"}
"""Words for the link layer while nobody asks for anything: of polls and beacons, sending
and receiving them is part of it. A device with CSMA that never sleeps listens all the time."""

OF_PURPOSE = ("handshakes", "requests", "keep_alives", "closing")

MODEL = (
    "the device draws the same current at every voltage of the battery: there is no converter, or"
    " a linear regulator that takes nothing itself",
    "the battery gives its whole capacity until its cut-off voltage, whatever the current: a coin"
    " cell gives less at the currents of a radio",
    "the server answers at once",
    "the processor around each frame takes the least that is published (docs/energy.md), and what"
    " the device's file does not say of its radio costs nothing: the battery lasts less",
)
"""The assumptions on every device and battery (the documentation of `battery` in Rust)."""

STEP_UP = (
    "the battery has less than the voltage of the device: a step-up converter without losses lies"
    " between them"
)
PAST_SHELF_LIFE = (
    "the battery still works after {:g} years, its shelf life: nobody promises that, so plan to"
    " change it by then"
)


class Answer:
    """The life of a battery for a client of a scenario, and with what it would last longer.

    `run` computes it: the scenario first, then each alternative, with the same seeds. What is
    complete stays if it is interrupted.
    """

    def __init__(
        self,
        scenario: Scenario,
        battery: str = BATTERY,
        *,
        days: float | None = None,
        seed: int | None = None,
        worlds: int = WORLDS,
        full: bool = False,
        client: int | None = None,
    ):
        self.scenario = scenario
        self.battery = battery
        self.full = full
        self.days = (DAYS_IN_FULL if full else DAYS) if days is None else days
        self.seed = natural("seed", scenario.seed if seed is None else seed)
        self.worlds = None if full else natural("worlds", worlds)
        self.client = client
        self.interrupted = False
        self.told: Told | None = None
        self._is_part = False  # of the scenario's worlds
        self.others: list[tuple[alternatives.Chosen, Told | None]] = []
        """The alternatives, and what came out. `None`: it was not reached."""

    def run(
        self, update: Callable[[int, int], None] | None = None, *, compares: bool = True
    ) -> None:
        """Computes what is not there yet, and calls `update` with what is done, of how much.

        There are alternatives if it `compares`, and not in full: each would take as long as the
        scenario itself.
        """
        self.interrupted = True
        if self.told is None or self._is_part:
            self.told, stopped = self._life(self.scenario)
            self._is_part = stopped is not None
            if stopped:
                raise stopped
            compares = compares and not self.full
            choices = alternatives.chosen(self.scenario) if compares else []
            self.others = [(choice, None) for choice in choices]
        for number, (choice, told) in enumerate(self.others):
            if update:
                update(number + 1, len(self.others) + 1)
            if told is None:
                found, stopped = self._life(choice.scenario)
                if stopped:  # of other worlds than the rest
                    raise stopped
                self.others[number] = (choice, found)
        self.interrupted = False

    def _life(self, scenario: Scenario) -> tuple[Told | None, BaseException | None]:
        """A life, and what has interrupted it, if something has."""
        names = list(dict.fromkeys([self.battery, *data.files(data.BATTERIES)]))
        return computed(scenario, names, self.days, self.seed, self.worlds, self.client)

    @property
    def found(self) -> Told:
        """The life of the scenario itself. Raises `RuntimeError` before there is an answer."""
        if self.told is None:
            raise RuntimeError("this answer was not computed: call run()")
        return self.told

    @property
    def done(self) -> list[tuple[alternatives.Chosen, Told]]:
        """The alternatives that were computed."""
        return [(choice, told) for choice, told in self.others if told]

    @property
    def document(self) -> dict[str, Any]:
        """All of it, as `--json` prints it. Raises `RuntimeError` before there is an answer."""
        own = self.own(self.found)
        return {
            **origin(self.scenario),
            "sentence": self.sentence,
            "battery": self.battery,
            "years": _years(own),
            "years_ci95": _interval(own),
            "unit": "a day",
            "parts": energy_parts(self.found, self.battery),
            "link_layer": link_layer(self.scenario),
            "handshake_mj": handshake_mj(self.found),
            "life": self.found["life"],
            "batteries": self.found["batteries"],
            "alternatives": [self._alternative(*other) for other in self.done],
            "assumed": assumed(self.scenario, self.battery, own),
            "seed": self.seed,
            "count": self.found["life"]["worlds"],
            "days": self.days,
            "full": self.full,
            "interrupted": self.interrupted,
        }

    def own(self, told: Told) -> dict[str, Any]:
        """The part of a life about the battery that is asked for."""
        own: dict[str, Any] = told["batteries"][self.battery]
        return own

    def _alternative(self, choice: alternatives.Chosen, told: Told) -> dict[str, Any]:
        own = self.own(told)
        return {
            "name": choice.name,
            "about": choice.about,
            "settings": choice.settings,
            "years": _years(own),
            "years_ci95": _interval(own),
            "compared": self.compared(told),
            "parts": energy_parts(told, self.battery),
            "link_layer": link_layer(choice.scenario),
            "life": told["life"],
        }

    def compared(self, told: Told) -> str:
        """Whether an alternative makes the battery last `longer` or `shorter`; or it is a `tie`.

        It is one if the intervals overlap, or if there is a difference of 1 % only.
        """
        mine, its = (_ends(self.own(each)) for each in (self.found, told))
        if its[0] > mine[1] and sum(its) > (1 + ALIKE) * sum(mine):
            return "longer"
        return "shorter" if its[1] < mine[0] and sum(its) * (1 + ALIKE) < sum(mine) else "tie"

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        own = self.own(self.found)
        kind = words.battery(own["description"])
        if not self.is_answered:
            return f"no request is answered: {lasts(own)} from {kind} for nothing"
        parts = {part["name"]: part["share"] for part in energy_parts(self.found, self.battery)}
        most = max((n for n in parts if n != "handshakes"), key=lambda name: parts[name])
        main = words.part(most, link_layer(self.scenario)).removeprefix(words.IDLE)
        takes = f"{main} {words.share(parts[most])}"
        if has_handshakes(self.found):
            takes = f"handshakes take {words.share(parts['handshakes'])} of it, {takes}"
        else:
            takes = f"{takes} of it"
        told = [f"{lasts(own)} from {kind}", takes]
        return "; ".join([*told, *(self._brief(*best) for best in self._best())])

    def _best(self) -> Iterator[tuple[alternatives.Chosen, Told]]:
        """Of each kind the alternative with which the battery lasts longest."""
        for about in alternatives.MOST:
            if own := [other for other in self.done if other[0].about == about]:
                yield max(own, key=lambda other: _ends(self.own(other[1]))[1])

    def _brief(self, choice: alternatives.Chosen, told: Told) -> str:
        if self.compared(told) == "tie":
            return f"{choice.name}: about as long"
        mine, its = (lasts(self.own(each), brief=True) for each in (self.found, told))
        unit = mine.rpartition(" ")[2]
        is_plain = mine.count(" ") == its.count(" ") == 1  # not "more than 100 years"
        return f"{choice.name} {its.removesuffix(f' {unit}') if is_plain else its}"

    @property
    def is_answered(self) -> bool:
        """False if no request was answered: then the life of the battery is for nothing."""
        counts = self.found["life"]["counts"]
        return not counts["requests"] or bool(counts["failed"] < counts["requests"])

    def text(self) -> str:
        """The words that the command prints."""
        from slowhand.lives import report

        return printed(partial(report.show, self))


def ask(
    scenario: Source,
    battery: str = BATTERY,
    *,
    days: float | None = None,
    seed: int | None = None,
    worlds: int = WORLDS,
    full: bool = False,
    client: int | None = None,
    set: Settings | None = None,
) -> Answer:
    """Says how long a battery lasts, what takes it, and alternatives, as `slowhand battery` does.

    `battery` is the name of one that comes with slowhand, or the path of a file. The other
    arguments are those of `slowhand.battery`, which computes the scenario alone.
    """
    answer = Answer(
        loaded(scenario, set),
        battery,
        days=days,
        seed=seed,
        worlds=worlds,
        full=full,
        client=client,
    )
    answer.run()
    return answer


def assumed(scenario: Scenario, battery: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """The assumptions of a life: keys of the device and of the battery, and sentences.

    `own` is what the laboratory says of the battery.
    """
    device = scenario.value("client.device")
    return {
        "device": {device: scenario.about()["assumed"][device]},
        "battery": {battery: own["assumed"]},
        "model": [*MODEL, *_of_this_life(own["life"] or {})],
    }


def _of_this_life(life: Mapping[str, Any]) -> Iterator[str]:
    """The assumptions of only some lives."""
    if life.get("needs_step_up"):
        yield STEP_UP
    if life.get("past_shelf_life_years"):
        yield PAST_SHELF_LIFE.format(life["past_shelf_life_years"])


def link_layer(scenario: Scenario) -> str:
    """The link layer while nobody asks for anything, in a word."""
    kind = scenario.value("mac.kind")
    if kind == "csma" and (scenario.value("mac.sleepy") or "none") == "none":
        return LINK_LAYER["tsch"]
    return LINK_LAYER.get(kind, "link layer")


def energy_parts(told: Mapping[str, Any], battery: str) -> list[dict[str, Any]]:
    """Where the charge of a day goes: the energy, the charge, and the share of the battery.

    What the device uses while nobody asks for anything is split: its sleep, and what its link layer
    does. A state that a purpose shortens, as a handshake does with sleep, counts for the former.
    The self-discharge is no energy of the device.
    """
    life, found = told["life"], told["batteries"][battery]["life"]
    days = life["seconds"] / DAY_S
    purposes = life["purposes"]
    idle = purposes["idle_mj"]
    sleeping = min(life["energy"]["sleep_mj"], idle)
    energies = {"sleeping": sleeping, "link_layer": idle - sleeping}
    energies |= {name: purposes[f"{name}_mj"] for name in OF_PURPOSE}
    total = sum(energies.values())
    charge = found["charge_a_day_mah"] if found else 0.0
    lost = found["self_discharge_a_day_mah"] if found else 0.0
    all_charge = charge + lost or 1.0
    parts = [
        {
            "name": name,
            "mj": mj / days,
            "mah": charge * mj / total if total else 0.0,
            "share": (charge * mj / total if total else 0.0) / all_charge,
        }
        for name, mj in energies.items()
    ]
    return [
        *parts,
        {"name": "self_discharge", "mj": None, "mah": lost, "share": lost / all_charge},
    ]


def has_handshakes(told: Mapping[str, Any]) -> bool:
    """False if there was none: OSCORE and CoAP alone need none."""
    return handshake_mj(told) is not None


def handshake_mj(told: Mapping[str, Any]) -> float | None:
    """The cost of a handshake, above the energy of doing nothing. `None`: there was none."""
    life = told["life"]
    count = life["counts"]["handshakes_full"] + life["counts"]["handshakes_resumed"]
    return life["purposes"]["handshakes_mj"] / count if count else None


def _years(own: Mapping[str, Any]) -> float | None:
    return own["life"]["years"] if own["life"] else None


def _interval(own: Mapping[str, Any]) -> list[float] | None:
    return own["life"]["years_ci95"] if own["life"] else None


def _ends(own: Mapping[str, Any]) -> tuple[float, float]:
    years = _years(own)
    if years is None:
        return math.inf, math.inf
    low, high = _interval(own) or (years, years)
    return low, high


def lasts(own: Mapping[str, Any], *, brief: bool = False) -> str:
    """The life of a battery, in words."""
    return words.life(_years(own), _interval(own), brief=brief)
