from __future__ import annotations

from ipaddress import ip_address

import pytest

from playground.transport import OutboundPolicy, check_url
from playground.transport.policy import embedded

LOCAL, HOSTED = OutboundPolicy.from_settings(False, []), OutboundPolicy.from_settings(True, [])

#: Addresses by the rule that refuses them, and whether this holds in local mode too. An IPv4
#: address inside of an IPv6 one is judged by what is inside.
RULES = {
    ("metadata", True): (
        "169.254.169.254 169.254.170.2 168.63.129.16 100.100.100.200 192.0.0.192 fd00:ec2::254 "
        "fd20:ce::254 ::ffff:169.254.169.254 ::ffff:0:169.254.169.254 ::169.254.169.254 "
        "2002:a9fe:a9fe::1 64:ff9b::a9fe:a9fe 64:ff9b:1::a9fe:a9fe 64:ff9b:1:a9fe:a9:fe00:: "
        "64:ff9b:1:a9:fe:a9fe:: 2001:0:808:808::5601:5601"
    ),
    ("link-local", True): "169.254.1.1 fe80::1 fe80::1%eth0 febf::1",
    ("multicast", True): "224.0.0.1 239.255.255.255 ff02::1",
    ("unspecified", True): "0.0.0.0 0.1.2.3 ::",
    ("broadcast", True): "255.255.255.255",
    ("reserved", True): "240.0.0.1 4000::1 64:ff9b:2::1",
    ("loopback", False): (
        "127.0.0.1 127.255.255.254 ::1 ::ffff:127.0.0.1 2002:7f00:1:: 64:ff9b::7f00:1 "
        "2001:0:808:808::80ff:fffe"
    ),
    ("private", False): (
        "10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 fc00::1 fd12:3456:789a::1 "
        "::ffff:10.0.0.1 ::10.0.0.1 2002:c0a8:101::1 64:ff9b:1::a00:1 2001:0:a00:1::f7f7:f7f7"
    ),
    ("shared", False): "100.64.0.1 100.127.255.255 64:ff9b::6440:1",
    ("site-local", False): "fec0::1",
    ("benchmark", False): "198.18.0.1 2001:2::1",
    ("documentation", False): "192.0.2.1 198.51.100.1 203.0.113.1 2001:db8::1 3fff::1",
    ("special", False): "192.0.0.1 192.88.99.1 2001:20::1 100::1",
}
#: Address, the rule that refuses it, whether it is refused in local mode too.
SPECIAL = [
    (address, rule, always)
    for (rule, always), addresses in RULES.items()
    for address in addresses.split()
]
PUBLIC = (
    "8.8.8.8 1.1.1.1 100.63.255.255 100.128.0.1 172.15.255.255 172.32.0.1 169.253.255.255 "
    "223.255.255.255 2606:4700:4700::1111 2a00:1450::1 ::ffff:8.8.8.8 2002:808:808::1 "
    "64:ff9b::808:808 2001:0:808:808::f7f7:f7f7"
).split()


@pytest.mark.parametrize(("address", "rule", "always"), SPECIAL)
def test_special_addresses_are_refused(address: str, rule: str, always: bool) -> None:
    """All when hosted, locally only what no agent has; a refusal does not tell the address."""
    special = ip_address(address)
    refusal = HOSTED.verdict(special, "agent.example")
    assert refusal
    assert (refusal.name, refusal.always) == (rule, always)
    assert (LOCAL.verdict(special) is not None) is always
    assert not [each for each in (address, *embedded(special)) if str(each) in refusal.message]


@pytest.mark.parametrize("address", PUBLIC)
@pytest.mark.parametrize("policy", [LOCAL, HOSTED], ids=["local", "hosted"])
def test_public_addresses_are_called(policy: OutboundPolicy, address: str) -> None:
    assert policy.verdict(ip_address(address)) is None


class TestAllowList:
    @pytest.mark.parametrize("entry", ["10.1.0.0/16", "10.1.2.3", "10.1.2.3/8"])
    def test_networks(self, entry: str) -> None:
        policy = OutboundPolicy.from_settings(True, [entry])
        assert policy.verdict(ip_address("10.1.2.3")) is None
        assert policy.verdict(ip_address("::ffff:10.1.2.3")) is None
        assert policy.verdict(ip_address("192.168.0.1"))

    @pytest.mark.parametrize("entry", ["::1", "[::1]", "::1/128"])
    def test_networks_of_version_6(self, entry: str) -> None:
        assert OutboundPolicy.from_settings(True, [entry]).verdict(ip_address("::1")) is None

    @pytest.mark.parametrize("host", ["agent.internal", "AGENT.internal", "agent.internal."])
    def test_names(self, host: str) -> None:
        policy = OutboundPolicy.from_settings(True, ["Agent.Internal"])
        assert policy.verdict(ip_address("10.0.0.1"), host) is None
        assert policy.verdict(ip_address("10.0.0.1"), "other.internal")
        assert policy.verdict(ip_address("10.0.0.1"), "x.agent.internal")
        assert policy.verdict(ip_address("10.0.0.1"))

    def test_what_is_always_refused_cannot_be_allowed(self) -> None:
        policy = OutboundPolicy.from_settings(True, ["0.0.0.0/0", "::/0", "metadata.internal"])
        assert policy.verdict(ip_address("169.254.169.254"), "metadata.internal")
        assert policy.verdict(ip_address("fe80::1"), "metadata.internal")

    def test_a_mistyped_network_is_an_error(self) -> None:
        with pytest.raises(ValueError, match=r"10\.0\.0\.0/99"):
            OutboundPolicy.from_settings(True, ["10.0.0.0/99"])


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "http://"),
        ("agent.example", "http://"),
        ("//agent.example/", "http://"),
        ("ftp://agent.example/", "http://"),
        ("file:///etc/passwd", "http://"),
        ("javascript:alert(1)", "http://"),
        ("http://", "no host"),
        ("http://:80/", "no host"),
        ("http:///ask", "no host"),
        ("http://user@agent.example/", "user name"),
        ("http://user:secret@agent.example/", "user name"),
        ("http://agent.example:x/", "can’t be parsed"),
        ("http://agent.example:99999/", "port"),
        ("http://agent.example:0/", "port"),
        ("http://agent.example:\u0668\u0660/", "ASCII digits"),
        ("https://xn--a/ask", "can’t be parsed"),
        ("https://xn--bcher-kva++/", "can’t be parsed"),
        ("http://[::1/", "can’t be parsed"),
        ("http://agent.example/a b", "space"),
        ("http://agent.example/\r\nX: y", "control"),
        ("http://agent.example/\u2028", "space"),
        ("http://agent.example\\@other.example/", "backslash"),
        (" http://agent.example/", "space"),
    ],
)
def test_urls_that_cannot_be_called(url: str, words: str) -> None:
    problem = check_url(url)
    assert problem
    assert words in problem
    assert "secret" not in problem


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000/ask",
        "https://agent.example",
        "HTTPS://Agent.Example/ask?x=1#top",
        "http://[::1]:8000/",
        "https://bücher.example/ask",
        "http://agent.example/@someone?mail=a@b",
    ],
)
def test_urls_that_can_be_called(url: str) -> None:
    assert check_url(url) is None


class TestRedirects:
    PUBLIC, PRIVATE = ip_address("93.184.216.34"), ip_address("192.168.1.1")

    def test_a_public_address_leads_to_no_private_one(self) -> None:
        after = LOCAL.after(self.PUBLIC)
        assert after.verdict(self.PUBLIC) is None
        refusal = after.verdict(self.PRIVATE)
        assert refusal
        assert refusal.name == "private"

    def test_an_address_with_a_public_one_in_it_is_public(self) -> None:
        assert LOCAL.after(ip_address("::ffff:93.184.216.34")).verdict(self.PRIVATE)
        assert LOCAL.after(ip_address("::ffff:192.168.1.1")) == LOCAL

    def test_the_allow_list_holds(self) -> None:
        policy = OutboundPolicy.from_settings(False, ["192.168.1.0/24"])
        assert policy.after(self.PUBLIC).verdict(self.PRIVATE) is None
