"""Ways in which an agent may write a secret: what each makes of a text, by its name."""

from __future__ import annotations

import base64
import json
import quopri
import re
from collections.abc import Callable, Iterator
from html import escape, unescape
from html.entities import html5
from urllib.parse import quote, quote_plus, unquote

Writer = Callable[[str], str]

_NAMED = {text: f"&{name}" for name, text in html5.items() if name.endswith(";")}


def each(form: str) -> Writer:
    """Return a writer of every character in the same form, a format of its code."""
    return lambda text: "".join(form.format(ord(character)) for character in text)


def each_byte(form: str) -> Writer:
    """Return a writer of every byte in the same form."""
    return lambda text: "".join(form.format(byte) for byte in text.encode())


def each_unit(form: str) -> Writer:
    """Return a writer of every code unit of UTF-16 in the same form."""
    return lambda text: "".join(
        form.format(first << 8 | second)
        for first, second in zip(*[iter(text.encode("utf-16-be"))] * 2, strict=True)
    )


def some(writer: Writer, *, every: int = 2) -> Writer:
    """Return a writer that encodes every second character."""
    return lambda text: "".join(
        character if at % every else writer(character) for at, character in enumerate(text)
    )


def in_base64(before: str = "", after: str = "", *, url: bool = False) -> Writer:
    """Return a writer of Base64 of a text within another one, without padding."""
    encode = base64.urlsafe_b64encode if url else base64.b64encode
    return lambda text: encode(f"{before}{text}{after}".encode()).decode().rstrip("=")


def in_lines(text: str) -> str:
    """Return Base64 of a long text in lines of 76 characters."""
    return base64.encodebytes(f"{'a note of some length ' * 3}{text}".encode()).decode()


def in_json(text: str) -> str:
    """Return a text as within a string of JSON."""
    return json.dumps(text)[1:-1]


def named(text: str) -> str:
    """Return a text with entities of HTML wherever there are some."""
    return "".join(
        _NAMED.get(character, character) if not character.isalnum() else character
        for character in text
    )


def mixed_case(text: str) -> str:
    """Return a text with every second digit or letter in upper case."""
    return "".join(each.upper() if at % 2 else each.lower() for at, each in enumerate(text))


def then(first: Writer, second: Writer) -> Writer:
    """Return a writer of the second kind of what the first one writes."""
    return lambda text: second(first(text))


_PERCENT = each_byte("%{:02x}")
_UNICODE = each_unit("\\u{:04x}")
_HEX = each_byte("{:02x}")

ENCODINGS: dict[str, Writer] = {
    "plain": str,
    "lower case": str.lower,
    "upper case": str.upper,
    # Base64
    "Base64": lambda text: base64.b64encode(text.encode()).decode(),
    "Base64 without padding": in_base64(),
    "Base64 for URLs": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "Base64 for URLs without padding": in_base64(url=True),
    "Base64 at offset 1": in_base64("a"),
    "Base64 at offset 2": in_base64("ab"),
    "Base64 for URLs at offset 1": in_base64("a", "?", url=True),
    "Base64 for URLs at offset 2": in_base64("ab", "?~", url=True),
    "Base64 of a pair": in_base64("ada:"),
    "Base64 of JSON": lambda text: in_base64()(json.dumps({"key": text, "n": 1})),
    "Base64 in lines": in_lines,
    "Base64 in short lines": lambda text: "\n".join(re.findall(".{1,12}", in_base64()(text))),
    "Base64 in lines in JSON": then(in_lines, in_json),
    "Base64 in a URL": then(in_base64(), lambda text: quote(text, safe="")),
    # Hexadecimal
    "hexadecimal": _HEX,
    "hexadecimal in upper case": each_byte("{:02X}"),
    "hexadecimal in mixed case": then(_HEX, mixed_case),
    "hexadecimal with colons": lambda text: text.encode().hex(":"),
    "hexadecimal with spaces": lambda text: text.encode().hex(" ").upper(),
    "hexadecimal with prefixes": lambda text: ", ".join(f"0x{byte:02x}" for byte in text.encode()),
    "hexadecimal with colons in a URL": lambda text: quote(text.encode().hex(":"), safe=""),
    # JSON and programs
    "JSON": in_json,
    "JSON with escaped slashes": lambda text: in_json(text).replace("/", "\\/"),
    "JSON escapes": _UNICODE,
    "JSON escapes in upper case": each_unit("\\u{:04X}"),
    "JSON escapes, some": some(_UNICODE),
    "JSON escapes in JSON": then(_UNICODE, in_json),
    "JSON escapes in JSON in JSON": then(then(_UNICODE, in_json), in_json),
    "escapes of bytes": each_byte("\\x{:02x}"),
    "escapes of bytes in upper case": each_byte("\\x{:02X}"),
    "escapes in braces": each("\\u{{{:x}}}"),
    "escapes in braces in a URL": each("\\u%7B{:x}%7D"),
    "escapes of Python": each("\\U{:08x}"),
    "octal escapes": each_byte("\\{:03o}"),
    # URLs
    "percent-encoding": lambda text: quote(text, safe=""),
    "percent-encoding in lower case": lambda text: re.sub(
        "%..", lambda found: found[0].lower(), quote(text, safe="")
    ),
    "form encoding": quote_plus,
    "percent-encoding of all": _PERCENT,
    "percent-encoding of all in upper case": each_byte("%{:02X}"),
    "percent-encoding in mixed case": then(_PERCENT, mixed_case),
    "percent-encoding of some": some(_PERCENT, every=3),
    "percent-encoding twice": then(_PERCENT, lambda text: quote(text, safe="")),
    "percent-encoding with code points": each_unit("%u{:04X}"),
    # HTML
    "HTML": escape,
    "HTML twice": then(escape, escape),
    "decimal references": each("&#{};"),
    "decimal references with zeros": each("&#{:07};"),
    "decimal references without semicolons": then(
        each("&#{} "), lambda text: text.replace(" ", "")
    ),
    "decimal references, some": some(each("&#{};")),
    "hexadecimal references": each("&#x{:x};"),
    "hexadecimal references in upper case": each("&#X{:04X};"),
    "named references": named,
    "decimal references in HTML": then(each("&#{};"), escape),
    # Others, and some within others
    "quoted-printable": lambda text: quopri.encodestring(text.encode()).decode(),
    "quoted-printable of all": each_byte("={:02X}"),
    "HTML in JSON": then(each("&#{};"), lambda text: text.replace("&", "\\u0026")),
    "JSON escapes in a URL": then(_UNICODE, lambda text: quote(text, safe="")),
    "percent-encoding in JSON escapes": then(_PERCENT, _UNICODE),
}


def readings(data: str) -> Iterator[str]:
    """Yield a text, and what common decoders make of it, one after the other."""
    yield data
    for _ in range(3):
        decoded = re.sub(
            r"\\+u\{?([0-9A-Fa-f]{4}|[0-9A-Fa-f]{2}(?=\}))\}?|\\+x([0-9A-Fa-f]{2})",
            lambda found: chr(int(found[1] or found[2], 16)),
            data,
        )
        decoded = unescape(unquote(decoded))
        if decoded == data:
            return
        data = decoded
        yield data
