"""Carriers of the sources of other libraries, and their known holes: the table is not stale."""

import re
import tomllib
from typing import Any

import carriers
import pytest

from conftest import ROOT
from slowhand.own_stacks.recipes import LIBRARIES

OPENSSL: dict[str, Any] = {
    "name": "openssl",
    "carrier": "openssl-src",
    "ours": "300.5.5+3.5.5",
    "newest_carrier": "400.0.2+4.0.3",
    "version": "3.5.5",
    "newest": "3.5.9",
    "holes": [{"ids": ["CVE-1", "CVE-2"], "reached": False}, {"ids": ["CVE-3"], "reached": True}],
}


def test_the_table_has_the_versions_of_the_lock_file() -> None:
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    versions = {package["name"]: package["version"] for package in locked}
    table = {library["carrier"]: library["ours"] for library in carriers.libraries()}
    assert table == {name: versions.get(name) for name in table}
    # The crates that are only carriers, which cargo-deny leaves out.
    excluded = set(tomllib.loads((ROOT / "deny.toml").read_text())["graph"]["exclude"])
    assert set(table) == excluded - {"ring"}  # nothing compiles it (deny.toml)
    # The other libraries have a test in Rust, which asks them.
    wolfssl = next(entry for entry in carriers.libraries() if entry["name"] == "wolfssl")
    assert f"| wolfSSL | {wolfssl['version']} |" in (ROOT / "interop" / "README.md").read_text()


def test_stacks_are_made_from_the_same_versions() -> None:
    table = {library["carrier"]: library["ours"] for library in carriers.libraries()}
    packages = [library.carrier.split() for library in LIBRARIES.values()]
    assert {name: table[name].partition("+")[0] for name, _ in packages} == dict(packages)


def test_security_md_has_a_line_for_each_hole() -> None:
    """`tools/carriers.py --write` writes them."""
    text = (ROOT / "SECURITY.md").read_text()
    assert carriers.with_tables(text) == text
    holes = [hole for library in carriers.libraries() for hole in library["holes"]]
    numbers = [number for hole in holes for number in hole["ids"]]
    assert len(numbers) == len(set(numbers)) > 70
    assert set(re.findall(r"CVE-\d+-\d+|[a-z-]+#\d+", text)) == set(numbers)


def test_the_tests_that_the_table_names_exist() -> None:
    checks = [hole["how"] for library in carriers.libraries() for hole in library["holes"]]
    named = re.findall(r"the test `(\w+)`", " ".join(checks))
    tests = ROOT / "crates" / "slowhand-sessions" / "tests" / "sessions" / "robustness.rs"
    assert len(named) >= 2
    assert all(f"fn {name}()" in tests.read_text() for name in named)


def test_what_cargo_prints() -> None:
    version = "version: 300.5.5+3.5.5 (latest 400.0.2+4.0.3)"
    found = carriers.printed(f"openssl-src\nSource of OpenSSL\n{version}\nlicense: MIT\n")
    assert found == carriers.Found("300.5.5+3.5.5", "400.0.2+4.0.3")
    assert carriers.printed("version: 5.3.0\n") == carriers.Found("5.3.0", "5.3.0")
    with pytest.raises(ValueError, match="no version"):
        carriers.printed("error: could not find `openssl-src`\n")


@pytest.mark.parametrize(
    ("found", "words", "has_todo"),
    [
        (("300.5.5+3.5.5", "400.0.2+4.0.3"), "no carrier has the newest of its line: 3.5.9", False),
        (("300.5.6+3.5.9", "400.0.2+4.0.3"), "take 300.5.6+3.5.9, and look at its holes", True),
        (
            ("300.5.5+3.5.5", "400.0.3+4.0.4"),
            "look at 400.0.3+4.0.4, and write it into carriers.toml",
            True,
        ),
    ],
)
def test_something_is_to_do_if_a_newer_one_can_be_had(
    found: tuple[str, str], words: str, has_todo: bool
) -> None:
    assert carriers.judge(OPENSSL, carriers.Found(*found)) == (words, has_todo)
    lines = list(carriers.report(OPENSSL, words))
    assert lines[0] == f"openssl 3.5.5: {words}"
    assert lines[2] == "  3 known holes, 1 of them can be reached (SECURITY.md)"
    assert all(len(line) <= 80 for line in lines)


def test_every_line_fits_eighty_columns() -> None:
    for library in carriers.libraries():
        found = carriers.Found(library["ours"], library["newest_carrier"])
        words, has_todo = carriers.judge(library, found)
        assert not has_todo
        assert all(len(line) <= 80 for line in carriers.report(library, words))
