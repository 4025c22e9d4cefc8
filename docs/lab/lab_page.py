"""Builds the laboratory in a page: the WebAssembly module, and one HTML file that has all it needs.

    tools/lab-page                writes target/lab-page/slowhand.html
    tools/lab-page FILE           writes FILE as well

Nothing is built if nothing that it is made from has changed since. The module is compiled by the
Rust of Debian's packages (rustc-web), which has the sources of the standard library; else by
rustup's, which has the standard library for this target after `rustup target add wasm32-wasip1`.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import schema_keys  # noqa: E402
from checks import NOT_RUN, PAGE, PAGE_MODULE, digest  # noqa: E402

HERE = Path(__file__).parent
TARGET = ROOT / "target" / "lab-page"
MODULE = TARGET / "slowhand.wasm"
FILE = TARGET / "slowhand.html"

TRIPLE = "wasm32-wasip1"
"""The target: 32 bits, and the C library of WASI below the libraries in C."""

WASI = Path("/usr/lib/wasm32-wasi")
DEBIAN_RUST = {
    "/usr/bin/cargo": "cargo-web",
    "/usr/bin/rustc": "rustc-web",
    "/usr/lib/rustlib/src/rust/library/std/Cargo.toml": "rust-web-src",
}
"""Debian's Rust, and its packages."""

NEEDS = {
    "/usr/bin/wasm-ld-19": "lld-19",
    "/usr/bin/clang-19": "clang-19",
    f"{WASI}/libc.a": "wasi-libc",
    "/usr/bin/node": "nodejs",
}
"""What else compiles the module, and the package of Debian 12 that has it."""

SMALL = (
    "slowhand-lab",
    "slowhand-coap",
    "slowhand-sessions",
    "lean-dtls",
    "rustls",
    "rustls-webpki",
    "coap-lite",
    "lakers",
    "sketches-ddsketch",
    "toml_writer",
    "winnow",
    "serde",
    "serde_core",
    "serde_json",
    "toml",
    "toml_parser",
)
"""Packages that are compiled for size: most of their code reads scenarios and writes answers, or
follows a protocol. No handshake takes measurably longer."""

WORKER = ("module.js", "worker.js")
"""One script, in this order, that runs beside the page."""

SCRIPTS = (
    "controls.js",
    "completion.js",
    "results.js",
    "handshake.js",
    "commands.js",
    "state.js",
    "lab.js",
)
"""The page's script, after `FACTS` and the scripts of the timeline."""

POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; worker-src blob:; "
    "script-src 'sha256-{hash}' 'wasm-unsafe-eval'"
)
"""The browser loads nothing. It runs the script with this hash, the worker that this script makes
of the page's own text, and the module in it (W3C, CSP Level 3)."""


def missing() -> list[str]:
    """The packages that are missing."""
    packages = absent(NEEDS)
    if not has_debian_rust() and not has_rustup_target():
        packages += absent(DEBIAN_RUST) or ["rustc-web"]  # another package's, which is older
    return packages


def absent(needs: dict[str, str]) -> list[str]:
    """The packages of files that are not there."""
    return [package for file, package in needs.items() if not Path(file).exists()]


def has_debian_rust() -> bool:
    """True if Debian's Rust is there, and new enough."""
    if absent(DEBIAN_RUST):
        return False
    said = subprocess.run(["/usr/bin/rustc", "--version"], capture_output=True, text=True)
    return said.returncode == 0 and numbers(said.stdout.split()[1]) >= least_rust()


def has_rustup_target() -> bool:
    """True if rustup's Rust has the standard library for the target."""
    command = ["rustup", "target", "list", "--installed"]
    if not shutil.which("rustup"):
        return False
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return TRIPLE in said.stdout.split()


def least_rust() -> tuple[int, ...]:
    """The version that this project needs at least."""
    found = re.search(r'^rust-version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert found is not None
    return numbers(found[1])


def numbers(version: str) -> tuple[int, ...]:
    """The first two numbers of a version."""
    return tuple(map(int, version.split(".")[:2]))


def is_current() -> bool:
    """True if the module and the page are made from the sources as they are."""
    return FILE.exists() and stamp(FILE) == digest(PAGE)


def stamp(file: Path) -> str:
    """The digest of what a file was made from."""
    place = stamp_of(file)
    return place.read_text() if place.exists() else ""


def stamp_of(file: Path) -> Path:
    """Where that stands."""
    return file.with_name(f"{file.name}.digest")


def link_debian() -> list[str]:
    """How Debian's Rust links: with Debian's C library of WASI."""
    return [f"-L{WASI}", "-Clink-self-contained=no", f"-Clink-arg={WASI}/crt1-reactor.o"]


def link_rustup() -> list[str]:
    """How rustup's Rust links: with the C library that comes with its target."""
    command = ["rustc", "--print", "sysroot"]
    sysroot = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    own = Path(sysroot.stdout.strip()) / "lib" / "rustlib" / TRIPLE / "lib" / "self-contained"
    return [f"-Clink-arg={own}/crt1-reactor.o"]


def compile_module() -> None:
    """Compiles the module, without symbols."""
    inputs = digest(PAGE_MODULE)
    if MODULE.exists() and stamp(MODULE) == inputs:
        return
    said = "lab-page: compiling the module, which takes several minutes"
    print(said, file=sys.stderr, flush=True)
    is_debian = has_debian_rust()
    # Nothing of another build counts.
    kept = {name: value for name, value in os.environ.items() if not re.match("CARGO|RUST", name)}
    cargo_home = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    flags = [
        *(link_debian() if is_debian else link_rustup()),
        f"--remap-path-prefix={cargo_home}=cargo",
        f"--remap-path-prefix={ROOT}=slowhand",
    ]
    environment = {
        **kept,
        "PATH": f"/usr/bin:{os.environ['PATH']}" if is_debian else os.environ["PATH"],
        "CARGO_HOME": cargo_home,
        **({"RUSTC_BOOTSTRAP": "1"} if is_debian else {}),  # for -Zbuild-std
        "CARGO_TARGET_DIR": str(TARGET / "cargo"),
        # Small, because a reader loads it.
        "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "1",
        "CARGO_PROFILE_RELEASE_DEBUG": "false",
        "CARGO_PROFILE_RELEASE_LTO": "fat",
        "CARGO_PROFILE_RELEASE_OPT_LEVEL": "2",
        "CARGO_PROFILE_RELEASE_PANIC": "abort",
        "CARGO_PROFILE_RELEASE_STRIP": "symbols",
        "CARGO_TARGET_WASM32_WASIP1_LINKER": "wasm-ld-19",
        "CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS": " ".join(flags),
        "CC_wasm32_wasip1": "clang-19",
        "AR_wasm32_wasip1": "ar",
        "CFLAGS_wasm32_wasip1": "-isystem /usr/include/wasm32-wasi",
    }
    command = ["cargo", "rustc", "-q", "--locked", "--release", "--target", TRIPLE]
    command += ["-Zbuild-std=std,panic_abort"] if is_debian else []
    command += ["-p", "slowhand-wasm", "--lib", "--crate-type", "cdylib"]
    for package in SMALL:
        command += ["--config", f'profile.release.package.{package}.opt-level="s"']
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    built = TARGET / "cargo" / TRIPLE / "release" / "slowhand_wasm.wasm"
    shutil.copy(built, MODULE)
    stamp_of(MODULE).write_text(inputs)


def page(module: bytes) -> str:
    """The whole page."""
    from slowhand import _native
    from slowhand.pages import skeleton

    script = "".join(
        [
            f'"use strict";\nconst FACTS = {skeleton.embedded(facts())};\n',
            *map(skeleton.asset, (*skeleton.TIMELINE, *skeleton.PLAYBACK)),
            *((HERE / name).read_text() for name in SCRIPTS),
        ]
    )
    hashed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    worker = "".join((HERE / name).read_text() for name in WORKER)
    assert "</script" not in script + worker
    packed = base64.b64encode(gzip.compress(module, 9, mtime=0)).decode()
    body = (HERE / "page.html").read_text()
    for name, value in {
        "version": skeleton.text(_native.__version__),
        "most_worlds": re.findall(r"MOST_WORLDS = ([\d_]+)", script)[0].replace("_", ""),
        "handshake": handshake(),
        "play": skeleton.asset("play.html").format(name="played", h="h3", data=""),
        "module": packed,
        "worker": worker,
    }.items():
        body = body.replace(f"{{{name}}}", value, 1)
    styles = [*map(skeleton.asset, skeleton.PLAYBACK_STYLES)]
    return skeleton.PAGE.format(
        policy=POLICY.format(hash=hashed),
        version=skeleton.text(_native.__version__),
        title="slowhand: the laboratory in a page",
        style="".join([*styles, (HERE / "page.css").read_text()]),
        body=body,
        script=script,
    )


def handshake() -> str:
    """The section of a timeline, without a handshake."""
    from slowhand.pages import skeleton

    blank = dict.fromkeys(("outcome", "failed", "summary", "parts"), "")
    bar = '<svg class="bar" height="22" aria-hidden="true"></svg>'
    return skeleton.asset("lanes.html").format(name="shown", h="h3", bar=bar, data="", **blank)


def facts() -> dict[str, Any]:
    """What the page has to know beside the module: texts and names, each from its one place."""
    from slowhand import _native, data, report
    from slowhand.sweeps import following

    scenarios = {name: file.read_text() for name, file in data.files(data.SCENARIOS).items()}
    return {
        "scenarios": scenarios,
        "devices": [*data.files(data.DEVICES)],
        "metrics": report.METRICS,
        "if_any": sorted(report.IF_ANY),
        "if_several": sorted(report.IF_SEVERAL),
        "give_up": report.GIVE_UP,
        "suites": following.SUITES,
        "suite_13": following.SUITE_13,
        "belongs": following.BELONGS,
        "keys": schema_keys.keys(json.loads(_native.schema())),
    }


def main() -> int:
    """Builds what is not current. Returns the exit code."""
    if not is_current():
        if packages := missing():
            names = " ".join(packages)
            print(f"lab-page: not built, packages are missing: {names} (or, in place of Rust's:")
            print(f"rustup target add {TRIPLE})")
            return NOT_RUN
        TARGET.mkdir(parents=True, exist_ok=True)
        inputs = digest(PAGE)
        compile_module()
        FILE.write_text(page(MODULE.read_bytes()), encoding="utf-8")
        stamp_of(FILE).write_text(inputs)
    for place in sys.argv[1:]:
        shutil.copy(FILE, place)
    print(f"lab-page: {FILE.relative_to(ROOT)}, {FILE.stat().st_size / 1e6:.2f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
