"""Mattsson, Palombini, Vučinić: draft-ietf-iotops-security-protocol-comparison."""
