"""The connection doctor: what answers at an address, step by step, with causes and fixes.

=============  ========================================================================
`probes`       the calls that may be made, in order, and when each is
`evidence`     one call's frames, as facts
`detection`    what a reply speaks: protocol, version, binding, generation, dialect
`steps`        what the connection and the reply come to
`families`     what each protocol comes to
`examination`  drives the calls and writes the report
=============  ========================================================================
"""

from playground.protocols.doctor.detection import DetectedProtocol, detect_protocol
from playground.protocols.doctor.diagnosis import AnnouncedCall, Diagnosis, announce
from playground.protocols.doctor.evidence import Evidence, evidence_of

__all__ = [
    "AnnouncedCall",
    "DetectedProtocol",
    "Diagnosis",
    "Evidence",
    "announce",
    "detect_protocol",
    "evidence_of",
]
