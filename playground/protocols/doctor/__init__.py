"""Connection doctor: finds out what answers at an agent's URL, with causes and fixes."""

from playground.protocols.doctor.causes import Cause, Remedy, cause_of
from playground.protocols.doctor.detection import DetectedProtocol, detect_protocol
from playground.protocols.doctor.diagnosis import AnnouncedCall, Diagnosis, announce
from playground.protocols.doctor.evidence import Evidence, evidence_of

__all__ = [
    "AnnouncedCall",
    "Cause",
    "DetectedProtocol",
    "Diagnosis",
    "Evidence",
    "Remedy",
    "announce",
    "cause_of",
    "detect_protocol",
    "evidence_of",
]
