"""Lines of C that the snippets of several libraries have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from slowhand.settings.text import literal

DATAGRAM = "    /* Octets of a datagram, without the headers of IP and UDP. */"
TIMEOUTS = "    /* Milliseconds: the first timeout, and where it stops doubling. */"
"""Comments in C, as they stand in a function."""


def defined(options: Iterable[str], remedy: str = "define") -> list[str]:
    """An error for each option that is not defined."""
    lines: list[str] = []
    for option in options:
        lines += [f"#if !defined({option})", f'#error "{remedy} {option}"', "#endif"]
    return lines


def aligned(begin: str, parameters: Iterable[str]) -> list[str]:
    """A declaration: each further line of parameters stands below the first one."""
    joint = ",\n" + " " * (len(begin) + 1)
    return f"{begin}({joint.join(parameters)})".split("\n")


def function(name: str, parameters: Iterable[str], body: Iterable[str], done: int) -> list[str]:
    """A function that returns a number when all is done. Each of `parameters` is a line."""
    return [*aligned(f"int {name}", parameters), "{", *body, f"    return {done};", "}"]


def prepare(parameters: Iterable[str], body: Sequence[str], done: int) -> list[str]:
    """The function for each session; nothing if it has nothing to do."""
    return ["", *function("prepare", parameters, body, done)] if body else []


def psk(identity: str | None) -> list[str]:
    """The key, which is elsewhere, and the identity."""
    return [
        "extern const unsigned char psk[];",
        "extern const size_t psk_length;",
        "",
        f"static const char IDENTITY[] = {string(identity or '')};",
        "",
    ]


def keys(
    identity: str | None, ssl: str, server: Sequence[str], suite: str | None = None
) -> list[str]:
    """The callbacks for keys of OpenSSL and wolfSSL, at a client and at a `server` (parameters).

    `ssl` is the type of a session. With a `suite` they also say which one the key is for.
    """
    asked = ["const char **suite"] if suite else []
    answered = [f'    *suite = "{suite}";'] if suite else []
    client = [f"{ssl} *ssl, const char *hint, char *identity"]
    client += ["unsigned identity_room, unsigned char *key", "unsigned room"]
    return [
        *psk(identity),
        "static unsigned copy_key(unsigned char *key, unsigned room)",
        "{",
        "    if (psk_length > room)",
        "        return 0;",
        "    memcpy(key, psk, psk_length);",
        "    return (unsigned) psk_length;",
        "}",
        "",
        *aligned("static unsigned client_key", [*client, *asked]),
        "{",
        "    (void) ssl;",
        "    (void) hint;",
        "    if (sizeof IDENTITY > identity_room)",
        "        return 0;",
        "    memcpy(identity, IDENTITY, sizeof IDENTITY);",
        *answered,
        "    return copy_key(key, room);",
        "}",
        "",
        *aligned("static unsigned server_key", [*server, *asked]),
        "{",
        "    (void) ssl;",
        *answered,
        "    return strcmp(identity, IDENTITY) == 0 ? copy_key(key, room) : 0;",
        "}",
        "",
    ]


def string(value: str) -> str:
    """A string literal. Identities may have any characters."""
    return literal(value, "?", "\\{:03o}")
