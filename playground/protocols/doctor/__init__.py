"""Connection doctor: finds out what answers at an agent's URL, with causes and fixes.

=============  ====================================================================
`probes`       the calls that a diagnosis may make, in order, with their conditions
`evidence`     the facts of one call, from its frames
`detection`    protocol, version, binding and dialect of a response
`conclusions`  what each step of a diagnosis says: cause and fix
`advice`       causes and fixes that several steps share
`causes`       why a request or a diagnosis failed, and the remedy
`diagnosis`    one diagnosis: the next call, and the report
=============  ====================================================================
"""

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
