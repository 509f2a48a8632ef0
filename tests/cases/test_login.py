"""Attacks on the log-in of a hosted playground: guesses, lock-outs, and checks that take long."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth import password_validation
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.test import Client, RequestFactory, override_settings
from django.urls import path

from playground import urls
from playground.site import login as module
from playground.site.login import LoginForm, LoginView, client_address

PASSWORD = "correct horse"
ATTACKER, HERS = "203.0.113.9", "198.51.100.7"
urlpatterns = [*urls.urlpatterns, path("login/", LoginView.as_view(), name="login")]


@pytest.fixture(autouse=True)
def hosted(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    settings.ROOT_URLCONF = __name__
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    monkeypatch.setattr(module.time, "time", lambda: 1_000_000.0)  # In the middle of a window.
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names whose passwords were checked."""
    found: list[str] = []
    original = module.forms.authenticate
    monkeypatch.setattr(
        module.forms,
        "authenticate",
        lambda request, **given: found.append(given["username"]) or original(request, **given),
    )
    return found


@pytest.fixture
def alice() -> User:
    return User.objects.create_user("alice", password=PASSWORD)


def log_in(
    name: str, password: str = "wrong", address: str = ATTACKER, client: Client | None = None
) -> Any:
    fields = {"username": name, "password": password}
    return (client or Client()).post("/login/", fields, REMOTE_ADDR=address)


def statuses(count: int, attempt: Callable[[int], Any]) -> Counter[int]:
    return Counter(attempt(number).status_code for number in range(count))


def test_guesses_from_one_address(alice: User, checked: list[str]) -> None:
    assert statuses(30, lambda _: log_in("alice")) == {200: 5, 429: 25}
    assert checked == ["alice"] * 5
    # Not even the right one; nor with spaces around the name, or other forms of its letters.
    for name in ("alice", " alice ", "ａlice"):
        assert log_in(name, PASSWORD).status_code == 429
    response = log_in("alice")
    assert response.headers["Retry-After"] == "800"
    assert "Too many attempts to log in. Try again in 13 minutes." in response.content.decode()
    # She is elsewhere.
    assert log_in("alice", PASSWORD, HERS).status_code == 302


def test_guesses_for_many_users_from_one_address(alice: User, checked: list[str]) -> None:
    assert statuses(30, lambda number: log_in(f"user{number}")) == {200: 20, 429: 10}
    assert len(checked) == 20
    assert log_in("alice", PASSWORD, HERS).status_code == 302


def test_guesses_for_one_user_from_many_addresses(alice: User) -> None:
    for number in range(12):
        address = f"203.0.{number}.9"
        codes = statuses(3, lambda _, address=address: log_in("alice", address=address))
        assert codes == (
            {200: 3} if number < 6 else {200: 2, 429: 1} if number == 6 else {200: 1, 429: 2}
        )
    # Her first attempt from an address that nobody has used is allowed.
    assert log_in("alice", PASSWORD, HERS).status_code == 302
    assert log_in("alice", "typo", HERS).status_code == 200
    assert log_in("alice", PASSWORD, HERS).status_code == 429


def test_her_browser_is_not_locked_out_by_an_attacker_at_her_address(alice: User) -> None:
    browser = Client()
    assert log_in("alice", PASSWORD, ATTACKER, browser).status_code == 302
    browser.cookies.pop("playground_session")
    statuses(30, lambda number: log_in(f"user{number}"))
    statuses(10, lambda _: log_in("alice"))
    assert log_in("alice", PASSWORD).status_code == 429
    assert log_in("alice", PASSWORD, ATTACKER, browser).status_code == 302
    # The cookie is hers alone, and has a count of its own.
    User.objects.create_user("bob", password=PASSWORD)
    assert log_in("bob", PASSWORD, ATTACKER, browser).status_code == 429
    assert statuses(9, lambda _: log_in("alice", client=browser)) == {200: 5, 429: 4}
    forged = Client()
    forged.cookies["playground_browser"] = "known"
    assert log_in("alice", PASSWORD, ATTACKER, forged).status_code == 429


def test_log_ins_that_succeed_do_not_count() -> None:
    for number in range(30):  # An office.
        User.objects.create_user(f"user{number}", password=PASSWORD)
        assert log_in(f"user{number}", PASSWORD).status_code == 302
    assert statuses(9, lambda _: log_in("user1", PASSWORD)) == {302: 9}


def test_attempts_are_forgotten(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    statuses(9, lambda _: log_in("alice"))
    monkeypatch.setattr(module.time, "time", lambda: 1_000_800.0)
    assert log_in("alice", PASSWORD).status_code == 302


def test_an_incomplete_form_counts_nothing(alice: User) -> None:
    assert statuses(8, lambda _: log_in("", PASSWORD)) == {200: 8}
    assert statuses(8, lambda _: log_in("alice", "")) == {200: 8}
    assert log_in("alice", PASSWORD).status_code == 302


def test_two_passwords_are_checked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    entered, leave = threading.Semaphore(0), threading.Event()
    running, most = 0, 0
    lock = threading.Lock()

    def authenticate(*_: Any, **__: Any) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        entered.release()
        leave.wait(20)
        with lock:
            running -= 1

    monkeypatch.setattr(module.forms, "authenticate", authenticate)
    monkeypatch.setattr(module, "MAX_WAIT", 0.01)

    def attempt(number: int) -> LoginForm:
        data = {"username": f"user{number}", "password": "x"}
        form = LoginForm(RequestFactory().post("/login/", REMOTE_ADDR=f"192.0.2.{number}"), data)
        form.is_valid()
        return form

    threads = [threading.Thread(target=attempt, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    assert entered.acquire(timeout=20)
    assert entered.acquire(timeout=20)
    # The server is busy, which is no failure of theirs.
    late = [attempt(number) for number in range(10, 20)]
    assert all(form.retry_after for form in late)
    leave.set()
    for thread in threads:
        thread.join(20)
    assert most == 2
    assert not attempt(10).retry_after


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (0, "1.1.1.1", "127.0.0.1"),
        (1, "", "127.0.0.1"),
        (1, "9.9.9.9, 1.1.1.1", "1.1.1.1"),
        (2, "9.9.9.9, 1.1.1.1, 10.0.0.1", "1.1.1.1"),
        (2, "1.1.1.1", "127.0.0.1"),
        (1, "\x1b[2J", "127.0.0.1"),
        (1, "2001:db8:1:2:3::4", "2001:db8:1::/48"),
        (1, "2001:db8:1:ffff::9", "2001:db8:1::/48"),
        (1, "::ffff:1.1.1.1", "::ffff:101:101"),
    ],
)
def test_the_address_that_counts(settings: Any, proxies: int, forwarded: str, address: str) -> None:
    settings.PROXIES = proxies
    headers = {"HTTP_X_FORWARDED_FOR": forwarded} if forwarded else {}
    assert client_address(RequestFactory().get("/", **headers)) == address


@pytest.mark.parametrize("password", ["short", "password123", "12345678901", "alice-smith"])
def test_passwords_that_are_easy_to_guess_are_refused(password: str) -> None:
    with pytest.raises(ValidationError):
        password_validation.validate_password(password, User(username="alice-smith"))


def test_attempts_that_cannot_be_counted(alice: User, checked: list[str]) -> None:
    """Without Redis no password is checked, and the page does not blame the user."""
    away = {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://[::1]:1"}
    with override_settings(CACHES={"default": away}):
        response = log_in("alice", PASSWORD)
    assert (response.status_code, response.headers["Retry-After"], checked) == (503, "10", [])
    assert "Log-in is not available. Try again shortly." in response.content.decode()
