"""The cipher suites: what their names say, and which library has them."""

from __future__ import annotations

from typing import NamedTuple


class Suite(NamedTuple):
    """A cipher suite, by the parts of its name."""

    exchange: str
    """The key exchange; empty in version 1.3."""
    cipher: str
    """With the length of the key, the mode and the length of the tag."""
    digest: str
    """Empty where the name has none: then it is SHA256."""
    libraries: tuple[str, ...]

    @property
    def name(self) -> str:
        """As IANA has it."""
        exchange = self.exchange and f"{self.exchange}_WITH"
        return "_".join(filter(None, ("TLS", exchange, self.cipher, self.digest)))

    @property
    def is_13(self) -> bool:
        """True if it is of version 1.3."""
        return not self.exchange

    @property
    def is_ephemeral(self) -> bool:
        """True if its key exchange has a curve. In version 1.3 that is not the suite's."""
        return self.exchange.startswith("ECDHE")

    def is_mode(self, mode: str) -> bool:
        """True for a mode of the cipher: CBC, GCM, CCM, or CCM_8 with a short tag."""
        return f"_{mode}_" in f"{self.cipher}_"


GENERAL = ("mbedtls", "zephyr", "openssl", "wolfssl")
MOST = (*GENERAL, "californium")
CCM = (*MOST, "contiki-ng")
MANDATORY = (*CCM, "tinydtls", "openthread", "lean-dtls")
"""Libraries that have the same suites. Their files with the names are:

- mbedtls: include/mbedtls/ssl_ciphersuites.h of Mbed TLS 3.6.5
- zephyr: its mbedTLS, without a password
- openssl: include/openssl/tls1.h of OpenSSL 3.5.5
- wolfssl: cipher_names in src/internal.c of wolfSSL 5.9.4
- californium: scandium-core/.../scandium/dtls/cipher/CipherSuite.java of Californium 3.14.0
- contiki-ng: its mbedtls-config.h has PSK and ECDHE-ECDSA with CCM
- tinydtls: dtls_cipher_t in global.h of tinyDTLS at 9d6cf54
- openthread: src/core/meshcop/secure_transport.cpp of OpenThread at b0735664ce54
- lean-dtls: crates/lean-dtls/src/suite.rs, and src/crypto.rs for DTLS 1.3
"""

SUITES = {
    suite.name: suite
    for suite in (
        Suite("PSK", "AES_128_CCM", "", (*CCM, "tinydtls")),
        Suite("PSK", "AES_256_CCM", "", CCM),
        Suite("PSK", "AES_128_CCM_8", "", MANDATORY),
        Suite("PSK", "AES_256_CCM_8", "", CCM),
        Suite("PSK", "AES_128_GCM", "SHA256", (*MOST, "lean-dtls")),
        Suite("PSK", "AES_256_GCM", "SHA384", MOST),
        Suite("ECDHE_PSK", "AES_128_GCM", "SHA256", ("wolfssl", "californium", "lean-dtls")),
        Suite("ECDHE_PSK", "AES_128_CCM_8", "SHA256", ("californium", "lean-dtls")),
        Suite("ECDHE_ECDSA", "AES_128_CCM", "", (*CCM, "tinydtls")),
        Suite(
            "ECDHE_ECDSA",
            "AES_256_CCM",
            "",
            ("mbedtls", "zephyr", "openssl", "californium", "contiki-ng"),
        ),
        Suite("ECDHE_ECDSA", "AES_128_CCM_8", "", MANDATORY),
        Suite("ECDHE_ECDSA", "AES_256_CCM_8", "", CCM),
        Suite("ECDHE_ECDSA", "AES_128_GCM", "SHA256", (*MOST, "lean-dtls")),
        Suite("ECDHE_ECDSA", "AES_256_GCM", "SHA384", MOST),
        Suite("ECDHE_ECDSA", "AES_128_CBC", "SHA256", MOST),
        Suite("ECDHE_ECDSA", "AES_128_CBC", "SHA", GENERAL),
        Suite("ECDHE_RSA", "AES_128_GCM", "SHA256", MOST),
        Suite("ECDHE_RSA", "AES_128_CBC", "SHA256", MOST),
        Suite("ECDHE_RSA", "AES_128_CBC", "SHA", GENERAL),
        Suite("RSA", "AES_128_GCM", "SHA256", GENERAL),
        Suite("RSA", "AES_128_CBC", "SHA256", GENERAL),
        Suite("RSA", "AES_128_CBC", "SHA", GENERAL),
        Suite("ECJPAKE", "AES_128_CCM_8", "", ("mbedtls", "openthread")),
        Suite("", "AES_128_GCM", "SHA256", (*GENERAL, "lean-dtls")),
        Suite("", "AES_256_GCM", "SHA384", GENERAL),
        Suite("", "AES_128_CCM", "SHA256", (*GENERAL, "lean-dtls")),
        Suite("", "AES_128_CCM_8", "SHA256", (*GENERAL, "lean-dtls")),
    )
}
"""Every suite that a library has here, by its name."""


def of(library: str) -> tuple[str, ...]:
    """The suites of a library."""
    return tuple(name for name, suite in SUITES.items() if library in suite.libraries)
