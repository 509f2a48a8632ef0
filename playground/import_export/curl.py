"""Parser of cURL commands: a pasted command as a request of the playground.

Nothing is run, no file is read, nothing is sent. Options of the request are converted, options of
curl itself are ignored with a remark, and options that read or write a file, or do more than send
one request, are errors.

The words are split without a shell. Quotes, backslashes and continued lines are those of POSIX
shells, with the $'…' of bash (ANSI-C quoting). A command with the signs of cmd.exe or PowerShell is
read by their rules, if it is not a request by those of POSIX. A variable is a secret, as in the
snippets of the playground: `$TOKEN` becomes `{{TOKEN}}`.
"""

from __future__ import annotations

import base64
import enum
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from playground.import_export.http_request import (
    FORM,
    ImportedRequest,
    UnsupportedRequestError,
    from_http_request,
)
from playground.protocols.headers import is_credential
from playground.variables.names import PLACEHOLDER, names_in

_MAX_REMARKS = 20

#: Limit on the characters of a command.
MAX_COMMAND = 2_000_000

#: An address up to its host: the scheme and the login.
_LOGIN = re.compile(r"((?:https?://)?)([^/?#\s]*)@", re.IGNORECASE)


def is_curl(text: str) -> bool:
    words = text.lstrip().removeprefix("$ ").split(None, 1)
    return len(words) == 2 and words[0].lower() in ("curl", "curl.exe")


def read_curl(text: str) -> ImportedRequest:
    """Return the request of a curl command, or one with `refusals`. Raise nothing."""
    if not is_curl(text):
        return ImportedRequest(refusals=["The command must begin with “curl”."])
    text = text.lstrip().removeprefix("$ ")
    refusals: list[str] = []
    for shell in possible_shells(text):
        try:
            return _read(text, shell)
        except UnsupportedRequestError as error:
            refusals = refusals or list(dict.fromkeys(error.args))
    return ImportedRequest(refusals=refusals[:_MAX_REMARKS])


def _read(text: str, shell: Shell) -> ImportedRequest:
    """Return the request of a command as one shell would read it."""
    command = CurlCommand()
    command.read(split_command(text, shell)[1:])
    if command.errors:
        raise UnsupportedRequestError(*command.errors)
    url = command.address
    # curl takes an address without a scheme as http.
    if "://" not in url and not PLACEHOLDER.match(url):
        url = f"http://{url}"
    body = command.body
    if command.get and body is not None:
        url, body = _with_query(url, body), None
    for more in command.queries:
        url = _with_query(url, more)
    method = command.method or ("GET" if body is None else "POST")
    headers = [*command.headers, *_content_type(body)]
    found = from_http_request(method.upper(), url, headers, body)
    found.auth = found.auth or command.auth
    found.remarks += [*command.remarks(), *_credential_remarks(found.headers)]
    del found.remarks[_MAX_REMARKS:]
    return found


def _content_type(body: str | None) -> list[tuple[str, str]]:
    """Return the header that curl adds to a body without one, if it looks like a form."""
    is_form = body is not None and "=" in body and body.lstrip()[:1] not in ("{", "[")
    return [("Content-Type", FORM)] if is_form else []


def _credential_remarks(headers: Sequence[Sequence[str]]) -> Iterator[str]:
    for name, value in headers:
        if is_credential(name) and value and not names_in(value):
            yield (
                f"{name} is used for this request only and is not saved. To save it, store "
                "it as a secret in an environment, such as “token”."
            )


def _with_query(url: str, query: str) -> str:
    return url + ("&" if "?" in url else "?") + query if query else url


#: Support of an option that is part of the request, and of one that is about curl's operation or
#: output; any other text is the reason for an error, as the end of a sentence.
SUPPORTED, IGNORED = "", "is ignored"

# A table of our own: no parser may act on any of them. The names are those of curl's manual.
#: Options by their support: long name, short name or "-", whether a value follows.
_TABLE: Mapping[str, str] = {
    SUPPORTED: """
request X 1 | header H 1 | data d 1 | data-ascii - 1 | data-raw - 1 | data-binary - 1
data-urlencode - 1 | json - 1 | url - 1 | url-query - 1 | user u 1 | oauth2-bearer - 1
cookie b 1 | get G 0
""",
    IGNORED: """
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
user-agent A 1 | referer e 1
""",
    "writes a file, which is not supported": """
output o 1 | remote-name O 0 | remote-name-all - 0 | remote-header-name J 0 | output-dir - 1
cookie-jar c 1 | dump-header D 1 | trace - 1 | trace-ascii - 1 | stderr - 1 | create-dirs - 0
hsts - 1 | alt-svc - 1 | etag-save - 1 | libcurl - 1
""",
    "reads a file, which is not supported": """
upload-file T 1 | config K 1 | netrc n 0 | netrc-file - 1 | netrc-optional - 0
etag-compare - 1 | variable - 1 | cacert - 1 | capath - 1 | crlfile - 1
""",
    "uses a client certificate, which is not supported": """
cert E 1 | key - 1 | cert-type - 1 | pass - 1
""",
    "sends the request to another host than that of its URL": """
resolve - 1 | connect-to - 1 | unix-socket - 1 | abstract-unix-socket - 1 | doh-url - 1
interface - 1 | preproxy - 1 | dns-servers - 1 | request-target - 1 | socks4 - 1 | socks4a - 1
socks5 - 1 | socks5-hostname - 1
""",
    "sends multipart form data, which is not supported": "form F 1 | form-string - 1",
    "uses another method than GET or POST": "head I 0",
    "starts a second request; only one can be imported": "next : 0",
    "uses an unsupported authentication scheme": """
digest - 0 | ntlm - 0 | negotiate - 0 | aws-sigv4 - 1 | delegation - 1
""",
    "requests a partial download": "range r 1 | continue-at C 1",
}


class CurlOption(NamedTuple):
    """An option by its long name."""

    name: str
    #: Whether a value follows it.
    valued: bool
    #: A key of `_TABLE`.
    support: str


#: Options by their names: `--long` and `-s`.
OPTIONS: Mapping[str, CurlOption] = {
    written: CurlOption(name, valued == "1", support)
    for support, rows in _TABLE.items()
    for name, short, valued in re.findall(r"(\S+) (\S) ([01])", rows)
    for written in (f"--{name}", f"-{short}")
    if written != "--"
}


class CurlCommand:
    """The options of a command."""

    def __init__(self) -> None:
        self.address = ""
        self.method = ""
        self.get = False
        self.headers: list[tuple[str, str]] = []
        #: Like `SavedRequest.auth`, if the password is a `{{name}}`.
        self.auth: dict[str, str] = {}
        #: Additional parts of the query string.
        self.queries: list[str] = []
        self.errors: list[str] = []
        self._data: list[str] = []
        self._has_user = False
        self._ignored: list[str] = []
        self._remarks: list[str] = []

    @property
    def body(self) -> str | None:
        """Return all data, joined as curl joins it; None if there is none."""
        return "&".join(self._data) if self._data else None

    def remarks(self) -> Iterator[str]:
        yield from self._remarks
        if self._ignored:
            names = ", ".join(dict.fromkeys(self._ignored))
            yield f"Ignored curl options: {names[:300]}."

    def read(self, words: list[str]) -> None:
        # Not argparse: it refuses values that begin with "-", splits at "=" where curl does not,
        # stops at the first error, and takes quadratic time for many options.
        rest = iter(words)
        plain = False
        for word in rest:
            if plain or not word.startswith("-") or word == "-":
                self._url(word)
            elif word == "--":
                plain = True
            elif word.startswith("--"):
                self._option(word, word, rest)
            else:
                self._cluster(word, rest)
        if not self.address and not self.errors:
            self.errors.append("The command has no URL.")
        self._apply_login()

    def _cluster(self, word: str, rest: Iterator[str]) -> None:
        """Read short options in one word, which may end with the value of the last one."""
        for end, letter in enumerate(word[1:], start=2):
            name = f"-{letter}"
            option = OPTIONS.get(name)
            joined = option is not None and option.valued and end < len(word)
            self._option(name, word, iter([word[end:]]) if joined else rest)
            if joined or option is None:
                return

    def _option(self, name: str, word: str, rest: Iterator[str]) -> None:
        option = OPTIONS.get(name)
        if option is None:
            self.errors.append(f"Unknown option {word[:40]}.")
            return
        value = ""
        if option.valued:
            following = next(rest, None)
            if following is None:
                self.errors.append(f"The option {name} needs a value. The command is incomplete.")
                return
            value = following
        if option.support == IGNORED:
            self._ignored.append(name)
        elif option.support == SUPPORTED:
            try:
                self._apply(option.name, value)
            except UnsupportedRequestError as error:
                self.errors.append(f"The option {name} {error}")
        else:
            self.errors.append(f"The option {name} {option.support}.")

    def _apply(self, option: str, value: str) -> None:
        """Apply a supported option. Raise an error as the end of a sentence about it."""
        match option:
            case "request":
                self.method = value
            case "url":
                self._url(value)
            case "get":
                self.get = True
            case "header":
                self._header(value)
            case "user":
                self._user(value)
            case "oauth2-bearer":
                self.headers.append(("Authorization", f"Bearer {value}"))
            case "cookie" if "=" in value:
                self._remarks.append("Cookies were skipped. The playground does not send cookies.")
            case "cookie":
                raise _reads_file(f"reads cookies from the file {value[:60]}")
            case "url-query":
                encoded = _encoded(value.removeprefix("+"))
                self.queries.append(value[1:] if value.startswith("+") else encoded)
            case _:
                self._add_data(option, value)

    def _url(self, value: str) -> None:
        if self.address:
            # The value of an unknown option looks like one, too.
            if not self.errors:
                self.errors.append("The command has two URLs. Only one request can be imported.")
        elif value.startswith(("“", "”", "„", "‘", "’")):
            self.errors.append("The URL is in typographic quotes. Use straight ones.")
        elif (scheme := _scheme(value)) not in ("", "http", "https"):
            self.errors.append(f"The URL uses {scheme}. Only HTTP and HTTPS are supported.")
        else:
            self.address = value

    def _header(self, value: str) -> None:
        if value.startswith("@"):
            raise _reads_file(f"reads headers from the file {value[:60]}")
        key, colon, text = value.partition(":")
        if colon and text.strip():
            self.headers.append((key.strip(), text.strip()))
        elif not colon and value.endswith(";"):
            self.headers.append((value[:-1].strip(), ""))

    def _apply_login(self) -> None:
        """Move the login from the address to a header; curl prefers `--user`."""
        found = _LOGIN.match(self.address)
        if found is None:
            return
        self.address = found[1] + self.address[found.end() :]
        if not self._has_user:
            self._user(unquote(found[2]))

    def _user(self, value: str) -> None:
        self._has_user = True
        user, _, password = value.partition(":")
        found = PLACEHOLDER.fullmatch(password)
        if found and not found[1].startswith("$"):
            self.auth = {"type": "basic", "user": user, "secret": found[1]}
            return
        login = base64.b64encode(value.encode("utf-8", "replace")).decode()
        self.headers.append(("Authorization", f"Basic {login}"))

    def _add_data(self, option: str, value: str) -> None:
        if option == "data-urlencode":
            value = _encoded(value)
        elif option != "data-raw" and value.startswith("@"):
            where = f"reads the body from {_file_name(value[1:])}"
            raise _reads_file(where, " Put the text into the command.")
        if option == "json":
            # According to curl's manual several of them are joined without a separator.
            self.headers.append(("Content-Type", "application/json"))
            self._data = ["".join([*self._data, value])]
        else:
            self._data.append(value)


def _encoded(value: str) -> str:
    """Return `name=text` encoded like --data-urlencode."""
    key, equals, text = value.partition("=")
    if not equals and "@" in value:
        raise _reads_file(f"reads {_file_name(value.partition('@')[2])}")
    if not equals:
        return quote(value, safe="")
    return f"{key}={quote(text, safe='')}" if key else quote(text, safe="")


def _reads_file(what: str, advice: str = "") -> UnsupportedRequestError:
    return UnsupportedRequestError(f"{what}, which is not supported.{advice}")


def _file_name(name: str) -> str:
    return "standard input" if name == "-" else f"the file {name[:60]}"


def _scheme(url: str) -> str:
    try:
        return urlsplit(url).scheme if "://" in url else ""
    except ValueError:
        return ""


_OPERATORS: dict[str, str] = {
    "|": "a pipe",
    ";": "a second command",
    "&": "another command or a background job",
    "<": "input from a file",
    ">": "output to a file",
    "(": "a subshell",
    ")": "a subshell",
}

#: A caret of cmd.exe outside of quotes, group 1.
_CMD_CARET = re.compile(
    r"""\$'(?:[^'\\]|\\.)*'|'[^']*'|"(?:[^"\\]|\\.)*"|\\['"]|(\^"|\^\n)""", re.DOTALL
)
#: A quoted text of cmd.exe, or what follows a caret, group 1.
_CARET = re.compile(r'"[^"]*"?|\^(\n\n|.|\Z)', re.DOTALL)
#: Operators that are escaped by a caret, as private-use characters until the words are split.
_LITERALS = {ord(sign): 0xF0000 + ord(sign) for sign in _OPERATORS}
_OPERATOR_OF = {placeholder: sign for sign, placeholder in _LITERALS.items()}
#: Signs of a command for cmd.exe and for PowerShell, which a POSIX shell may read otherwise.
_CMD_SIGN = re.compile(r'\^|\w""|""\w|""[{\[]|[}\]]""')
_POWERSHELL_SIGN = re.compile(r"""^curl\.exe\b|`\n|'[^']*(?:\\"|"")""", re.IGNORECASE)
#: A quote in an argument of Windows PowerShell, as the program receives it.
_PASSED_QUOTE = re.compile(r'\\"|""')
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{1,4})"
    r"|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.))",
    re.DOTALL,
)

_UNCLOSED_QUOTE = "Missing closing quote. The command is incomplete."
_SUBSTITUTION = (
    "The command contains a shell substitution ($(…), `…` or ${…}). Nothing is executed, so "
    "replace it with its value."
)
_SEVERAL_COMMANDS = (
    "Several commands. Only a single curl command can be imported. To continue a line, end it with "
    "a backslash."
)
_POWERSHELL_LETTERS = {"n": "\n", "r": "\r", "t": "\t"}
_LETTERS = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b",
    "E": "\x1b", "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


class ShellError(UnsupportedRequestError):
    """A command that does more than send a request, or that is cut short, with the reason."""


class Shell(enum.Enum):
    """The shell that a command is written for."""

    POSIX = enum.auto()
    CMD = enum.auto()
    POWERSHELL = enum.auto()
    #: PowerShell before 7.3: quotes within an argument are escaped once more, for the program.
    WINDOWS_POWERSHELL = enum.auto()


def possible_shells(text: str) -> list[Shell]:
    """Return the shells that a command may be written for, the likeliest first."""
    text = _normalized(text)
    if any(found[1] for found in _CMD_CARET.finditer(text)):
        return [Shell.CMD]
    found = [Shell.POSIX]
    if _CMD_SIGN.search(text):
        found.append(Shell.CMD)
    if _POWERSHELL_SIGN.search(text):
        found += [Shell.POWERSHELL, Shell.WINDOWS_POWERSHELL]
    return found


def split_command(text: str, shell: Shell = Shell.POSIX) -> list[str]:
    """Return the words of one command.

    Raise `ShellError` for everything that needs a shell (substitution, pipes, redirection, several
    commands) and for unclosed quotes.
    """
    if len(text) > MAX_COMMAND:
        raise ShellError("The command is longer than 2 million characters.")
    text = _normalized(text)
    if shell is Shell.CMD:
        words = _split(_CARET.sub(_uncaret, text), shell)
        return [word.translate(_OPERATOR_OF) for word in words]
    words = _split(text, shell)
    if shell is Shell.WINDOWS_POWERSHELL:
        return [_PASSED_QUOTE.sub('"', word) for word in words]
    return words


def _normalized(text: str) -> str:
    return text.replace("\r\n", "\n").strip()


def _uncaret(found: re.Match[str]) -> str:
    """Return what a caret of cmd.exe stands for; a quoted text has none."""
    if found[1] is None:
        return found[0]
    return {"\n\n": "\n", "\n": " "}.get(found[1], found[1].translate(_LITERALS))


# Not shlex: it does not tell which characters were quoted ('$A', '|'), cuts words at a #, and takes
# quadratic time for a long word.
_NAME = r"(?:env:)?[A-Za-z_][A-Za-z0-9_]{0,79}"
_VARIABLE = rf"\$(?:{_NAME}|\{{{_NAME}\}})"

#: Patterns of the parts of a command, in the order in which they are tried. In an unclosed quote
#: `open` matches, and `plain` anything else.
_POSIX_PARTS = {
    "space": r"[ \t\u00a0]+",
    "joined": r"\\(?:\n|\Z)|\$(?=\")",  # $"…" is a translated text: the text.
    "single": r"'[^']*+'",
    "ansi": r"\$'(?:[^'\\]|\\.)*+'",
    "double": r'"(?:[^"\\]|\\.)*+"',
    "variable": _VARIABLE,
    "substitution": r"`|\$[({]",
    "escaped": r"\\.",
    "end": r";\s*\Z",
    "lines": r"\n",
    "comment": r"#",
    "operator": r"[|;&<>()]",
    "open": r"""\$?'|\"""",
    "plain": r".[^ \t\u00a0\\'\"$`#\n|;&<>()]*+",
}
_NEVER = r"(?!)"
_CMD_PARTS = {
    **_POSIX_PARTS,
    **dict.fromkeys(("single", "ansi", "variable", "substitution"), _NEVER),
    "joined": r"\\(?:\n|\Z)",
    "double": r'"(?:[^"\\]|""|\\["$`\\]|\\)*+"',
    "open": '"',
}
_POWERSHELL_PARTS = {
    **_POSIX_PARTS,
    "joined": r'`\n|\$(?=")',
    "single": r"'(?:[^']|'')*+'",
    "double": r'"(?:[^"`]|""|`.)*+"',
    "substitution": r"\$[({]",
    "escaped": r"`.?",
}
#: What double quotes do not take literally.
_POSIX_QUOTED = {
    "variable": _VARIABLE,
    "substitution": r"`|\$[({]",
    "escaped": r'\\[$`"\\]',
    "joined": r"\\\n",
}
_CMD_QUOTED = {"escaped": r'\\[$`"\\]|""', "joined": r"\\\n"}
_POWERSHELL_QUOTED = {
    "variable": _VARIABLE,
    "substitution": r"\$[({]",
    "joined": r"`\n",
    "escaped": r'`.|""',
}


def _pattern(parts: Mapping[str, str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{name}>{part})" for name, part in parts.items()), re.DOTALL)


#: Patterns of a command's parts, and of those in double quotes.
_PATTERNS = {
    Shell.POSIX: (_pattern(_POSIX_PARTS), _pattern(_POSIX_QUOTED)),
    Shell.CMD: (_pattern(_CMD_PARTS), _pattern(_CMD_QUOTED)),
    Shell.POWERSHELL: (_pattern(_POWERSHELL_PARTS), _pattern(_POWERSHELL_QUOTED)),
}
_PATTERNS[Shell.WINDOWS_POWERSHELL] = _PATTERNS[Shell.POWERSHELL]


def _split(text: str, shell: Shell) -> list[str]:
    """Return the words of a command in one pass."""
    words: list[str] = []
    #: Parts of the current word, None between words.
    word: list[str] | None = None
    pattern = _PATTERNS[shell][0]
    at = 0
    while part := pattern.match(text, at):
        at = part.end()
        match part.lastgroup:
            case "joined":
                continue
            case "comment" if word is None:
                end = text.find("\n", at)
                at = len(text) if end < 0 else end
            case "space" | "lines" | "end":
                if word is not None:
                    words.append("".join(word))
                word = None
                if part.lastgroup == "lines" and text[at:].strip():
                    raise ShellError(_SEVERAL_COMMANDS)
            case _:
                word = word or []
                word.append(_text_of(part, shell))
    return words if word is None else [*words, "".join(word)]


def _text_of(part: re.Match[str], shell: Shell) -> str:
    """Return what a part of a command stands for."""
    text = part[0]
    match part.lastgroup:
        case "operator":
            raise ShellError(
                f"The command contains {_OPERATORS[text]} (“{text}”). Only a single "
                "curl command can be imported."
            )
        case "open":
            raise ShellError(_UNCLOSED_QUOTE)
        case "substitution":
            raise ShellError(_SUBSTITUTION)
        case "single":
            return text[1:-1] if shell is Shell.POSIX else text[1:-1].replace("''", "'")
        case "double":
            quoted = _PATTERNS[shell][1]
            return quoted.sub(lambda found: _text_of(found, shell), text[1:-1])
        case "ansi":
            bare = text[2:-1].encode("utf-8", "replace").decode()
            # Escaped single bytes form characters once they are joined.
            whole = _ESCAPE.sub(_unescape, bare).encode("utf-8", "surrogateescape")
            return whole.decode("utf-8", "replace")
        case "variable":
            return "{{" + text.strip("${}").removeprefix("env:") + "}}"
        case "joined":
            return ""
        case "escaped":
            following = text[1:]
            is_letter = text.startswith("`")
            return _POWERSHELL_LETTERS.get(following, following) if is_letter else following
    return text


def _unescape(found: re.Match[str]) -> str:
    """Return the text of an escape of $'…'."""
    hexadecimal, halves, short, long, octal, letter = found.groups()
    if letter is not None:
        return _LETTERS.get(letter, found[0])
    if octal or hexadecimal:
        byte = int(octal, 8) & 0xFF if octal else int(hexadecimal, 16)
        return chr(byte) if byte < 0x80 else chr(0xDC00 + byte)
    if halves is not None:  # Browsers write surrogate pairs, as in JavaScript.
        return str(json.loads(f'"\\{halves}"'))
    code = int(short or long, 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
