"""Secrets never reach a frame, in any encoding."""

from __future__ import annotations

import gc
import json
import logging
import re
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from playground.base.limits import RunLimits
from playground.protocols.calls import HttpCall
from playground.protocols.frames import FrameKind
from playground.protocols.headers import is_credential
from playground.protocols.nlweb.legacy import mask_block
from playground.transport import OutboundPolicy, Transport
from playground.transport.redaction import (
    MASK,
    MOST_PENDING,
    MOST_UNMASKED,
    Redactor,
    StreamRedactor,
)
from tests.support.encodings import ENCODINGS
from tests.support.servers import LAST_CHUNK, STREAM_HEAD, chunk, head, reply, serve
from tests.transport.conftest import record

CANARY = "canary-4711"
#: With all that encodings change; one of letters and digits; other scripts; several lines.
SECRETS = [
    'canary>>>?/env+s3"cr\\3t&0815==',
    "sk-Proj9Xa7Bq",
    "пароль-äÖ€😀",
    "a b\nc d e",
    "%41&lt;12=41",
]


_FROZEN = json.loads(Path(__file__).with_name("written_forms.json").read_text("utf-8"))
#: What was found before the search was last rewritten: by secret and name, the secret as written;
#: and of one secret, "+" for each encoding that was found within another one.
FORMS: dict[str, dict[str, str]] = _FROZEN["forms"]
PAIRS: dict[str, Any] = _FROZEN["pairs"]
#: Forms of many bytes for each byte of the secret.
LONG = [name for name, text in FORMS[CANARY].items() if len(text) > 18 * len(CANARY)]


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group()):04x}"


MASKED = MASK.encode()


class TestCall:
    @pytest.mark.parametrize(
        "name",
        (
            "Authorization proxy-authorization Cookie X-API-Key x-goog-api-key X-Auth "
            "X-Auth-Token Client-Secret X-Password X-ApiKey X_SECRET_KEY X-Amz-Signature "
            "X-Session"
        ).split(),
    )
    async def test_credentials_by_name(self, name: str) -> None:
        async with serve(reply(b"{}")) as server:
            call = HttpCall("GET", server.url, ((name, "opaque"), ("X-Other", "plain")))
            frames = await record("", call=call)
        assert f"{name}: opaque\r\n".encode() in server.requests[0]
        assert frames[0].data == server.requests[0].replace(b"opaque", MASKED)

    @pytest.mark.parametrize(
        "name",
        (
            "Accept Content-Type Mcp-Session-Id User-Agent X-Author X-Keyboard X-Tokenizer "
            "Authority"
        ).split(),
    )
    def test_other_headers_are_shown(self, name: str) -> None:
        assert not is_credential(name)

    async def test_known_secrets(self) -> None:
        async with serve(reply(b"{}")) as server:
            call = HttpCall(
                "POST",
                f"{server.url}/ask/{CANARY}?x={CANARY}",
                (("X-Custom", f"id {CANARY}"),),
                json.dumps({"text": CANARY}).encode(),
            )
            frames = await record("", call=call, redact=[CANARY])
        assert server.requests[0].count(CANARY.encode()) == 4
        shown = server.requests[0].replace(CANARY.encode(), MASKED)
        # The length would give away that of the secret.
        length = b"Content-Length: %d" % len(call.body)
        assert length in shown
        assert frames[0].data == shown.replace(length, b"Content-Length: " + MASKED)

    async def test_the_length_of_a_body_without_secrets_is_shown(self) -> None:
        async with serve(reply(b"{}")) as server:
            call = HttpCall("POST", server.url, (("X-Custom", CANARY),), b'{"text": "soup"}')
            frames = await record("", call=call, redact=[CANARY])
        assert b"Content-Length: 16" in frames[0].data

    async def test_values_of_credentials_are_looked_for_in_the_reply(self) -> None:
        headers = (
            ("X-Author", "john smith"),
            ("X-Token", "john"),
            ("X-Key", "four-five-six"),
            ("Authorization", "Bearer opaque-value"),
        )
        body = b"john smith john four-five-six opaque-value"
        async with serve(reply(body, "text/plain")) as server:
            frames = await record("", call=HttpCall("GET", server.url, headers))
        assert frames.body == b"john smith john %b %b" % (MASKED, MASKED)
        assert b"X-Token: " + MASKED in frames[0].data

    async def test_a_call_that_cannot_be_sent(self) -> None:
        call = HttpCall("GET", f"ftp://x/{CANARY}", (("Authorization", "opaque"), ("X-Y", "z")))
        frames = await record("", call=call, redact=[CANARY])
        everything = b"".join(frame.data for frame in frames)
        assert CANARY.encode() not in everything
        assert b"opaque" not in everything
        assert b"X-Y: z" in frames[0].data


class TestReply:
    async def test_head(self) -> None:
        start = head(
            f"200 {CANARY}", x_echo=CANARY, set_cookie="session=opaque; Path=/", content_length="0"
        )
        async with serve(start) as server:
            frames = await record(server.url, redact=[CANARY])
        (shown,) = frames.of(FrameKind.HEAD)
        assert shown.startswith(b"HTTP/1.1 200 " + MASKED + b"\r\nX-Echo: " + MASKED)
        assert b"Set-Cookie: " + MASKED + b"\r\n" in shown

    async def test_events_in_any_pieces(self) -> None:
        stream = f'data: {{"key": "{CANARY}"}}\n\n: {CANARY}\n\ndata: {CANARY}'.encode()
        pieces = [chunk(stream[start : start + 5]) for start in range(0, len(stream), 5)]
        async with serve(STREAM_HEAD, *pieces, LAST_CHUNK) as server:
            frames = await record(server.url, redact=[CANARY])
        assert frames.kinds[3:] == ["EVENT", "COMMENT", "TAIL", "END"]
        assert frames.body == stream.replace(CANARY.encode(), MASKED)

    @pytest.mark.parametrize("size", [1, 3, 7, 1000])
    async def test_bodies_in_any_pieces(self, size: int) -> None:
        body = f'{{"a": "{CANARY}{CANARY[:5]}", "b": "{CANARY}"}}{CANARY[:8]}'.encode()
        pieces = [body[start : start + size] for start in range(0, len(body), size)]
        async with serve(head(content_type="application/json"), *pieces) as server:
            frames = await record(server.url, redact=[CANARY])
        assert frames.body == body.replace(CANARY.encode(), MASKED)

    async def test_evidence_of_an_error(self) -> None:
        end = f"HTTP/1.1 200 OK\r\nSet-Cookie: session=opaque\r\nX-Echo: {CANARY}\r\n\r\n"
        async with serve(STREAM_HEAD, chunk(b"data: 1\n\n"), end.encode()) as server:
            frames = await record(server.url, redact=[CANARY])
        detail = frames.problem.detail
        assert f"X-Echo: {MASK}" in detail
        assert f"Set-Cookie: {MASK}" in detail
        assert CANARY.encode() not in frames[-1].data
        assert b"opaque" not in frames[-1].data

    @pytest.mark.parametrize("encoding", ENCODINGS)
    async def test_every_encoding_everywhere(self, encoding: str) -> None:
        """In values and names of headers, and in pieces of a body, without the plain form."""
        written = ENCODINGS[encoding](CANARY)
        line = written.replace("\n", "")
        name = line if re.fullmatch(r"[\w!#$%&'*+.^`|~-]+", line) else CANARY
        start = f"HTTP/1.1 200 {line}\r\nX-Echo: {line}\r\n{name}: 1\r\nContent-Type: a/b\r\n\r\n"
        body = f'{{"a": "{written}", "b": 1}}'.encode()
        pieces = [body[at : at + 7] for at in range(0, len(body), 7)]
        async with serve(start.encode(), *pieces) as server:
            frames = await record(server.url, redact=[CANARY])
        (shown,) = frames.of(FrameKind.HEAD)
        assert shown.count(MASKED) == 3
        assert frames.body == Redactor([CANARY]).data(body)
        assert MASKED in frames.body
        assert_hidden(CANARY, shown + frames.body)

    async def test_evidence_of_an_error_that_has_several_chunks(self) -> None:
        end = chunk(CANARY[:5].encode()) + chunk(CANARY[5:].encode()) + b"oops\r\n"
        async with serve(STREAM_HEAD, chunk(b"data: 1\n\n") + end) as server:
            frames = await record(server.url, redact=[CANARY])
        assert f"5\n{MASK}\noops" in frames.problem.detail

    async def test_evidence_that_begins_within_a_secret(self) -> None:
        """Of much that was read; what is masked takes less space than before."""
        long = "canary-" + "x" * 593
        async with serve(b"HTTP/1.1 200 OK\r\n" + long.encode() * 20 + b"\r\n\r\n") as server:
            frames = await record(server.url, redact=[long])
        assert MASK in frames.problem.detail
        assert "x" * 10 not in frames.problem.detail

    async def test_evidence_within_the_words_of_an_error(self) -> None:
        async with serve(b"HTTP/1.1 200 OK\r\nSet-Cookie : session=opaque\r\n\r\n") as server:
            frames = await record(server.url)
        assert frames.problem.detail
        assert b"opaque" not in frames[-1].data

    async def test_logs(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        async with serve(head(x_echo=CANARY, set_cookie=CANARY, content_length="0")) as server:
            call = HttpCall("GET", f"{server.url}/{CANARY}", (("Authorization", CANARY),))
            await record("", call=call, redact=[CANARY])
        assert CANARY not in caplog.text


@cache
def encoded(secret: str) -> dict[str, bytes]:
    return {encoding: write(secret).encode() for encoding, write in ENCODINGS.items()}


def assert_hidden(secret: str, shown: bytes) -> None:
    """Assert that no encoding of the secret is in `shown`."""
    for encoding, written in encoded(secret).items():
        assert written not in shown, encoding


class TestEncodings:
    @pytest.mark.parametrize(
        ("encoding", "secret"),
        # Other letters than those of ASCII keep their case.
        [(e, s) for e in ENCODINGS for s in SECRETS if "case" not in e or s.isascii()],
    )
    def test_alone(self, encoding: str, secret: str) -> None:
        written = ENCODINGS[encoding](secret).encode()
        for others in ([], SECRETS, [f"Basic {secret}", b64encode(secret.encode()).decode()]):
            shown = Redactor([secret, *others]).data(b'{"key": "%b"}\n\n' % written)
            assert MASKED in shown
            assert_hidden(secret, shown)

    @pytest.mark.parametrize("encoding", ["JSON", "JSON escapes", "JSON escapes in JSON", "Base64"])
    def test_json_stays_json(self, encoding: str) -> None:
        secret = 'n"canary\\'
        text = ENCODINGS[encoding](secret)
        document = f'{{"a": "{text}", "b": "{text}\\"", "c": "1\\\\{text}\\n"}}'
        shown = json.loads(Redactor([secret]).data(document.encode()))
        assert shown["b"] == f'{MASK}"'
        assert_hidden(secret, json.dumps(shown).encode())
        # The beginning belongs to another character.
        assert json.loads(Redactor(["not"]).data(b'"1\\not"')) == "1\not"
        assert json.loads(Redactor(["note"]).data(b'"1\\note"')) == f"1{MASK}"

    @pytest.mark.parametrize("offset", range(3))
    @pytest.mark.parametrize("length", range(4, 10))
    def test_base64_of_short_secrets(self, offset: int, length: int) -> None:
        """All but the bits of the first character, and those of the last one."""
        secret = "Kj7-b_Zq5"[:length]
        for after in ("", "a", "ab"):
            text = b64encode(b"x" * offset + secret.encode() + after.encode())
            shown = Redactor([secret]).data(text)
            begin, end = -(-8 * offset // 6), -(-8 * (offset + length) // 6)
            assert shown.rstrip(b"=") == text[:begin] + MASKED + text[end:].rstrip(b"=")

    @pytest.mark.parametrize(
        "text",
        [
            '{"url": "https://a.example/?key=4711&w=400&q=%63%61%6e%20%2f", "n": "\\u0063an"}',
            "canary 4711, canary-471, 63616e617279, 63:61:6e:61:72:79:2d:34:37:31",
            "Y2FuYXJ5 LTQ3MTE= &#99;&#97;&#110; &amp;#99; =63=61=6e %5Cu0063 &#x110000; &no;",
            "\\ud83d \\u{110000} %zz &#; \\",
        ],
    )
    def test_other_text_stays(self, text: str) -> None:
        assert Redactor([CANARY]).data(text.encode()) == text.encode()

    def test_a_letter_of_a_header_is_no_part_of_a_character(self) -> None:
        for secret in ("¤key-1", "key-1é"):
            assert Redactor([secret]).data(f"äkey-1退 {secret}".encode()).decode()
            assert MASKED in Redactor([secret]).data(secret.encode("latin-1"))

    def test_within_what_looks_encoded(self) -> None:
        """The text before a secret may end like the beginning of an encoded character."""
        for before in ("key=", "%", "\\\\", "&", "&#", "100%2", "\\u00"):
            shown = Redactor([CANARY]).data(f"{before}{CANARY}".encode())
            assert shown.endswith(MASKED)

    def test_lines_of_an_event(self) -> None:
        lines = ENCODINGS["Base64 in lines"](CANARY)
        event = "".join(f"data: {line}\n" for line in lines.splitlines()) + "\n"
        shown = Redactor([CANARY]).data(event.encode())
        assert MASKED in shown
        assert shown.endswith(b"\n\n")
        assert Redactor(["one key\r\nof lines\r\n"]).data(b"data: one key\ndata: of lines\n\n") == (
            b"data: %b\n\n" % MASKED
        )


def in_pieces(redactor: Redactor, data: bytes, size: int) -> bytes:
    """Return what is shown of a body that arrives in pieces."""
    body = StreamRedactor(redactor)
    pieces = [body.add(data[at : at + size]) for at in range(0, len(data), size)]
    return b"".join([*pieces, body.end()])


#: What may confuse the search: beginnings of encoded characters and of secrets.
BEGINNINGS = [
    "", "\\", "%", "&", "\\\\", "\\u00", "%2", "&#", "&#99", "\n", "\r\n", "data: ", "x", "63",
    "0x", " ", "a", "ab", "tok", "&amp;", "%5C", "Y2Fu", "c",
]  # fmt: skip
FAMILY = ["abab", "aaaa", "token", "token-long", "token-long-er\\"]
secrets = st.sampled_from(SECRETS + FAMILY)
writers = st.sampled_from([ENCODINGS[name] for name in ENCODINGS if "quoted" not in name])
written = st.builds(lambda write, secret: write(secret), writers, secrets)
texts = st.lists(
    written
    | st.sampled_from(BEGINNINGS)
    | st.builds(lambda text, end: text[:end], written, st.integers(0, 40)),
    max_size=6,
).map("".join)


class TestWrittenForms:
    """The forms that `written_forms.json` has: each is found, however the search is written."""

    @pytest.mark.parametrize(
        ("secret", "name"), [(s, n) for s, texts in FORMS.items() for n in texts]
    )
    def test_each(self, secret: str, name: str) -> None:
        assert MASKED in Redactor([secret]).data(b"<%b>" % FORMS[secret][name].encode())

    @pytest.mark.parametrize("outer", PAIRS["outer"])
    def test_one_within_another(self, outer: str) -> None:
        """What is not found today is Base64 and hexadecimal of something else than the secret."""
        secret = PAIRS["secret"]
        redactor = Redactor([secret])
        for inner, mark in zip(PAIRS["inner"], PAIRS["outer"][outer], strict=True):
            if mark == "+":
                written = ENCODINGS[outer](ENCODINGS[inner](secret))
                assert MASKED in redactor.data(b"<%b>" % written.encode()), inner


class TestPieces:
    @given(st.lists(secrets, min_size=1, max_size=3), texts, st.sets(st.integers(1, 400)))
    def test_pieces_together_are_the_whole(
        self, known: list[str], text: str, cuts: set[int]
    ) -> None:
        redactor, data = Redactor(known), text.encode()
        whole = redactor.data(data)
        for ends in (sorted(cuts), range(1, len(data))):
            body = StreamRedactor(redactor)
            starts = [0, *ends]
            pieces = [data[at:end] for at, end in zip(starts, [*ends, len(data)], strict=True)]
            assert b"".join([*map(body.add, pieces), body.end()]) == whole

    @pytest.mark.parametrize("encoding", ENCODINGS)
    def test_in_much_text(self, encoding: str) -> None:
        text = ENCODINGS[encoding](CANARY)
        data = ('{"a": "some words", "b": ["more", 1]}\n' * 200 + text + " and so on" * 50).encode()
        redactor = Redactor([CANARY])
        end = len(data) - 500
        for at in range(end - len(text), end + 10, len(text) // 6):
            body = StreamRedactor(redactor)
            shown = body.add(data[:at]) + body.add(data[at:]) + body.end()
            assert MASKED in shown
            assert len(shown) == len(redactor.data(data))

    @pytest.mark.parametrize("encoding", LONG)
    @pytest.mark.parametrize("size", [1, 31, 1000])
    def test_encodings_of_many_bytes(self, encoding: str, size: int) -> None:
        redactor = Redactor([CANARY])
        data = f'{{"a": "{FORMS[CANARY][encoding]}", "b": 1}}'.encode()
        whole = redactor.data(data)
        assert MASKED in whole
        assert in_pieces(redactor, data, size) == whole

    @pytest.mark.parametrize("outer", ENCODINGS)
    def test_pairs_of_encodings_of_many_bytes(self, outer: str) -> None:
        redactor = Redactor([SECRETS[1]])
        for inner in ENCODINGS:
            data = f'{{"a": "{ENCODINGS[outer](ENCODINGS[inner](SECRETS[1]))}"}}'.encode()
            if len(data) > 1000:
                assert in_pieces(redactor, data, 97) == redactor.data(data), inner

    def test_no_more_is_held_back_than_a_secret_may_have(self) -> None:
        """What is more is masked, because the rest of a secret may follow."""
        body = StreamRedactor(Redactor([CANARY]))
        shown = body.add(b"63")
        for at in range(100):
            shown += body.add(b" " * 10_000)
            assert at * 10_000 - len(shown) < MOST_PENDING
        shown += body.end()
        assert shown.replace(MASKED, b"", 1).strip() == b""
        assert shown.startswith(MASKED)

    def test_only_the_beginning_of_a_secret_is_held_back(self) -> None:
        body = StreamRedactor(Redactor(["secret"]))
        assert body.add(b"some text") == b"some text"
        assert (body.add(b" some sec"), body.add(b"ond")) == (b" some ", b"second")

    @pytest.mark.parametrize(
        ("text", "most"),
        [
            pytest.param(rb"\u4f60\u597d", 0, id="whole-escapes"),
            pytest.param(rb"\u4f60\u597d\u4e", 4, id="cut-escape"),
            pytest.param(rb"\ud83d", 6, id="first-surrogate"),
            pytest.param(b"%a" * 300, 16, id="cut-url"),
            pytest.param(b"a&b_param_value", 0, id="parameter"),
            pytest.param(b"100%_of_something", 0, id="percent"),
            pytest.param(b"\\" * 2000, 16, id="backslashes"),
        ],
    )
    def test_only_the_beginning_of_an_encoded_character_is_held_back(
        self, text: bytes, most: int
    ) -> None:
        assert len(text) - len(StreamRedactor(Redactor([CANARY])).add(text)) <= most


class TestRedactor:
    @pytest.mark.parametrize("secret", ['pa"ss\\wörd-4711', "a/b<c>&'d", "tail\\", "\\u00e9\tü"])
    def test_as_json_in_json(self, secret: str) -> None:
        """A result in a text of a result, as over MCP, and whoever quotes that."""
        redactor = Redactor([secret])
        writers: list[Callable[[str], str]] = [
            json.dumps,
            lambda text: json.dumps(text, ensure_ascii=False),
            lambda text: json.dumps(text).replace("/", "\\/"),
            lambda text: re.sub(r"[<>&]", _escaped, json.dumps(text, ensure_ascii=False)),
        ]
        for inner, outer in product(writers, repeat=2):
            written = outer(inner(secret))
            assert redactor.data(written.encode()).strip(b'\\"') == MASKED, written

    def test_as_a_header_carries_it(self) -> None:
        assert Redactor(["pässword"]).data("pässword".encode("latin-1")) == MASKED

    @pytest.mark.parametrize("number", [40, 600])
    def test_many_secrets(self, number: int, capfd: pytest.CaptureFixture[str]) -> None:
        """All are found. What RE2 says of its patterns, which have parts of them, is not logged."""
        secrets = [sha256(b"%d" % at).hexdigest() for at in range(number)]
        redactor = Redactor(secrets)
        for secret in (secrets[0], secrets[number // 2], secrets[-1]):
            for written in (secret, b64encode(secret.encode()).decode(), secret.encode().hex()):
                assert redactor.data(f"a {written} b".encode()) == b"a %b b" % MASKED
        other = b'{"name": "other text", "number": 1234},' * 1000
        assert redactor.data(other) == other
        assert capfd.readouterr() == ("", "")

    def test_no_pattern_outlives_its_redactor(self) -> None:
        kind = type(re2.compile(b""))

        def number() -> int:
            gc.collect()
            return sum(isinstance(each, kind) for each in gc.get_objects())

        before = number()
        redactor = Redactor(["of this test alone"])
        assert number() > before
        del redactor
        assert number() == before

    def test_a_secret_within_a_secret(self) -> None:
        assert Redactor(["token", "token-long"]).data(b"token-long token") == (
            MASKED + b" " + MASKED
        )

    @pytest.mark.parametrize("secret", ["", "a", "abc"])
    def test_short_values_are_no_secrets(self, secret: str) -> None:
        redactor = Redactor([secret])
        assert not redactor
        assert redactor.data(b"abc") == b"abc"


KEY = b'{"message_type": "api_key", "key_name": "maps", "key_value": "leaked-key-1"}'
HIDDEN = json.dumps({"message_type": "api_key", "key_name": "maps", "key_value": MASK})


def masking() -> Transport:
    return Transport(OutboundPolicy(), RunLimits(max_bytes=1000), mask=mask_block)


class TestMask:
    """What an agent sends by mistake is masked by the protocol, wherever it turns up."""

    async def test_in_a_stream(self) -> None:
        stream = b"data: " + KEY + b"\n\n: " + KEY + b"\n\ndata: 1\n\ndata: " + KEY[:-5]
        async with serve(STREAM_HEAD, chunk(stream), LAST_CHUNK) as server:
            frames = await record(server.url, transport=masking())
        assert frames.kinds[3:] == ["EVENT", "COMMENT", "EVENT", "TAIL", "END"]
        assert frames[3].data == f"data: {HIDDEN}\n\n".encode()
        assert frames[5].data == b"data: 1\n\n"
        assert b"leaked" not in frames.body

    async def test_in_an_event_that_is_too_long(self) -> None:
        stream = b"data: " + KEY[:-1] + b', "x": "' + b"x" * 2000
        async with serve(STREAM_HEAD, chunk(stream), LAST_CHUNK) as server:
            frames = await record(server.url, transport=masking())
        assert frames.problem.limit == "max_bytes"
        assert b"leaked" not in frames.body

    @pytest.mark.parametrize("document", [KEY, KEY.replace(b": ", b":"), b"[" + KEY + b", 1]"])
    def test_in_a_document_however_it_is_cut(self, document: bytes) -> None:
        for cut in range(1, len(document)):
            pieces = StreamRedactor(Redactor(mask=mask_block))
            shown = pieces.add(document[:cut]) + pieces.add(document[cut:]) + pieces.end()
            assert b"leaked" not in shown
            assert b"key-1" not in shown
        pieces = StreamRedactor(Redactor(["leaked-key-1"], mask=mask_block))
        whole = b"".join(pieces.add(bytes([byte])) for byte in document) + pieces.end()
        assert json.loads(whole) == json.loads(document.replace(b"leaked-key-1", MASKED))

    def test_little_of_a_large_document_is_held(self) -> None:
        """A key at the beginning held 31 MB back, which one step then masked."""
        items = b", ".join([b'{"name": "Soup", "text": "%s"}' % (b"x" * 1000)] * 3000)
        document = b'{"results": [' + b", ".join([KEY, items, KEY, items, KEY]) + b"]}"
        pieces, shown = StreamRedactor(Redactor(mask=mask_block)), []
        fed = 0
        for start in range(0, len(document), 65_536):
            piece = document[start : start + 65_536]
            fed += len(piece)
            shown.append(pieces.add(piece))
            assert fed - sum(map(len, shown)) < MOST_UNMASKED + 100
        shown.append(pieces.end())
        assert max(map(len, shown)) < MOST_UNMASKED + 65_536
        expected = document.replace(b"leaked-key-1", MASK.encode())
        assert json.loads(b"".join(shown)) == json.loads(expected)

    def test_a_large_text_without_objects_is_masked_as_a_whole(self) -> None:
        pieces = StreamRedactor(Redactor(mask=mask_block))
        start = b'{"message_type": "api_key", "key_value": "'
        shown = pieces.add(start) + pieces.add(b"leaked" * 400_000) + pieces.end()
        assert b"leaked" not in shown
        assert len(shown) < len(start) + 100

    def test_other_pieces_are_shown_at_once(self) -> None:
        pieces = StreamRedactor(Redactor(mask=mask_block))
        assert pieces.add(b'{"key": ') == b'{"key": '
        assert pieces.add(b'"blue"') == b'"blue"'
        assert pieces.end() == b""

    async def test_in_the_evidence_of_an_error(self) -> None:
        script = (STREAM_HEAD, chunk(b"data: 1\n\n"), b"data: " + KEY + b"\n\n")
        async with serve(*script) as server:
            frames = await record(server.url, transport=masking())
        assert "maps" in frames.problem.detail
        assert b"leaked" not in b"".join(frame.data for frame in frames)
