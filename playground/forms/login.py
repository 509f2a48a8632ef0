"""The log-in of a hosted playground, limited: see `playground.models.logins`."""

from __future__ import annotations

import logging
import threading
from ipaddress import ip_address, ip_network
from math import ceil
from typing import Any

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.crypto import get_random_string

from playground.models.logins import LoginAttempt

logger = logging.getLogger(__name__)

#: Passwords that are checked at once in this process: each check takes a core for some tenths of a
#: second. And the seconds that an attempt waits for its turn.
MAX_CHECKS, MAX_WAIT = 2, 10
_checks = threading.BoundedSemaphore(MAX_CHECKS)
#: The cookie of a browser in which a user has logged in, and its lifetime in seconds.
BROWSER_COOKIE, BROWSER_LIFETIME = "playground_browser", 365 * 24 * 3600


class LoginForm(AuthenticationForm):
    """A form that checks a password if the attempt is allowed."""

    request: HttpRequest
    #: Seconds until the next attempt is allowed; 0 if this one was.
    retry_after = 0

    def clean(self) -> dict[str, Any]:
        """Check the password. Raise `ValidationError` also for an attempt that is not allowed."""
        name, address = self.cleaned_data.get("username"), client_address(self.request)
        if not name or not self.cleaned_data.get("password"):
            return self.cleaned_data
        self._name = name
        attempt = LoginAttempt.begin(name, address, self._known_browser())
        if attempt.pk is None:
            logger.warning("Log-in refused: too many attempts from %s", address)
            raise self._refusal(ceil(attempt.wait.total_seconds()) or 1)
        if not _checks.acquire(timeout=MAX_WAIT):
            attempt.delete()
            raise self._refusal(MAX_WAIT)
        try:
            cleaned: dict[str, Any] = super().clean()
        except ValidationError:
            logger.warning("Log-in failed from %s", address)
            raise
        finally:
            _checks.release()
        attempt.succeed()
        return cleaned

    def _refusal(self, seconds: int) -> ValidationError:
        self.retry_after = seconds
        minutes = ceil(seconds / 60)
        time = f"{minutes} minutes" if minutes > 1 else "a minute"
        return ValidationError(f"Too many attempts to log in. Try again in {time}.")

    @property
    def _salt(self) -> str:
        return f"browser of {self._name}"

    def _known_browser(self) -> str:
        """Return the key of a browser in which the user has logged in before, "" for others."""
        found = self.request.get_signed_cookie(
            BROWSER_COOKIE, "", salt=self._salt, max_age=BROWSER_LIFETIME
        )
        return str(found)

    def remember_browser(self, response: Any) -> None:
        """Set the cookie of a browser in which the user has logged in."""
        response.set_signed_cookie(
            BROWSER_COOKIE,
            get_random_string(32),
            salt=self._salt,
            max_age=BROWSER_LIFETIME,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )


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
    if address.version == 6 and not address.ipv4_mapped:
        return str(ip_network((address, 48), strict=False))
    return str(address)
