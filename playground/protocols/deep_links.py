"""Links into the workbench: a whole request in the part of an address that no server sees.

Everything behind `#` stays in the browser, so that neither a log nor a proxy learns what
somebody shares.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from playground.protocols.headers import is_credential


def workbench_link(
    workbench: str,
    *,
    address: str,
    protocol: str,
    binding: str,
    version: str,
    document: Mapping[str, Any],
    headers: Sequence[Sequence[str]] = (),
) -> str:
    """The address that opens the workbench (its own address: `workbench`) on a request.

    Headers that carry credentials are left out, with or without a value.
    """
    request = {
        "address": address,
        "protocol": protocol,
        "binding": binding,
        "version": version,
        "document": document,
        "headers": [[name, value] for name, value in headers if not is_credential(name)],
    }
    text = json.dumps(request, separators=(",", ":"))
    return f"{workbench}#request={base64.urlsafe_b64encode(text.encode()).decode().rstrip('=')}"


def badge(image: str, link: str) -> str:
    """Markdown that shows the picture at `image` and leads to `link`."""
    return f"[![Try it in the playground]({image})]({link})"
