"""The report of a run as one page: what came out, what was assumed, two handshakes in detail."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from slowhand import _native, explain
from slowhand import report as words
from slowhand.output import Output, can_draw
from slowhand.pages import lanes, skeleton
from slowhand.pages.skeleton import text

if TYPE_CHECKING:
    import polars

    from slowhand.api import Run
    from slowhand.executing import Execution


def report(run: Run | Execution, path: str | os.PathLike[str]) -> None:
    """Writes the report of a run as an HTML file, which needs no network and no other file.

    It has the scenario, what was assumed, the table, distributions, why handshakes failed, where
    datagrams were lost, the timelines of the median and of the worst handshake, and the command
    that repeats the run.
    """
    page = encoded(run)
    private = run.scenario.holds_keys
    Output("report", os.fspath(path)).write(lambda file: file.write_bytes(page), private=private)


def encoded(run: Run | Execution) -> bytes:
    """The octets of that file."""
    frame = run.frame(warns=False)
    name = Path(run.scenario.path).name
    what = _what(run)
    sections = {
        "Summary": _summary(run, what),
        "Programs": _programs(run),
        "Distributions": _distributions(frame, what),
        "Failures and losses": _troubles(run.summary(), what),
        **{title: _handshake(run, example) for title, example in _examples(frame, what).items()},
        "Scenario": _scenario(run),
        "Assumptions": _assumptions(run),
        "Repeat": _repeat(run),
    }
    titles = {title: found for title, found in sections.items() if found}
    links = "".join(f'<li><a href="#{_anchor(title)}">{title}</a></li>' for title in titles)
    body = [
        f"<header><h1>{text(name)}</h1>",
        f"<p>{text(run.scenario.path)}, {_seeds(run)}, slowhand {_native.__version__}</p>",
        f'<nav aria-label="Parts of the report"><ul>{links}</ul></nav></header>\n<main>',
        *(f'<h2 id="{_anchor(title)}">{title}</h2>\n{found}' for title, found in titles.items()),
        "</main>",
    ]
    return skeleton.page(f"{name}: report of slowhand", "\n".join(body)).encode()


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _seeds(run: Run | Execution) -> str:
    seeds = words.seeds(run)
    if run.complete < run.count:
        return f"{run.complete:,} worlds of {seeds} (interrupted)"
    return seeds


def _what(run: Run | Execution) -> str:
    """The subject of the rows. Of programs they may be conversations without a handshake."""
    if not _has_programs(run):
        return "handshakes"
    from slowhand.executing import report as of_programs

    return of_programs.what(run)


OF_ALL = "Over all {}s that completed; ± 95 %: half of the confidence interval of the mean"
OF_ONE = "Of the one {}"


def _summary(run: Run | Execution, what: str) -> str:
    summary = run.summary()
    none = summary["failed"] and not summary["completed"]
    style = "outcomes failed" if none else "outcomes"
    lines = [f'<p class="{style}">{text(words.outcomes(summary, what))}</p>']
    if span := words.makespan(summary):
        lines.append(f"<p>{text(span)}</p>")
    if run.panicked:
        why = "were not run to their end" if _has_programs(run) else "panicked"
        panics = f"{run.panicked_count:,} worlds {why}: {run.panicked[0]}"
        lines.append(f'<p class="failed">{text(panics)}</p>')
    if table := words.metrics(summary, what):
        headings = [column.heading or "Value" for column in table.columns[2:]]
        cells = "".join(f'<th scope="col" class="number">{text(h)}</th>' for h in headings)
        caption = (OF_ALL if len(headings) > 1 else OF_ONE).format(what.removesuffix("s"))
        lines.append(
            f'<div class="scrolled"><table class="metrics stacked"><caption>{caption}</caption>'
            f'<thead><tr><th scope="col">Quantity</th><th scope="col">Unit</th>{cells}</tr></thead>'
        )
        lines += (_row(row, headings) for row in table.rows)
        lines.append("</table></div>")
    return "\n".join(lines)


def _has_programs(run: Run | Execution) -> TypeGuard[Execution]:
    """True if programs ran in the place of libraries."""
    return hasattr(run, "told")


def _programs(run: Run | Execution) -> str:
    """The actions of programs, if programs ran."""
    if not _has_programs(run):
        return ""
    from slowhand.executing import report as of_programs

    rows = [(text(t["name"]), f"<code>{text(shlex.join(t['argv']))}</code>") for t in run.told]
    table = skeleton.table(("Program", "Command"), rows, caption="What ran")
    return _items(of_programs.account(run)) + table


def _row(row: list[Any], headings: list[str]) -> str:
    """A row of the table: a heading alone, or label, unit and numbers."""
    cells = [cell if isinstance(cell, str) else cell[0] for cell in row]
    if len(cells) == 1:
        return f'<tr><th scope="rowgroup" class="group" colspan="20">{text(cells[0])}</th></tr>'
    label, unit, *numbers = cells
    found = "".join(
        f'<td class="number" data-label="{text(heading)}">{text(number)}</td>'
        for heading, number in zip(headings, numbers, strict=True)
    )
    return f'<tr><th scope="row">{text(label.strip())}</th><td>{text(unit)}</td>{found}</tr>'


def _distributions(frame: polars.DataFrame, what: str) -> str:
    """The pictures of a run in which handshakes completed, or what rows are about else."""
    completed = (frame["outcome"] == "completed").sum()
    if not completed:
        return ""
    if not can_draw():
        return "<p>The package matplotlib, which draws the figures, is not installed.</p>"
    from slowhand import plot

    samples = {what: frame}
    pictures: dict[str, Callable[[Path], None]] = {
        f"The share of {what} that completed within a time": partial(plot.ecdf, samples, what=what),
        "Duration": partial(plot.box, samples),
        "Energy of the client by state": partial(plot.energy, samples),
    }
    if completed == 1:  # one value has no distribution
        pictures = {name: draw for name, draw in pictures.items() if "Energy" in name}
    figures = (_figure(number, *picture) for number, picture in enumerate(pictures.items()))
    return f'<div class="figures">{"".join(figures)}</div>'


def _figure(number: int, caption: str, draw: Callable[[Path], None]) -> str:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "picture.svg"
        draw(file)
        svg = file.read_text(encoding="utf-8")
    svg = svg[svg.index("<svg") :]
    # Names are unique in a page. The colours of the page replace black and white.
    svg = re.sub(r'((?:id|xlink:href)="#?|url\(#)(?=[\w-])', rf"\g<1>figure{number}-", svg)
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{text(caption)}" ', 1)
    return f"<figure>{svg}<figcaption>{text(caption)}</figcaption></figure>"


def _troubles(summary: dict[str, Any], what: str) -> str:
    lines = []
    if failures := [*words.failures(summary)]:
        lines.append(f"<h3>Why {what} failed</h3>{_items(failures)}")
    if losses := [line for line, _ in words.losses(summary["losses"])]:
        lines.append(f"<h3>Where datagrams were lost, and what changes it</h3>{_items(losses)}")
    return "\n".join(lines)


def _items(lines: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{text(line)}</li>' for line in lines)}</ul>"


FAILED = "The first one that failed."


class Example(NamedTuple):
    """A handshake that is shown in detail."""

    name: str
    seed: int
    client: int
    why: str


def _examples(frame: polars.DataFrame, what: str) -> dict[str, Example]:
    """The handshakes that are shown in detail, by the titles of their sections."""
    one = what.removesuffix("s")
    done = frame.filter(outcome="completed").sort("duration_s", "seed", "client")
    found = {}
    if len(done):
        seed, client = done.select("seed", "client").row((len(done) - 1) // 2)
        why = f"Half of the {len(done):,} {what} that completed were not faster than this one."
        found[f"Median {one}"] = Example("median", seed, client, why)
    if len(frame) > len(found):
        times = frame.select("duration_s", "seed", "client").to_dict(as_series=False)
        why = "The slowest one; none failed." if len(done) == len(frame) else FAILED
        found[f"Worst {one}"] = Example("worst", *explain.slowest(times), why)
    if len(frame) == 1:
        (only,) = found.values()
        return {one.capitalize(): only._replace(why="The only one.")}
    return found


def _handshake(run: Run | Execution, example: Example) -> str:
    from slowhand.api import WorldError

    _, seed, client, why = example
    about = f"{text(why)} Seed {seed}, client {client}."
    if _has_programs(run):
        try:
            explanation = run.explain(seed=seed, client=client)
        except WorldError as error:
            return f"<p>{about} It could not be run again: {text(str(error))}</p>"
        if explanation is None:
            return f"<p>{about} It had no DTLS to be explained.</p>"
        return f"<p>{about}</p>{lanes.section(explanation.document, example.name, level=3)}"
    command = [*words.command_of(run.scenario), f"--seed {seed} --explain --client {client}"]
    document = run.scenario.explain(seed=seed, client=client).document
    return (
        f"<p>{about} In a terminal:</p>"
        f"<pre>{text(' '.join(command))}</pre>"
        f"{lanes.section(document, example.name, level=3)}"
    )


def _scenario(run: Run | Execution) -> str:
    scenario = run.scenario
    lines = []
    if scenario.overrides:
        items = "".join(f"<li><code>{text(one)}</code></li>" for one in scenario.overrides)
        lines.append(f"<p>These keys of the file are replaced:</p><ul>{items}</ul>")
    lines += (_file(name, found, name == scenario.file) for name, found in scenario.files.items())
    return "\n".join(lines)


def _file(name: str, found: str, is_open: bool) -> str:
    opened = " open" if is_open else ""
    return f"<details{opened}><summary>{text(name)}</summary><pre>{text(found)}</pre></details>"


def _assumptions(run: Run | Execution) -> str:
    about = run.scenario.about()
    session = "programs" if _has_programs(run) else about["session"]
    lines = [f"<p>{text(session)}<br>{text(about['devices'])}: {text(about['network'])}</p>"]
    rows = [
        (text(device), str(len(names)), f"<code>{text(', '.join(names))}</code>")
        for device, names in about["assumed"].items()
        if names
    ]
    if rows:
        caption = "Constants without a measurement: slowhand devices NAME says why each was assumed"
        headings = ("Device", "Number", "Constants")
        lines.append(skeleton.table(headings, rows, caption=caption))
    return "\n".join(lines)


def _repeat(run: Run | Execution) -> str:
    return (
        "<p>The same scenario and seeds give the same numbers, with slowhand "
        f"{_native.__version__}\n on any computer:</p>"
        f"<pre>{text(' '.join(words.command(run)))}</pre>"
    )
