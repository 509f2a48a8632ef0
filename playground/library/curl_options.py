"""The options of curl: which are understood, which make no difference here, which are refused.

A table of our own, because no parser may act on any of them. The names are those of curl's manual.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass


class OptionSupport(enum.Enum):
    """What becomes of an option."""

    #: Part of the request.
    SUPPORTED = enum.auto()
    #: About how curl works or what it prints; said so once.
    IGNORED = enum.auto()
    #: The request would be another one without it, or files would be read or written.
    UNSUPPORTED = enum.auto()


@dataclass(frozen=True, slots=True)
class CurlOption:
    """One option by its long name."""

    name: str
    use: OptionSupport
    #: Whether a value follows it.
    valued: bool
    #: Why it is refused, as the end of a sentence that begins with the option.
    why: str = ""


_READS = "reads a file, and no file is read here"
_WRITES = "writes a file, and no file is written here"
_ELSEWHERE = "sends the request somewhere else than its address says"
_CERTIFICATE = "shows a certificate from a file, which the playground has none of"
_FORM = "sends a form of several parts, which no agent expects"
_METHOD = "asks for another method than GET or POST"

#: Long name, short name or "", whether a value follows. Taken.
_TAKEN = """
request X 1 | header H 1 | data d 1 | data-ascii - 1 | data-raw - 1 | data-binary - 1
data-urlencode - 1 | json - 1 | url - 1 | url-query - 1 | user u 1 | oauth2-bearer - 1
user-agent A 1 | referer e 1 | cookie b 1 | get G 0
"""
_IGNORED = """
silent s 0 | show-error S 0 | verbose v 0 | include i 0 | location L 0 | insecure k 0
no-buffer N 0 | compressed - 0 | fail f 0 | fail-with-body - 0 | globoff g 0 | progress-bar # 0
http1.0 0 0 | http1.1 - 0 | http2 - 0 | http2-prior-knowledge - 0 | http3 - 0 | ipv4 4 0
ipv6 6 0 | max-time m 1 | connect-timeout - 1 | retry - 1 | retry-delay - 1
retry-max-time - 1 | retry-all-errors - 0 | limit-rate - 1 | write-out w 1 | max-redirs - 1
location-trusted - 0 | proto - 1 | proto-default - 1 | ciphers - 1 | tlsv1.2 - 0 | tlsv1.3 - 0
tls-max - 1 | tcp-nodelay - 0 | keepalive-time - 1 | no-keepalive - 0 | path-as-is - 0
basic - 0 | anyauth - 0 | styled-output - 0 | no-progress-meter - 0 | speed-limit Y 1
speed-time y 1 | proxy x 1 | noproxy - 1 | proxy-user U 1 | ssl-no-revoke - 0 | disable q 0
parallel Z 0 | raw - 0 | tr-encoding - 0 | expect100-timeout - 1 | no-sessionid - 0
http0.9 - 0 | tlsv1 1 0 | tlsv1.0 - 0 | tlsv1.1 - 0 | tls13-ciphers - 1 | curves - 1
no-alpn - 0 | cert-status - 0 | ca-native - 0 | proxy-insecure - 0 | proxy-header - 1
proxytunnel p 0 | max-filesize - 1 | tcp-fastopen - 0 | happy-eyeballs-timeout-ms - 1
retry-connrefused - 0 | rate - 1 | fail-early - 0 | post301 - 0 | post302 - 0 | post303 - 0
ignore-content-length - 0 | junk-session-cookies j 0 | suppress-connect-headers - 0
"""
_REFUSED: Mapping[str, str] = {
    _WRITES: """
output o 1 | remote-name O 0 | remote-name-all - 0 | remote-header-name J 0 | output-dir - 1
cookie-jar c 1 | dump-header D 1 | trace - 1 | trace-ascii - 1 | stderr - 1 | create-dirs - 0
hsts - 1 | alt-svc - 1 | etag-save - 1 | libcurl - 1
""",
    _READS: """
upload-file T 1 | config K 1 | netrc n 0 | netrc-file - 1 | netrc-optional - 0
etag-compare - 1 | variable - 1 | cacert - 1 | capath - 1 | crlfile - 1
""",
    _CERTIFICATE: "cert E 1 | key - 1 | cert-type - 1 | pass - 1",
    _ELSEWHERE: """
resolve - 1 | connect-to - 1 | unix-socket - 1 | abstract-unix-socket - 1 | doh-url - 1
interface - 1 | preproxy - 1 | dns-servers - 1 | request-target - 1 | socks4 - 1 | socks4a - 1
socks5 - 1 | socks5-hostname - 1
""",
    _FORM: "form F 1 | form-string - 1",
    _METHOD: "head I 0",
    "begins a second request, and one can be taken": "next : 0",
    "authenticates in a way that the playground does not have": """
digest - 0 | ntlm - 0 | negotiate - 0 | aws-sigv4 - 1 | delegation - 1
""",
    "continues or cuts a download": "range r 1 | continue-at C 1",
}


def _rows(text: str, use: OptionSupport, why: str = "") -> dict[str, CurlOption]:
    """Options by what they are called: `--long` and `-s`."""
    found: dict[str, CurlOption] = {}
    for row in text.replace("\n", " | ").split("|"):
        if not (words := row.split()):
            continue
        name, short, valued = words
        option = CurlOption(name, use, valued == "1", why)
        found[f"--{name}"] = option
        if short != "-":
            found[f"-{short}"] = option
    return found


OPTIONS: Mapping[str, CurlOption] = {
    **_rows(_TAKEN, OptionSupport.SUPPORTED),
    **_rows(_IGNORED, OptionSupport.IGNORED),
    **{
        key: row
        for why, text in _REFUSED.items()
        for key, row in _rows(text, OptionSupport.UNSUPPORTED, why).items()
    },
}
