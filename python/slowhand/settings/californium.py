"""Californium: the properties of Scandium, its DTLS."""

from __future__ import annotations

from slowhand.settings.session import Credential, End, Offer, Protocol, Session, nearest
from slowhand.settings.text import Snippet

PROPERTIES = {
    # scandium-core/.../scandium/config/DtlsConfig.java of Californium 3.14.0, and their types there
    "DTLS.RETRANSMISSION_TIMEOUT": "time",
    "DTLS.MAX_RETRANSMISSION_TIMEOUT": "time",
    "DTLS.ADDITIONAL_ECC_TIMEOUT": "time",
    "DTLS.RETRANSMISSION_INIT_RANDOM": "float",
    "DTLS.RETRANSMISSION_TIMEOUT_SCALE": "float",
    "DTLS.MAX_TRANSMISSION_UNIT": "integer",
    "DTLS.RECORD_SIZE_LIMIT": "integer",
    "DTLS.MAX_FRAGMENT_SIZE": "length",
    "DTLS.CONNECTION_ID_LENGTH": "integer",
    "DTLS.USE_HELLO_VERIFY_REQUEST": "boolean",
    "DTLS.SERVER_USE_SESSION_ID": "boolean",
    "DTLS.CIPHER_SUITES": "suite",
    "DTLS.CURVES": "curve",
    "DTLS.CERTIFICATE_TYPES": "certificate",
    "DTLS.CLIENT_AUTHENTICATION_MODE": "authentication",
    "DTLS.RECOMMENDED_CIPHER_SUITES_ONLY": "boolean",
    "DTLS.RECOMMENDED_CURVES_ONLY": "boolean",
    "DTLS.USE_MULTI_RECORD_MESSAGES": "boolean",
}
"""The properties that a snippet may have."""

MISSPELT = {"TLS_PSK_WITH_AES_256_GCM_SHA384": "TLS_PSK_WITH_AES_256_GCM_SHA378"}
"""Its own names in CipherSuite.java, where they differ from those of IANA."""

CURVES = {"secp256r1": True, "secp192r1": False}
"""The curves of .../dtls/cipher/XECDHECryptography.java, and whether it recommends them."""

IPV6_HEADERS = 128
"""Octets that it takes from the MTU: IPV6_HEADER_LENGTH in .../scandium/dtls/RecordLayer.java."""

OFFER = Offer(
    "californium",
    "3.14.0",
    "Californium",
    (Protocol.DTLS12,),
    (Credential.PSK, Credential.CERTIFICATE, Credential.RAW_PUBLIC_KEY),
    record_sizes=True,
    connection_ids=32,  # it has no limit of its own; RFC 9146 has 255
    resumptions=("id",),
)


def snippets(session: Session) -> list[Snippet]:
    """The properties of both ends."""
    end, notes = nearest(session, OFFER)
    note = "The key is set in Java: DtlsConnectorConfig.Builder.setAdvancedPskStore()."
    if end.credential != Credential.PSK:
        note = (
            "The keys are set in Java: DtlsConnectorConfig.Builder"
            ".setCertificateIdentityProvider() and .setAdvancedCertificateVerifier()."
        )
    title = f"Californium {OFFER.version}, both ends: the session of {session.scenario}."
    how = "Configuration.createStandardWithFile() reads this file."
    sentences, file = [title, *notes, note, how], "Californium3.properties"
    return [OFFER.snippet("properties", file, sentences, _properties(end), notes=notes)]


def _properties(end: End) -> list[str]:
    suite = MISSPELT.get(end.suite, end.suite)
    lines = [f"DTLS.CIPHER_SUITES={suite}"]
    if end.parts.is_mode("CBC"):  # CipherSuite.java does not recommend it: refused by default
        lines.append("DTLS.RECOMMENDED_CIPHER_SUITES_ONLY=false")
    if end.credential != Credential.PSK:
        kind = "X_509" if end.credential == Credential.CERTIFICATE else "RAW_PUBLIC_KEY"
        asks = "NEEDED" if end.auth == "mutual" else "NONE"
        lines += [f"DTLS.CERTIFICATE_TYPES={kind}", f"DTLS.CLIENT_AUTHENTICATION_MODE={asks}"]
    if end.curve is not None:
        lines.append(f"DTLS.CURVES={end.curve}")
        if not CURVES[end.curve]:
            lines.append("DTLS.RECOMMENDED_CURVES_ONLY=false")
    if end.timer:
        lines += [
            "# The first timeout, and where it stops doubling. A suite with ECC adds nothing.",
            f"DTLS.RETRANSMISSION_TIMEOUT={round(end.timer.first_ms)}[ms]",
            f"DTLS.MAX_RETRANSMISSION_TIMEOUT={round(end.timer.maximum_ms)}[ms]",
            "DTLS.ADDITIONAL_ECC_TIMEOUT=0[ms]",
            "DTLS.RETRANSMISSION_INIT_RANDOM=1.0",
            "DTLS.RETRANSMISSION_TIMEOUT_SCALE=2.0",
        ]
    if end.mtu is not None:
        lines += [
            f"# {end.mtu} octets of a datagram, and {IPV6_HEADERS} that Californium leaves for"
            " headers.",
            f"DTLS.MAX_TRANSMISSION_UNIT={end.mtu + IPV6_HEADERS}",
        ]
    if end.max_fragment_length is not None:
        lines.append(f"DTLS.MAX_FRAGMENT_SIZE=BYTES_{end.max_fragment_length}")
    if end.record_size_limit is not None:
        lines.append(f"DTLS.RECORD_SIZE_LIMIT={end.record_size_limit}")
    own = "" if end.connection_id is None else str(end.connection_id)
    lines += [
        "# Octets of a connection ID; nothing: it has none.",
        f"DTLS.CONNECTION_ID_LENGTH={own}",
    ]
    if end.cookie is not None:
        lines.append(f"DTLS.USE_HELLO_VERIFY_REQUEST={str(end.cookie).lower()}")
    lines.append(f"DTLS.SERVER_USE_SESSION_ID={str(end.resumption == 'id').lower()}")
    return lines
