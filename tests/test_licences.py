"""The licences of what is compiled in: all are found, and a crate without one is named."""

from pathlib import Path
from typing import Any

import licences
import pytest


def package(folder: Path, **more: Any) -> dict[str, Any]:
    """A package as `cargo metadata` describes it."""
    about = {"name": "made-up", "version": "1.2.3", "license": "MIT", "authors": ["Ann"]}
    return {**about, "manifest_path": str(folder / "Cargo.toml"), "repository": None, **more}


def test_everything_that_is_compiled_in_has_its_text() -> None:
    """Crates that only the compilation needs are left out: `syn` is for macros, `cc` for C."""
    found = licences.packages()
    names = {entry["name"] for entry in found}
    assert {"rustls", "pyo3", "mbedtls-rs-sys", "openssl-src", "tinydtls-sys", "lakers"} <= names
    assert names.isdisjoint({"syn", "proc-macro2", "serde_derive", "proptest", "lean-dtls"})
    text = licences.third_party(found)
    # In files of tinyDTLS by others, in its own licence, in mbedTLS, and in tools/licences.
    for words in ("Aaron D. Gifford", "Vincent Rijmen", "Chris K Cockrum", "Olaf Bergmann"):
        assert words in text
    assert "Mbed TLS files are provided" in text and "Copyright (c), Inria." in text
    assert text.count("Version 2.0, January 2004") < 25  # each text once, not for each crate


def test_a_crate_without_a_text(tmp_path: Path) -> None:
    """MIT names the authors; a BSD licence has other words in each project."""
    assert "Copyright (c) Ann\n\nPermission is hereby" in licences.texts(package(tmp_path))[0]
    apache = licences.texts(package(tmp_path, license="BSD-3-Clause OR Apache-2.0"))[0]
    assert "Apache License" in apache
    missing: list[dict[str, Any]] = [
        {"license": "BSD-3-Clause"},
        {"license": None},
        {"authors": []},
    ]
    for more in missing:
        with pytest.raises(licences.NoLicence, match=r"tools/licences/made-up\.txt"):
            licences.texts(package(tmp_path, **more))
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "COPYING").write_text("as you like")
    assert licences.texts(package(tmp_path, license=None)) == ["as you like"]
