"""Preuß Mattsson, Palombini, Vučinić: draft-ietf-iotops-security-protocol-comparison-08."""

from slowhand.papers.iotops_comparison import air, dtls13, edhoc, records, tls13
from slowhand.papers.part import Part

PARTS: dict[str, Part] = {
    "dtls13": dtls13,
    "tls13": tls13,
    "edhoc": edhoc,
    "records": records,
    "air": air,
}
"""The parts, by their names in `reported.toml`."""
