"""The origin of a URL, one form for every spelling; and the URL of an agent's other binding."""

from __future__ import annotations

import ipaddress

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from playground.protocols.origins import (
    base_path,
    is_allowed_origin,
    normalize_url,
    origin_of,
    same_origin,
    url_label,
    url_over_binding,
    with_port,
)

#: URL -> its origin; "" for none.
ORIGINS = {
    # What belongs to it and what does not.
    "https://agent.example": "https://agent.example",
    "https://agent.example/": "https://agent.example",
    "https://agent.example/ask?a=b#c": "https://agent.example",
    "https://agent.example?a=b": "https://agent.example",
    "https://agent.example#a": "https://agent.example",
    "http://agent.example:8080": "http://agent.example:8080",
    "http://127.0.0.1:8000/demo": "http://127.0.0.1:8000",
    # Case.
    "HTTPS://Agent.EXAMPLE/Ask": "https://agent.example",
    # Ports.
    "http://a.example:80": "http://a.example",
    "https://a.example:443/": "https://a.example",
    "http://a.example:443": "http://a.example:443",
    "https://a.example:80": "https://a.example:80",
    "http://a.example:": "http://a.example",
    "http://a.example:00080": "http://a.example",
    "http://a.example:08000": "http://a.example:8000",
    "http://a.example:65535": "http://a.example:65535",
    "http://a.example:65536": "",
    "http://a.example:100000": "",
    "http://a.example:0": "",
    "http://a.example:00": "",
    "http://a.example:-1": "",
    "http://a.example:+80": "",
    "http://a.example:8_0": "",
    "http://a.example:port": "",
    "http://a.example:８０": "",
    "http://a.example:80:80": "",
    # Other schemes: the same, but none of their ports goes without saying.
    "ws://a.example": "ws://a.example",
    "wss://a.example:443": "wss://a.example:443",
    "grpc://a.example:50051": "grpc://a.example:50051",
    "git+ssh://a.example": "git+ssh://a.example",
    "javascript:alert(1)": "",
    "mailto:me@a.example": "",
    "file:///etc/passwd": "",
    # Who logs in.
    "https://me:secret@a.example:8443/ask": "https://a.example:8443",
    "https://me@a.example": "https://a.example",
    "https://@a.example": "https://a.example",
    "https://agent.example@evil.example/": "https://evil.example",
    "https://agent.example:443@evil.example:8443/": "https://evil.example:8443",
    "https://a@agent.example@evil.example": "https://evil.example",
    "https://agent.example@/": "",
    "https://agent.example/@evil.example": "https://agent.example",
    "https://agent.example?@evil.example": "https://agent.example",
    "https://agent.example#@evil.example": "https://agent.example",
    # What parsers differ over.
    "http://agent.example\\@evil.example/": "",
    "http://evil.example\\.agent.example/": "",
    "http://agent.example\\/": "",
    "http:\\\\agent.example": "",
    "http://agent.example\t.evil.example": "",
    "http://agent.example\n/": "",
    "ht\ntp://agent.example/": "",
    "http://agent.example\x00/": "",
    "http://agent.example\x7f/": "",
    "http://agent.example /": "",
    "http://agent.example\u00a0/": "",
    "http://agent.example\u2028/": "",
    "http://agent.example\ud800/": "",
    " http://agent.example/": "",
    "\x00http://agent.example/": "",
    "http://a.example/white space\tafter\\it": "http://a.example",
    # IPv6.
    "http://[::1]:8000/ask": "http://[::1]:8000",
    "http://[::1]:80/": "http://[::1]",
    "http://[2001:DB8::A]/": "http://[2001:db8::a]",
    "http://[::ffff:1.2.3.4]/": "http://[::ffff:1.2.3.4]",
    "http://[FE80::1%25Eth0]/": "http://[fe80::1%25Eth0]",
    "http://[fe80::1%25eth0]/": "http://[fe80::1%25eth0]",
    "http://[fe80::1]/": "http://[fe80::1]",
    "http://[::0001]/": "http://[::0001]",
    "http://[::1": "",
    "http://::1]/": "",
    "http://::1/": "",
    "http://[]/": "",
    "http://[a.example]/": "",
    "http://a.example[::1]/": "",
    "http://[::1]a.example/": "",
    "http://[::1]:80:80/": "",
    # Hosts that are not converted.
    "http://a.example./": "http://a.example.",
    "http://127.1/": "http://127.1",
    "http://0x7f.0.0.1/": "http://0x7f.0.0.1",
    "http://%61.example/": "http://%61.example",
    "http://a_b.example/": "http://a_b.example",
    "http://BÜCHER.example/": "http://bücher.example",
    "http://XN--BCHER-KVA.example/": "http://xn--bcher-kva.example",
    "http://faß.example/": "http://faß.example",
    "http://fass.example/": "http://fass.example",
    "http://a.example.evil.example/": "http://a.example.evil.example",
    "http://evil-a.example/": "http://evil-a.example",
    "http://localhost/": "http://localhost",
    "http://\u212a.example/": "http://k.example",
    # Characters that become others: two dots in one, letters in a circle, an "a/c".
    "http://a．example/": "",
    "http://a。example/": "http://a。example",
    "http://ⓐ.example/": "",
    "http://a℀.example/": "",
    "http://bu\u0308cher.example/": "",
    "http://us℀er@a.example/": "",
    # No address.
    "": "",
    "kitchen": "",
    "a.example:80": "",
    "//a.example/": "",
    "/ask": "",
    "http:a.example": "",
    "http:/a.example": "",
    "http:///a.example": "",
    "http://": "",
    "http://:80": "",
    "1http://a.example": "",
    "{{base}}/ask": "",
    "https://{{host}}/ask": "https://{{host}}",
    "https://a.example:{{port}}/ask": "",
}


@pytest.mark.parametrize(("url", "origin"), ORIGINS.items())
def test_the_origin_of_a_url(url: str, origin: str) -> None:
    assert origin_of(url) == origin


@pytest.mark.parametrize("url", ORIGINS)
def test_two_urls_have_the_same_origin_where_it_is_equal_and_nonsense_has_none(url: str) -> None:
    for other, origin in ORIGINS.items():
        same = bool(origin) and ORIGINS[url] == origin
        assert same_origin(url, other) is same_origin(other, url) is same, other
        assert same_origin(url, origin) is same_origin(origin, url) is same, origin


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://a.example/ask", True),
        ("https://A.example:443", True),
        ("http://127.0.0.1:8000/", True),
        ("https://www.a.example/", False),
        ("http://a.example/", False),
        ("https://a.example.evil/", False),
        ("", False),
    ],
)
def test_allowed_origins(url: str, allowed: bool) -> None:
    origins = ("https://a.example", "http://127.0.0.1:8000")
    assert is_allowed_origin(url, origins) is allowed
    assert not is_allowed_origin(url, ())


@pytest.mark.parametrize(
    ("origin", "written"),
    [
        ("http://a.example", "http://a.example:80"),
        ("https://a.example", "https://a.example:443"),
        ("https://a.example:80", "https://a.example:80"),
        ("https://[::1]", "https://[::1]:443"),
        ("http://2130706433", "http://2130706433:80"),
        ("http://2130706433:8080", "http://2130706433:8080"),
        ("https://[::1]:8443", "https://[::1]:8443"),
        ("ws://a.example", "ws://a.example"),
        ("", ""),
    ],
)
def test_the_port_of_an_origin_can_be_written_out(origin: str, written: str) -> None:
    assert with_port(origin) == written
    assert origin_of(written) == origin


# What the HTTP client connects to decides.

#: Pieces with meaning to one parser or another, so that near misses are frequent.
PIECES = st.sampled_from(
    [
        *"http https HTTP ws :// // / : @ [ ] % ? # \\ . .. - _ ~ ; & = ! $ ' ( ) * + ,".split(),
        *"a b A a.example A.Example xn--bcher-kva bücher BÜCHER ß ss ı İ K Σ σ ς 。 ． ⓐ ℀".split(),
        *":: ::1 fe80::1 FE80::1 %25eth0 %ETH0 1.2.3.4 0 00 80 443 8080 65535 65536 ８０".split(),
        *('"', "<", ">", "{", "}", "|", "^", "`", "\u212a", "\u200b", "\u2028"),
        *(" ", "\t", "\n", "\r", "\x00", "\x1f", "\x7f", "\x85", "\xa0"),
    ]
)
HOSTS = st.sampled_from(
    "a.example A.Example a.example. 1.2.3.4 [::1] [FE80::1%25eth0] [fe80::1%25ETH0] bücher.example"
    " BÜCHER.example xn--bcher-kva.example faß.example".split()
)
ODD_URLS = st.lists(PIECES, max_size=9).map("".join)
AUTHORITIES = st.builds(
    "{}://{}{}{}{}".format,
    st.sampled_from(["http", "HTTP", "https"]),
    st.sampled_from(["", "", "me@", "me:x@", "a.example@"]),
    HOSTS | st.lists(PIECES, min_size=1, max_size=4).map("".join),
    st.sampled_from(["", ":", ":80", ":443", ":080", ":8080", ":0", ":65536"]),
    st.sampled_from(["", "/", "/ask", "?q=@b", "#@b", "\\@b", "/ "]),
)
URLS = AUTHORITIES | ODD_URLS


def _connection(url: str) -> tuple[str, str, int | None] | None:
    """Scheme, host and port that httpx connects to and names; None if it refuses the URL."""
    try:
        parsed = httpx.URL(url)
        host = parsed.raw_host.decode("ascii")
    except (httpx.InvalidURL, ValueError):
        return None
    try:
        # The spelling of an IP address is lower-case to every resolver; its zone is not.
        name, percent, zone = host.partition("%")
        ipaddress.IPv6Address(host)
        host = name.lower() + percent + zone
    except ValueError:
        pass
    default = {"http": 80, "https": 443}.get(parsed.scheme)
    return parsed.scheme, host, default if parsed.port is None else parsed.port


@given(URLS, URLS)
@example("http://a:0", "http://a")
@example("http://[fe80::1%25eth0]", "http://[fe80::1%25ETH0]")
@example("http://b\\@a", "http://a")
@example("http://ab", "http://a\tb")
def test_equal_origins_are_one_connection(left: str, right: str) -> None:
    if same_origin(left, right):
        here, there = _connection(left), _connection(right)
        assert here is None or there is None or here == there


@given(URLS)
@example("http://a\\@b/")
def test_an_origin_is_what_is_connected_to(url: str) -> None:
    origin, there = origin_of(url), _connection(url)
    if origin and there is not None:
        assert _connection(origin) == there


@given(URLS, URLS)
def test_one_connection_is_one_origin_for_plain_hosts(left: str, right: str) -> None:
    here = _connection(left)
    if origin_of(left) and origin_of(right) and f"{left}{right}".isascii() and "%" not in left:
        assert same_origin(left, right) or here is None or here != _connection(right)


@given(st.text())
def test_any_text_has_an_origin_or_none(text: str) -> None:
    assert origin_of(origin_of(text)) == origin_of(text)


HERE = "http://a.example"


@pytest.mark.parametrize(
    ("binding", "own", "url", "others", "expected"),
    [
        # Its own binding: its own address, whatever else there is.
        ("http", "http", f"{HERE}/ask", [("http", f"{HERE}/other")], f"{HERE}/ask"),
        ("mcp", "mcp", f"{HERE}/x", [], f"{HERE}/x"),
        # Derived.
        ("mcp", "http", HERE, [], f"{HERE}/mcp"),
        ("mcp", "http", f"{HERE}/", [], f"{HERE}/mcp"),
        ("mcp", "http", f"{HERE}/api/ask", [], f"{HERE}/api/mcp"),
        ("mcp", "http", f"{HERE}/api/await/", [], f"{HERE}/api/mcp"),
        ("mcp", "http", f"{HERE}/task", [], f"{HERE}/task/mcp"),
        ("mcp", "http", f"{HERE}/ask?key=1#top", [], f"{HERE}/mcp?key=1"),
        ("mcp", "http", f"{HERE}/mcp", [], f"{HERE}/mcp"),
        ("http", "mcp", f"{HERE}/mcp", [], HERE),
        ("http", "mcp", f"{HERE}/demo/mcp/", [], f"{HERE}/demo"),
        ("http", "mcp", f"{HERE}/server", [], f"{HERE}/server"),
        # Another agent of the same origin.
        ("mcp", "http", f"{HERE}/ask", [("mcp", f"{HERE}/tools")], f"{HERE}/tools"),
        ("mcp", "http", f"{HERE}/ask", [("mcp", "HTTP://A.example:80/t")], "HTTP://A.example:80/t"),
        ("mcp", "http", f"{HERE}/ask", [("http", f"{HERE}/tools")], f"{HERE}/mcp"),
        ("mcp", "http", f"{HERE}/ask", [("mcp", "http://b.example/tools")], f"{HERE}/mcp"),
        ("mcp", "http", f"{HERE}/ask", [("mcp", "https://a.example/tools")], f"{HERE}/mcp"),
        ("mcp", "http", f"{HERE}/ask", [("mcp", f"{HERE}:8080/tools")], f"{HERE}/mcp"),
        # Several: the nearest, and among equals the first.
        (
            "mcp", "http", f"{HERE}/b/ask",
            [("mcp", f"{HERE}/a/mcp"), ("mcp", f"{HERE}/b/mcp")], f"{HERE}/b/mcp",
        ),
        (
            "mcp", "http", f"{HERE}/ask",
            [("mcp", f"{HERE}/x"), ("mcp", f"{HERE}/y")], f"{HERE}/x",
        ),
        # Nonsense, here and there.
        ("mcp", "http", "http://[::1", [("mcp", "http://[::1")], "http://[::1"),
        ("mcp", "http", HERE, [("mcp", "http://[::1"), ("mcp", "http://a:x")], f"{HERE}/mcp"),
        ("mcp", "http", "", [], "/mcp"),
    ],
)  # fmt: skip
def test_the_rule_of_the_other_binding(
    binding: str, own: str, url: str, others: list[tuple[str, str]], expected: str
) -> None:
    assert url_over_binding(binding, url, own, others) == expected


bindings = st.sampled_from(["http", "mcp"])
addresses = st.sampled_from(
    [HERE, f"{HERE}/a/mcp", f"{HERE}:80/b", f"{HERE}:81", "https://a.example", "http://b.example/m"]
)


@given(bindings, bindings, addresses, st.lists(st.tuples(bindings, addresses)))
def test_a_new_origin_never_arises(
    binding: str, own: str, url: str, others: list[tuple[str, str]]
) -> None:
    assert same_origin(url_over_binding(binding, url, own, others), url)


@given(bindings, bindings, st.text(), st.lists(st.tuples(bindings, st.text())))
def test_any_text_has_an_address(
    binding: str, own: str, url: str, others: list[tuple[str, str]]
) -> None:
    assert isinstance(url_over_binding(binding, url, own, others), str)


@pytest.mark.parametrize(
    ("path", "base"),
    [("", ""), ("/", ""), ("/ask", ""), ("/a/ask/", "/a"), ("/a/mcp", "/a"), ("/mask", "/mask")],
)
def test_the_base_of_an_agent(path: str, base: str) -> None:
    assert base_path(path) == base


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        (HERE, f"{HERE}/"),
        (f"{HERE}/", f"{HERE}/"),
        ("HTTP://A.Example:80", f"{HERE}/"),
        ("https://a.example:443/Ask#top", "https://a.example/Ask"),
        ("https://Me:X@A.example?site=b", "https://Me:X@a.example/?site=b"),
        ("http://[::1]:8000", "http://[::1]:8000/"),
        ("http://us\u2100er@a.example/", "http://us\u2100er@a.example/"),
        ("nonsense", "nonsense"),
    ],
)
def test_the_normal_form_of_a_url(url: str, normal: str) -> None:
    assert normalize_url(url) == normal


@pytest.mark.parametrize(
    ("url", "name"),
    [
        (HERE, "a.example"),
        ("https://A.example:443/", "a.example"),
        ("http://a.example:8000", "a.example:8000"),
        ("http://[::1]:8000/ask/", "[::1]:8000/ask"),
        (f"{HERE}/soups/ask?site=b#top", "a.example/soups/ask?site=b"),
        ("http://a.example:99999/", "http://a.example:99999/"),
        ("nonsense", "nonsense"),
        ("http://us\u2100er@a.example/", "http://us\u2100er@a.example/"),
        (f"{HERE}/{'x' * 90}/soups/ask", f"a.example/{'x' * 30}…{'x' * 29}/soups/ask"),
    ],
)
def test_the_name_of_an_agent_at_an_address(url: str, name: str) -> None:
    assert url_label(url, 80) == name


@given(st.text(), st.integers(2, 90))
def test_any_text_has_a_name_and_a_normal_form(text: str, most: int) -> None:
    assert len(url_label(text, most)) <= most
    assert normalize_url(normalize_url(text)) == normalize_url(text)
