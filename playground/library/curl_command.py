"""What the words of a curl command say, option by option: see `curl`."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from urllib.parse import quote, unquote, urlsplit

from playground.library.curl_options import OPTIONS, OptionSupport
from playground.variables.names import PLACEHOLDER

#: An address up to its host: the scheme, and who logs in there.
_LOGIN = re.compile(r"((?:https?://)?)([^/?#\s]*)@", re.IGNORECASE)


class CurlCommand:
    """What the words of a command say."""

    def __init__(self) -> None:
        self.address = ""
        self.method = ""
        self.get = False
        self.headers: list[tuple[str, str]] = []
        #: As `SavedRequest.auth`, where a `{{name}}` stands for the password.
        self.auth: dict[str, str] = {}
        #: What goes into the query string beside the address.
        self.queries: list[str] = []
        self.refusals: list[str] = []
        self._data: list[str] = []
        self._has_data = False
        self._has_user = False
        self._ignored: list[str] = []
        self._remarks: list[str] = []

    @property
    def body(self) -> str | None:
        """All data, joined as curl joins it; None where there is none."""
        return "&".join(self._data) if self._has_data else None

    def remarks(self) -> Iterator[str]:
        """What the reader has to know about the options."""
        yield from self._remarks
        if self._ignored:
            names = ", ".join(dict.fromkeys(self._ignored))
            yield f"Passed over, because it is about curl and not about the request: {names[:300]}."

    def read(self, words: list[str]) -> None:
        """Take all words in."""
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
        if not self.address and not self.refusals:
            self.refusals.append("The command has no address in it.")
        self._log_in()

    def _cluster(self, word: str, rest: Iterator[str]) -> None:
        """Short options in one word, the value of the last one perhaps among them."""
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
            self.refusals.append(f"The option {word[:40]} is not known here.")
            return
        value = ""
        if option.valued:
            given = next(rest, None)
            if given is None:
                self.refusals.append(f"The option {name} needs a value: the command is cut short.")
                return
            value = given
        if option.use is OptionSupport.UNSUPPORTED:
            self.refusals.append(f"The option {name} {option.why}.")
        elif option.use is OptionSupport.IGNORED:
            self._ignored.append(name)
        else:
            self._take(option.name, name, value)

    def _take(self, option: str, name: str, value: str) -> None:
        match option:
            case "request":
                self.method = value
            case "url":
                self._url(value)
            case "get":
                self.get = True
            case "header":
                self._header(name, value)
            case "user":
                self._user(value)
            case "oauth2-bearer":
                self.headers.append(("Authorization", f"Bearer {value}"))
            case "user-agent" | "referer":
                self._ignored.append(name)
            case "cookie":
                self._cookie(name, value)
            case "url-query":
                self._query(name, value)
            case _:
                self._add_data(option, name, value)

    def _url(self, value: str) -> None:
        if self.address:
            # The value of an option that is not known looks like one, too.
            if not self.refusals:
                self.refusals.append("The command has two addresses; one request can be taken.")
        elif (scheme := _scheme(value)) not in ("", "http", "https"):
            self.refusals.append(f"The address is one of {scheme}; agents are asked over HTTP.")
        else:
            self.address = value

    def _header(self, name: str, value: str) -> None:
        if value.startswith("@"):
            self.refusals.append(f"The option {name} reads headers from the file {value[:60]}.")
            return
        key, colon, text = value.partition(":")
        if colon and text.strip():
            self.headers.append((key.strip(), text.strip()))
        elif not colon and value.endswith(";"):
            self.headers.append((value[:-1].strip(), ""))

    def _log_in(self) -> None:
        """Take who logs in out of the address; curl sends it like `--user`, which goes first."""
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

    def _cookie(self, name: str, value: str) -> None:
        if "=" not in value:
            self.refusals.append(f"The option {name} reads cookies from the file {value[:60]}.")
        else:
            self._remarks.append("Cookies are left out: the playground sends none.")

    def _query(self, name: str, value: str) -> None:
        if (text := self._encoded(name, value.removeprefix("+"))) is not None:
            self.queries.append(value[1:] if value.startswith("+") else text)

    def _add_data(self, option: str, name: str, value: str) -> None:
        if option == "data-urlencode":
            text = self._encoded(name, value)
        elif option != "data-raw" and value.startswith("@"):
            self.refusals.append(
                f"The option {name} reads the body from {_file(value[1:])}, and no file is read "
                "here: put its text into the command."
            )
            return
        else:
            text = value
        if text is None:
            return
        self._has_data = True
        if option == "json":
            # curl's own documentation: several of them are put together without a sign between.
            self.headers.append(("Content-Type", "application/json"))
            self._data = ["".join([*self._data, text])]
        else:
            self._data.append(text)

    def _encoded(self, name: str, value: str) -> str | None:
        """`name=text` as --data-urlencode writes it; None for one that reads a file."""
        key, equals, text = value.partition("=")
        if not equals and "@" in value:
            self.refusals.append(
                f"The option {name} reads {_file(value.partition('@')[2])}, and no file is read "
                "here."
            )
            return None
        if not equals:
            return quote(value, safe="")
        return f"{key}={quote(text, safe='')}" if key else quote(text, safe="")


def _file(name: str) -> str:
    return "standard input" if name == "-" else f"the file {name[:60]}"


def _scheme(url: str) -> str:
    try:
        return urlsplit(url).scheme if "://" in url else ""
    except ValueError:
        return ""
