"""Connection doctor: finds out what answers at an agent's URL, with causes and fixes.

The steps of a diagnosis are in `diagnosis`, which only the doctor imports.
"""

from playground.protocols.doctor.causes import Cause, Remedy, cause_of
from playground.protocols.doctor.detection import DetectedProtocol, detect_protocol
from playground.protocols.doctor.evidence import Evidence, evidence_of

__all__ = [
    "Cause",
    "DetectedProtocol",
    "Evidence",
    "Remedy",
    "cause_of",
    "detect_protocol",
    "evidence_of",
]
