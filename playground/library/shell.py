"""The words of a shell command, read without a shell: nothing is run, and nothing looked up.

Quotes, backslashes and continued lines are those of POSIX shells, with the $'…' of bash (its
ANSI-C quoting); what was copied for Windows' cmd.exe is read by its carets. A variable stands
for a secret, as it does in what the playground writes: `$TOKEN` becomes `{{TOKEN}}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

#: Characters of a command.
MAX_TEXT = 2_000_000

_OPERATORS: dict[str, str] = {
    "|": "a pipe",
    ";": "a second command",
    "&": "another command or a job in the background",
    "<": "a file to read from",
    ">": "a file to write to",
    "(": "a subshell",
    ")": "a subshell",
}
_SPACE = " \t"
#: A caret of cmd.exe that stands outside of quotes, group 1.
_CMD = re.compile(r"""\$'(?:[^'\\]|\\.)*'|'[^']*'|"(?:[^"\\]|\\.)*"|\\['"]|(\^"|\^\n)""", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w{0,79})|\{([A-Za-z_]\w{0,79})\})", re.ASCII)
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{1,4})"
    r"|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.))",
    re.DOTALL,
)
_ANSI = re.compile(r"((?:[^'\\]|\\.)*)'", re.DOTALL)
_UNCLOSED = "A quote is never closed: the command is cut short."
_LETTERS = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b",
    "E": "\x1b", "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


class ShellError(ValueError):
    """A command that would do more than send a request, or that is cut short; says what."""


def split_command(text: str) -> list[str]:
    """The words of one command.

    Raises `ShellError` for whatever only a shell could do: substitution, pipes, redirection,
    several commands; and for quotes that are never closed.
    """
    if len(text) > MAX_TEXT:
        raise ShellError("The command is longer than 2 million characters.")
    text = text.replace("\r\n", "\n").strip()
    windows = any(found[1] for found in _CMD.finditer(text))
    return _Splitter(_without_carets(text) if windows else text, variables=not windows).words()


def _without_carets(text: str) -> str:
    """What cmd.exe makes of its carets: they go where they stand outside of plain quotes."""
    parts: list[str] = []
    at, quoted = 0, False
    while at < len(text):
        sign = text[at]
        if sign == "^" and not quoted:
            if text.startswith("\n\n", at + 1):
                parts.append("\n")
                at += 3
                continue
            if text.startswith("\n", at + 1):
                parts.append(" ")
                at += 2
                continue
            parts.append(text[at + 1 : at + 2])
            at += 2
            continue
        quoted ^= sign == '"'
        parts.append(sign)
        at += 1
    return "".join(parts)


# Not shlex: it does not say which signs were quoted ('$A', '|'), cuts words at a #, and takes
# quadratic time for a long word.
class _Splitter:
    """Goes through a command once, from the left."""

    def __init__(self, text: str, *, variables: bool) -> None:
        self._text = text
        self._variables = variables
        self._at = 0
        self._words: list[str] = []
        #: The word under way, None between words.
        self._word: list[str] | None = None
        self._readers: dict[str, Callable[[], None]] = {
            "'": self._single,
            '"': self._double,
            "\\": self._backslash,
            "$": self._dollar,
            "`": self._substitution,
            "\n": self._line,
            "#": self._comment,
        }

    def words(self) -> list[str]:
        """All words."""
        while self._at < len(self._text):
            sign = self._text[self._at]
            self._at += 1
            if sign in _SPACE:
                self._end_word()
            elif sign in self._readers:
                self._readers[sign]()
            elif sign == ";" and not self._text[self._at :].strip():
                break  # Nothing comes behind it.
            elif sign in _OPERATORS:
                raise ShellError(
                    f"The command has {_OPERATORS[sign]} in it (“{sign}”): only a single curl "
                    "command can be taken."
                )
            else:
                self._add(sign)
        self._end_word()
        return self._words

    def _add(self, text: str) -> None:
        if self._word is None:
            self._word = []
        self._word.append(text)

    def _end_word(self) -> None:
        if self._word is not None:
            self._words.append("".join(self._word))
        self._word = None

    def _find(self, sign: str, start: int) -> int:
        found = self._text.find(sign, start)
        if found < 0:
            raise ShellError(_UNCLOSED)
        return found

    def _single(self) -> None:
        if not self._variables:  # cmd.exe knows no single quotes.
            self._add("'")
            return
        end = self._find("'", self._at)
        self._add(self._text[self._at : end])
        self._at = end + 1

    def _double(self) -> None:
        self._add("")
        while True:
            if self._at >= len(self._text):
                raise ShellError(_UNCLOSED)
            sign = self._text[self._at]
            self._at += 1
            if sign == '"':
                return
            if sign == "\\":
                self._escape_in_quotes()
            elif sign == "$" and self._variables:
                self._value()
            elif sign == "`" and self._variables:
                self._substitution()
            else:
                self._add(sign)

    def _escape_in_quotes(self) -> None:
        following = self._text[self._at : self._at + 1]
        if following and following in '$`"\\':
            self._add(following)
            self._at += 1
        elif following == "\n":
            self._at += 1
        else:
            self._add("\\")

    def _backslash(self) -> None:
        following = self._text[self._at : self._at + 1]
        self._at += 1
        if following not in ("", "\n"):  # The newline at the very end is no longer there.
            self._add(following)

    def _dollar(self) -> None:
        if self._text.startswith("'", self._at) and self._variables:
            self._ansi()
        elif self._text.startswith('"', self._at) and self._variables:
            return  # $"…" is a text to be translated: the text itself.
        elif self._variables:
            self._value()
        else:
            self._add("$")

    def _value(self) -> None:
        """A variable, as a name of ours; anything else behind a dollar is a shell's work."""
        if found := _VARIABLE.match(self._text, self._at - 1):
            self._add("{{" + (found[1] or found[2]) + "}}")
            self._at = found.end()
        elif self._text[self._at : self._at + 1] in ("(", "{"):
            self._substitution()
        else:
            self._add("$")

    def _ansi(self) -> None:
        """$'…': up to the next quote that no backslash stands before."""
        found = _ANSI.match(self._text, self._at + 1)
        if found is None:
            raise ShellError(_UNCLOSED)
        bare = found[1].encode("utf-8", "replace").decode()
        # Bytes given one by one are characters once they stand together.
        whole = _ESCAPE.sub(_escaped, bare).encode("utf-8", "surrogateescape")
        self._add(whole.decode("utf-8", "replace"))
        self._at = found.end()

    def _substitution(self) -> None:
        if not self._variables:
            self._add(self._text[self._at - 1])
            return
        raise ShellError(
            "The command has shell substitution in it ($(…), `…` or ${…}), which would run "
            "something else: nothing is run here."
        )

    def _line(self) -> None:
        self._end_word()
        if self._text[self._at :].strip():
            raise ShellError(
                "There are several commands: only a single curl command can be taken. A line that "
                "goes on in the next one has a backslash as its very last sign."
            )

    def _comment(self) -> None:
        if self._word is not None:
            self._add("#")
            return
        end = self._text.find("\n", self._at)
        self._at = len(self._text) if end < 0 else end


def _escaped(found: re.Match[str]) -> str:
    """What an escape of $'…' stands for."""
    hexadecimal, halves, short, long, octal, letter = found.groups()
    if letter is not None:
        return _LETTERS.get(letter, found[0])
    if octal or hexadecimal:
        byte = int(octal, 8) & 0xFF if octal else int(hexadecimal, 16)
        return chr(byte) if byte < 0x80 else chr(0xDC00 + byte)
    if halves is not None:  # Browsers write what JavaScript has: two halves of a character.
        return str(json.loads(f'"\\{halves}"'))
    code = int(short or long, 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
