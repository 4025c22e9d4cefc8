"""Stacks of one's own: made from C, tried, run beside the others, and named in results."""

import hashlib
import json
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pandas
import pytest

import slowhand
from conftest import Cli
from slowhand import _native, data, own_stacks
from slowhand.advice.space import Fixed, _able
from slowhand.own_stacks import building
from test_settings import carrier

TOY = data.CSRC / "slowhand" / "toy.c"
"""The example of docs/own-stack.md."""

DRAW = "slowhand_host->random(session->random, RANDOM);"
"""Where the toy's client draws its random number."""

MACRO, HOST = "SLOWHAND_STACK(CAPABILITIES, LIBRARY)", "const struct slowhand_host *slowhand_host"
"""The line that exports the toy, and the one that is missing without it."""

HEADER = "#include <string.h>\n"
DEAD = "__attribute__((constructor)) static void die(void) { __builtin_trap(); }\n"
"""Dies when it is loaded."""

Make = Callable[..., Path]


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Writes a toy with other code somewhere, and adds it. `SLOWHAND_STACKS` is a new folder."""
    monkeypatch.setenv("SLOWHAND_STACKS", str(tmp_path / "stacks"))

    def make(name: str = "toy", old: str = DRAW, new: str = DRAW, *, top: str = "") -> Path:
        source = tmp_path / f"{name}.c"
        text = TOY.read_text()
        assert old in text
        source.write_text(top + text.replace(old, new, 1))
        return own_stacks.add(name, [source])

    return make


def test_the_example_passes_its_check_and_is_listed(cli: Cli, toy: Make, tmp_path: Path) -> None:
    said = cli("stacks", "add", "toy", TOY).stdout
    assert "toy 1.0 (" in said
    checked = json.loads(cli("stacks", "check", "toy", "--json").stdout)
    assert checked["problems"] == []
    (session,) = checked["trial"]["sessions"]
    # HELLO and CHALLENGE with a random number, PROOF and DONE without.
    assert (session["datagrams"], session["octets"]) == (4, 2 * (13 + 16) + 2 * 13)
    assert session["leaked"] == 0
    listed = {stack["name"]: stack for stack in json.loads(cli("stacks", "--json").stdout)}
    assert listed["toy"]["version"] == "1.0"
    assert listed["toy"]["protocols"] == ["dtls1.2"]
    assert listed["toy"]["holes"] is None and listed["mbedtls"]["holes"]["known"]
    alone, all_ = (" ".join(cli("stacks", *name).stdout.split()) for name in (["toy"], []))
    assert "holes not looked up" in alone and "sources of the built-in" not in alone
    assert "sources of the built-in libraries are unmodified" in all_
    assert "digest" not in listed["mbedtls"]
    assert (
        "toy" in json.loads(cli("schema").stdout)["$defs"]["Session"]["properties"]["stack"]["enum"]
    )
    # It was made in a folder of its own, and nothing else is there.
    assert [path.name for path in (tmp_path / "stacks").iterdir()] == ["toy"]
    cli("stacks", "remove", "toy")
    assert "toy" not in cli("stacks").stdout
    assert "none is there" in cli("stacks", "remove", "toy", code=2).stderr


def test_it_runs_beside_the_others_and_its_results_repeat(
    cli: Cli, toy: Make, tmp_path: Path
) -> None:
    toy()
    varied = ["--vary", "session.stack=toy,tinydtls", "--count", "3", "--out", "rows", "--json"]
    found = json.loads(cli("sweep", "psk-tinydtls", *varied).stdout)
    assert [each["completed"] for each in found["configurations"]] == [3, 3]
    assert list(found["stacks"]) == ["toy"]
    run = ["run", "psk-tinydtls", "--set", "session.stack=toy", "--set", "session.server_stack=toy"]
    cli(*run, "--count", 4, "--records", "one.parquet")
    cli("run", "one.parquet", "--records", "two.parquet")
    one, two = (slowhand.run(str(tmp_path / f"{name}.parquet")) for name in ("one", "two"))
    assert one.equals(two)
    # Without it, or with another one, the result says what is missing.
    built = own_stacks.builds(["toy"])["toy"]
    # This process keeps what it has loaded, so it does not add another one of the name.
    with pytest.raises(own_stacks.StackError, match="start a new process"):
        toy()
    # A toy under another name of its file is the same.
    moved = tmp_path / "moved.c"
    moved.write_text(TOY.read_text())
    cli("stacks", "add", "toy", moved, f"--cflags=-I{tmp_path}")
    cli("sweep", "psk-tinydtls", *varied)
    patched = tmp_path / "patched.c"
    patched.write_text(TOY.read_text().replace("RETRANSMISSIONS = 7", "RETRANSMISSIONS = 6"))
    cli("stacks", "add", "toy", patched)
    other = cli("run", "one.parquet", code=2).stderr
    assert f"was made with the stack toy 1.0 ({built['digest']}), and here toy is 1.0 (" in other
    refused = cli("sweep", "psk-tinydtls", *varied, code=2).stderr
    assert "is a data set of another build of the stack toy" in refused
    cli("stacks", "remove", "toy")
    missing = cli("run", "one.parquet", code=2).stderr
    assert f"toy 1.0 ({built['digest']}), and there is no such stack here" in missing
    assert "`slowhand stacks add toy toy.c` makes it" in missing
    cli("stacks", "add", "toy", TOY)
    cli("run", "one.parquet", "--records", "three.parquet")
    read = [pandas.read_parquet(tmp_path / f"{name}.parquet") for name in ("one", "three")]
    assert read[0].equals(read[1])


@pytest.mark.parametrize(
    ("function", "header", "call"),
    [
        ("time", "time.h", "*session->random = (uint8_t) time(NULL);"),
        ("usleep", "unistd.h", "usleep(10);"),
        ("fopen", "stdio.h", 'fopen("/dev/urandom", "r");'),
        ("pthread_create", "pthread.h", "pthread_t t; pthread_create(&t, NULL, NULL, NULL);"),
        ("getenv", "stdlib.h", 'if (getenv("HOME")) return;'),
    ],
)
def test_what_depends_on_the_computer_ends_the_session(
    toy: Make, function: str, header: str, call: str
) -> None:
    name = f"bad-{function}"
    toy(name, new=DRAW + call, top=f"#include <{header}>\n")
    (problem,) = own_stacks.check(name).problems
    calls = f"the stack {name} calls {function}, which depends on the computer"
    assert calls in problem
    frame = slowhand.run("psk-tinydtls", count=2, set={"session.stack": name})
    assert list(frame["outcome"]) == ["error", "error"]
    assert all(calls in reason for reason in frame["failure_reason"])


@pytest.mark.parametrize(
    ("function", "old", "new"),
    [
        ("destroy", "{ free(session); }", "{ free(session); rand(); }"),
        ("suite", "return (void) session, 0xC0A8;", "return (void) session, rand(), 0xC0A8;"),
        ("resumable", "(void) size, 0;", "(void) size, rand();"),
        ("max_data", "{ return (size_t) (", "{ return (size_t) rand() + (size_t) ("),
    ],
)
def test_what_has_no_progress_may_not_do_it_either(
    toy: Make, function: str, old: str, new: str
) -> None:
    name = f"bad-{function}"
    toy(name, old, new)
    problem = own_stacks.check(name).problems[0]
    assert f"the stack {name} calls rand, which" in problem


def test_a_version_that_depends_on_the_computer_is_not_added(toy: Make) -> None:
    with pytest.raises(own_stacks.StackError, match="the stack bad-version calls rand, which"):
        toy("bad-version", 'return "1.0";', 'return rand() ? "1.0" : "2.0";')


def test_a_stack_that_waits_fails_its_check(toy: Make) -> None:
    # One millisecond: a shorter pause may be over before the processor is given to another.
    nanosleep = (
        "struct timespec pause = {0, 1000000}; long result;"
        '__asm__ volatile("syscall" : "=a"(result) : "a"(35L), "D"(&pause), "S"(0L)'
        ' : "rcx", "r11", "memory");'
    )
    toy("waits", new=DRAW + nanosleep, top="#include <time.h>\n")
    (problem,) = own_stacks.check("waits").problems
    assert problem.startswith("it has waited ")


def test_a_clock_that_no_function_reads_is_found_by_two_processes(toy: Make) -> None:
    toy(
        "tick",
        new="unsigned long long now = __builtin_ia32_rdtsc(); memcpy(session->random, &now, 8);",
    )
    (problem,) = own_stacks.check("tick").problems
    assert problem.startswith("two processes give two results")


def test_memory_that_is_not_given_back_is_found(toy: Make) -> None:
    ways = (
        "malloc(100)",
        "strndup((char[100]) {[0 ... 98] = 1}, 200)",
        "aligned_alloc(16, 100)",
        "(posix_memalign(&block, 16, 100), block)",
        "aligned_alloc(64, 100)",
        "(posix_memalign(&block, 4096, 100), block)",
        '(asprintf((char **) &block, "%99d", 1), block)',
    )
    lost = "".join(f"if ((block = {way}) == NULL) return;" for way in ways)
    top = "#define _GNU_SOURCE\n#include <stdio.h>\n"
    toy("leak", new=f"{DRAW} void *block = NULL; {lost}", top=top)
    (problem,) = own_stacks.check("leak").problems
    assert f"each session keeps {len(ways) * 100} octets of memory" in problem


def test_a_stack_without_retransmissions_fails_its_check(toy: Make) -> None:
    toy("once", "if (session->repeated++ == RETRANSMISSIONS)", "if (1)")
    problems = own_stacks.check("once").problems
    assert len(problems) == 4
    assert all("lost: the client fails" in problem for problem in problems)


@pytest.mark.parametrize("function", ["exit", "_exit"])
def test_a_stack_that_ends_the_program_ends_it_with_a_signal(
    cli: Cli, toy: Make, function: str
) -> None:
    ends = f"has called {function}, which would end the program"
    includes = "#include <stdlib.h>\n#include <unistd.h>\n"
    toy("ends", new=f"{function}(0);", top=includes)
    (problem,) = own_stacks.check("ends").problems
    assert problem == f"the stack ends has crashed with SIGABRT ({ends})"
    said = cli("run", "psk-tinydtls", "--set", "session.stack=ends", code=-6).stderr
    assert ends in said
    assert "slowhand: the stack ends has crashed with SIGABRT" in said
    dead = DEAD.replace("__builtin_trap()", f"{function}(0)")
    with pytest.raises(own_stacks.StackError, match=r"SIGABRT .* when it was loaded"):
        toy("dead", HEADER, HEADER + dead, top=includes)


@pytest.mark.parametrize("death", ["*(volatile int *) 8 = 1;", "abort();"])
def test_a_crash_names_the_stack(cli: Cli, toy: Make, death: str) -> None:
    toy("crash", new=death)
    (problem,) = own_stacks.check("crash").problems
    signal = "SIGABRT" if "abort" in death else "SIGSEGV"
    assert problem == f"the stack crash has crashed with {signal}"
    code = -6 if "abort" in death else -11
    said = cli("run", "psk-tinydtls", "--set", "session.stack=crash", code=code).stderr
    assert f"slowhand: the stack crash has crashed with {signal}" in said


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (MACRO, HOST, "does not export the symbol slowhand_stack"),
        ("connection_id, resumable", "NULL, resumable", "function 10 of slowhand_stack.library is"),
        ("{0xC0A8, 0}", "{0x1234, 0}", "suites: found 0x1234, allowed: TLS_"),
        (".first_timeout_ns = 1000000000", ".first_timeout_ns = 0", "first_timeout_ns: found 0"),
        (".longest_psk", ".psk_modes = 1u << 5, .longest_psk", "psk_modes: found 0x20, allowed"),
        ("SLOWHAND_DTLS12, 0,", "SLOWHAND_DTLS12, 8,", "resumptions: found 0x8, allowed: "),
        (HEADER, HEADER + DEAD, "has crashed with SIGILL when it was loaded"),
        ("static uint64_t rotate", "static uint64_t rotat", "could not make the stack"),
    ],
)
def test_a_wrong_stack_is_not_added(toy: Make, old: str, new: str, said: str) -> None:
    made = toy("wrong")
    before = {file.name: file.read_bytes() for file in made.iterdir()}
    with pytest.raises(own_stacks.StackError, match=said.replace("(", r"\(")):
        toy("wrong", old, new)
    assert {file.name: file.read_bytes() for file in made.iterdir()} == before
    assert {*before} == {*own_stacks.FILES}


def test_a_stack_that_does_not_load_to_the_end_is_not_added(
    toy: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_stacks, "TRIAL_S", 0.5)
    endless = DEAD.replace("__builtin_trap();", "for (volatile int i = 0;; i = 0) { }")
    with pytest.raises(own_stacks.StackError, match="does not come to an end when it is loaded"):
        toy("endless", HEADER, HEADER + endless)


def test_an_object_that_was_put_there_is_named_by_itself(cli: Cli, toy: Make) -> None:
    folder = toy("placed")
    other = toy("other-placed", "RETRANSMISSIONS = 7", "RETRANSMISSIONS = 6")

    def digest() -> str:
        found = json.loads(cli("stacks", "placed", "--json").stdout)
        return str(found["digest"])

    made = digest()
    assert (folder / "digest").read_text().startswith(made + " ")
    (folder / "stack.so").write_bytes((other / "stack.so").read_bytes())
    octets = (folder / "stack.so").read_bytes()
    assert digest() == hashlib.sha256(octets).hexdigest()[: building.DIGEST] != made


def test_a_crash_names_the_stack_when_it_is_loaded(cli: Cli, toy: Make, tmp_path: Path) -> None:
    folder = toy("dead")
    source = tmp_path / "trap.c"
    source.write_text(DEAD)
    building._run(["cc", "-shared", "-fPIC", "-o", str(folder / "stack.so"), str(source)])
    said = cli("run", "psk-tinydtls", "--set", "session.stack=dead", code=-4).stderr
    assert "slowhand: the stack dead has crashed with SIGILL" in said


def test_advice_loads_only_the_stacks_that_the_scenario_names(toy: Make) -> None:
    toy("idle")
    scenario = slowhand.Scenario("psk-tinydtls")
    able = _able(Fixed(scenario, ("dtls1.2",)))[2]
    assert able == ["lean-dtls", "mbedtls", "openssl", "tinydtls"]
    assert not _native.is_stack_loaded("idle")
    named = scenario.with_(["session.stack=idle"])
    assert "idle" in _able(Fixed(named, ("dtls1.2",)))[2]


def test_libraries_and_options_are_linked(toy: Make) -> None:
    root = "volatile double two = 2; session->random[0] = (uint8_t) sqrt(two);"
    assert toy("root", new=DRAW + root, top="#include <math.h>\n").is_dir()


@pytest.mark.parametrize("name", ["true", "inf", "lakers", "slowhand-coap", "1.5", "_", "2e3"])
def test_a_name_that_no_scenario_can_have_is_refused(toy: Make, name: str) -> None:
    with pytest.raises(own_stacks.StackError, match="NAME: found '"):
        toy(name)


def test_a_compiler_in_wrong_quotes_is_refused(toy: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "cc '")
    with pytest.raises(own_stacks.StackError, match="CC: found cc ', allowed: words"):
        toy("quotes")


def test_without_a_home_the_folder_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("SLOWHAND_STACKS", "XDG_DATA_HOME", "HOME"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(own_stacks.StackError, match="there is no folder for stacks"):
        own_stacks.add("mine", [TOY])


def test_a_command_of_a_result_is_quoted(toy: Make) -> None:
    build = {"version": "1", "digest": "0", "sources": ["a.c; rm b.c"], "cflags": "-O3"}
    with pytest.raises(slowhand.ScenarioError) as caught:
        own_stacks.require({"missing": build}, place="rows.parquet")
    assert "`slowhand stacks add missing 'a.c; rm b.c'` makes it" in str(caught.value)


def test_where_headers_are_does_not_change_the_digest() -> None:
    parts = [building.Part([TOY])]
    folders = ["-I/a", "-I", "/b", "-isystem", "/c"]
    digest = building._digest(parts, ["-O3"], [TOY])
    assert building._digest(parts, [*folders, "-O3"], [TOY]) == digest
    assert building._digest(parts, ["-O1"], [TOY]) != digest


def test_a_stack_that_makes_no_session_is_named(cli: Cli, toy: Make) -> None:
    toy("none", "if (session == NULL ||", "if (1 ||")
    said = cli("run", "psk-tinydtls", "--set", "session.stack=none", code=2).stderr
    assert "the stack none makes no session: no memory, or a key that is too long" in said


def test_a_deadline_that_stays_in_the_past_does_not_stop_time(toy: Make) -> None:
    toy("late", "if (slowhand_host->now_ns() >= session->deadline_ns) {", "if (0) {")
    overrides = ["session.stack=late", "session.give_up_s=2", "network.link_pdr=0.02"]
    frame = slowhand.run("psk-tinydtls", count=1, set=overrides)
    assert list(frame["outcome"]) == ["gave_up"]


def test_an_object_of_another_version_is_refused(cli: Cli, toy: Make) -> None:
    folder = toy("old")
    octets = (folder / "stack.so").read_bytes()
    version = data.CSRC / "slowhand" / "stack.h"
    assert "#define SLOWHAND_STACK_VERSION 4\n" in version.read_text()
    # The macro writes this first: the version, with what fills up to the next pointer.
    source = folder / "old.c"
    source.write_text("unsigned slowhand_stack[16] = {7};\n")
    building._run(["cc", "-shared", "-fPIC", "-o", str(folder / "stack.so"), str(source)])
    assert octets != (folder / "stack.so").read_bytes()
    said = cli("run", "psk-tinydtls", "--set", "session.stack=old", code=2).stderr
    assert "it has version 7 of slowhand/stack.h, this slowhand has 4" in said
    (folder / "stack.so").write_bytes(b"no object")
    said = cli("run", "psk-tinydtls", "--set", "session.stack=old", code=2).stderr
    assert "the stack old cannot be used" in said
    assert "`slowhand stacks add` makes it again" in said
    problem = {
        each["name"]: each.get("problem") for each in json.loads(cli("stacks", "--json").stdout)
    }
    assert "cannot be used" in problem["old"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mbedtls", "x.c"], "NAME: found mbedtls, which is built in"),
        (["../up", "x.c"], "NAME: found '../up', allowed: 1 to 40 small letters"),
        (["mine", "x.c", "--cflags='"], "--cflags: found ', allowed: words as in a shell"),
        (["mine", "none.c"], "FILE: found none.c, which does not exist, allowed: files that end"),
        (["check", TOY], "NAME: found check, which is a command, allowed: another name"),
    ],
)
def test_wrong_arguments_are_refused(cli: Cli, toy: Make, arguments: list[str], said: str) -> None:
    assert said in cli("stacks", "add", *arguments, code=2).stderr


def test_what_a_stack_prints_fails_its_check(cli: Cli, toy: Make) -> None:
    words = 'fputs("\\x1b[31mHello", stdout);'
    toy("chatty", new=DRAW + words, top="#include <stdio.h>\n")
    done = cli("stacks", "check", "chatty", code=1)
    said = " ".join(done.stderr.split())
    assert r"chatty: it prints to stdout, where results are: \x1b[31mHello" in said


def test_a_folder_that_cannot_be_made_is_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOWHAND_STACKS", "/dev/null")
    said = cli("stacks", "add", "toy", TOY, code=2).stderr
    assert "SLOWHAND_STACKS: found /dev/null, where no folder can be made" in said


def test_the_folder_of_a_crate_names_its_manifest(tmp_path: Path) -> None:
    manifest = tmp_path / "Cargo.toml"
    manifest.touch()
    assert own_stacks._made_from("mine", [str(tmp_path)], None, None, tmp_path) == manifest


def test_a_folder_of_the_user_stays_as_it_is(
    cli: Cli, toy: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWHAND_STACKS", str(tmp_path))
    source = tmp_path / "mine" / "toy.c"
    source.parent.mkdir()
    source.write_text(TOY.read_text())
    said = cli("stacks", "add", "mine", source, code=2).stderr
    assert "toy.c, which is not of a stack" in said
    assert [path.name for path in source.parent.iterdir()] == ["toy.c"]
    # A file that comes beside a stack stays when the stack goes.
    note = toy("other") / "note"
    note.touch()
    cli("stacks", "remove", "other")
    assert [*note.parent.iterdir()] == [note]


def test_builds_of_mbedtls_stand_side_by_side(cli: Cli, toy: Make, tmp_path: Path) -> None:
    source = carrier("mbedtls-rs-sys") / "mbedtls"
    config = tmp_path / "own.h"
    options = ("PROTO_TLS1_3", "DTLS_CONNECTION_ID", "DTLS_CONNECTION_ID_COMPAT")
    config.write_text("".join(f"#undef MBEDTLS_SSL_{option}\n" for option in options))
    cli("stacks", "add", "own", "mbedtls", "--source", source, "--config", config, "--cflags=-O0")
    # One symbol is visible, and none is looked for outside but those of the C library.
    object_ = str(own_stacks.folder() / "own" / "stack.so")
    defined = building._run(["nm", "-D", "--defined-only", object_]).stdout.split()
    assert defined[2::3] == ["slowhand_stack"]
    sought = building._run(["nm", "-D", "--undefined-only", object_]).stdout
    assert "mbedtls" not in sought
    assert "slowhand" not in sought
    # Sources that are the same give the same: alone, and with the other build as its peer.
    rows = {
        (client, server): slowhand.run(
            "quickstart", count=2, set=[f"session.stack={client}", f"session.server_stack={server}"]
        )
        for client, server in product(("mbedtls", "own"), repeat=2)
    }
    assert all(frame.equals(rows["mbedtls", "mbedtls"]) for frame in rows.values())
    # Its abilities follow from its options.
    refused = cli(
        *("run", "quickstart", "--set", "session.stack=own", "--set", "session.protocol=tls1.3"),
        code=2,
    )
    assert "found tls1.3, allowed: dtls1.2, tls1.2" in refused.stderr
    # Without its adapter, no other version.
    (tmp_path / "old" / "library").mkdir(parents=True)
    said = cli("stacks", "add", "old", "mbedtls", "--source", tmp_path / "old", code=2).stderr
    assert "allowed: the folder of Mbed TLS 3.6" in said
