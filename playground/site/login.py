"""The log-in of a hosted playground: few attempts, and few passwords that are checked at once.

A user cannot be locked out by others. Attempts count for their address. A user who is attacked from
many addresses has fewer attempts from each of them, but never none. A browser in which the user has
logged in before is counted separately.
"""

from __future__ import annotations

import logging
import threading
import time
from ipaddress import ip_address, ip_network
from typing import Any

from django.conf import settings
from django.contrib.auth import forms, views
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac

logger = logging.getLogger(__name__)

#: Seconds for which attempts are counted.
WINDOW = 15 * 60
#: Attempts for one user from an address or a known browser, and from an address for all users. If
#: there were as many for one user, each address has only one.
MAX_FOR_USER, MAX_ATTEMPTS = 5, 20
#: Passwords that a process checks at once: each check takes a core for some tenths of a second. And
#: the seconds that an attempt waits for its turn.
MAX_CHECKS, MAX_WAIT = 2, 10
_checks = threading.BoundedSemaphore(MAX_CHECKS)
#: Cookie of a browser in which a user has logged in, and its lifetime in seconds.
BROWSER_COOKIE, BROWSER_LIFETIME = "playground_browser", 365 * 24 * 3600


class Attempt:
    """An attempt to log in. It counts before the password is checked: many may come at once."""

    def __init__(self) -> None:
        self._window, passed = divmod(int(time.time()), WINDOW)
        #: Seconds until the counters begin again.
        self.left = WINDOW - passed
        self._counters: list[str] = []

    def is_allowed(self, name: str, address: str, browser: str) -> bool:
        """Count the attempt, and return whether it is allowed."""
        if browser:
            return self._count(name, browser) <= MAX_FOR_USER
        if self._count(address) > MAX_ATTEMPTS:
            return False
        from_there = self._count(name, address)
        if from_there > MAX_FOR_USER:
            return False
        return self._count(name, "") <= MAX_ATTEMPTS or from_there == 1

    def _count(self, *names: str) -> int:
        # A digest: the name may be a password that was typed into the wrong field.
        key = salted_hmac("playground.login", repr((self._window, names))).hexdigest()
        self._counters.append(key)
        cache.add(key, 0, WINDOW)
        return cache.incr(key)

    def undo(self) -> None:
        """Do not count it."""
        for key in self._counters:
            cache.decr(key)


class LoginForm(forms.AuthenticationForm):
    """A form that checks a password if the attempt is allowed."""

    request: HttpRequest
    #: Status of a refusal, and the seconds after which to try again; 0 if the attempt was allowed.
    status, retry_after = 429, 0

    def clean(self) -> dict[str, Any]:
        """Check the password. Raise `ValidationError` also for an attempt that is not allowed."""
        name, address = self.cleaned_data.get("username"), client_address(self.request)
        if not name or not self.cleaned_data.get("password"):
            return self.cleaned_data
        attempt, browser = Attempt(), ""
        if self.request.get_signed_cookie(BROWSER_COOKIE, "", name, max_age=BROWSER_LIFETIME):
            browser = self.request.COOKIES[BROWSER_COOKIE]
        try:
            is_allowed = attempt.is_allowed(name, address, browser)
        except Exception as error:  # Redis and other caches have exceptions of their own.
            logger.exception("Log-in refused: attempts cannot be counted")
            self.status, self.retry_after = 503, MAX_WAIT
            raise ValidationError("Log-in is not available. Try again shortly.") from error
        if not is_allowed:
            logger.warning("Log-in refused: too many attempts from %s", address)
            raise self._refusal(attempt.left)
        if not _checks.acquire(timeout=MAX_WAIT):
            attempt.undo()
            raise self._refusal(MAX_WAIT)
        try:
            super().clean()
        except ValidationError:
            logger.warning("Log-in failed from %s", address)
            raise
        finally:
            _checks.release()
        attempt.undo()
        return self.cleaned_data

    def _refusal(self, seconds: int) -> ValidationError:
        self.retry_after = seconds
        time_left = f"{seconds // 60} minutes" if seconds >= 120 else f"{seconds} seconds"
        return ValidationError(f"Too many attempts to log in. Try again in {time_left}.")


class LoginView(views.LoginView):
    """Django's view with limited attempts: 429 beyond them, 503 if they cannot be counted."""

    form_class = LoginForm

    def form_valid(self, form: Any) -> HttpResponse:
        """Log the user in, and remember the browser."""
        response = super().form_valid(form)
        response.set_signed_cookie(
            BROWSER_COOKIE,
            "known",
            form.cleaned_data["username"],
            max_age=BROWSER_LIFETIME,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )
        return response

    def form_invalid(self, form: Any) -> HttpResponse:
        response = super().form_invalid(form)
        if form.retry_after:
            response.status_code = form.status
            response.headers["Retry-After"] = str(form.retry_after)
        return response


def client_address(request: HttpRequest) -> str:
    """Return the address of the client as the outermost of our own proxies has seen it.

    Of an IPv6 address, the network that a site usually has.
    """
    own = str(request.META.get("REMOTE_ADDR", ""))
    seen = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    is_complete = 0 < settings.PROXIES <= len(seen)
    try:
        address = ip_address(seen[-settings.PROXIES].strip() if is_complete else own)
    except ValueError:
        return own
    is_network = address.version == 6 and not address.ipv4_mapped
    return str(ip_network((address, 48), strict=False) if is_network else address)
