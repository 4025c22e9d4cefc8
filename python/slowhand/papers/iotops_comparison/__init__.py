"""Preuß Mattsson, Palombini, Vučinić: draft-ietf-iotops-security-protocol-comparison-08."""

from slowhand.papers.iotops_comparison import air, dtls13, edhoc, figures, records, tls13
from slowhand.papers.points import Part

PARTS = {
    "dtls13": Part(dtls13.measure, draw=figures.handshakes),
    "tls13": Part(tls13.measure),
    "edhoc": Part(edhoc.measure),
    "records": Part(records.measure),
    "air": Part(air.measure, air.POINTS, air.draw),
}
