"""Attempts to log in: how many are allowed from an address, for a user, and from a known browser.

The attempts are rows, so that all web processes count the same. An attempt is stored before its
password is checked, and deleted when it was right: attempts at the same time count, too.

Nobody can lock out another user. Attempts count for their address. A user who is attacked from
many addresses has fewer attempts from each of them, but never none. A browser in which the user
has logged in before has a count of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.db import models
from django.utils import timezone
from django.utils.crypto import salted_hmac

#: The time for which an attempt counts.
WINDOW = timedelta(minutes=15)
#: Attempts from one address or known browser for one user, and from one address for all users.
MAX_FOR_USER, MAX_FROM_ADDRESS = 5, 20
#: Attempts for one user from all addresses after which each address has only one.
MAX_BEFORE_ATTACK = 20


class LoginAttempt(models.Model):
    """An attempt that failed, or whose password is being checked."""

    #: Digests: the text may be a password that was typed into the wrong field.
    name = models.CharField(max_length=64)
    address = models.CharField(max_length=64)
    #: Key of a browser in which the user has logged in before; "" for others.
    browser = models.CharField(max_length=64)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-at"]
        indexes = [
            models.Index(fields=["address", "at"], name="login_attempt_address"),
            models.Index(fields=["name", "at"], name="login_attempt_name"),
            models.Index(fields=["at"], name="login_attempt_at"),
        ]

    def __str__(self) -> str:
        return f"attempt at {self.at:%H:%M:%S}"

    @classmethod
    def begin(cls, name: str, address: str, browser: str) -> LoginAttempt:
        """Store an attempt; without a key if there were too many: see `wait`."""
        attempt = cls(name=_digest(name), address=_digest(address), browser=browser)
        if not attempt.wait:
            attempt.save()
            cls.objects.filter(at__lte=timezone.now() - WINDOW).delete()
            if attempt.wait:  # Others were stored at the same time.
                attempt.delete()
        return attempt

    @property
    def wait(self) -> timedelta:
        """Return the time until this attempt is allowed."""
        now = timezone.now()
        earlier = LoginAttempt.objects.filter(at__gt=now - WINDOW)
        if self.pk:
            earlier = earlier.filter(pk__lt=self.pk)
        ends = [timedelta()]
        for attempts, limit in self._limits(earlier):
            latest = list(attempts.values_list("at", flat=True)[:limit])
            if len(latest) == limit:
                ends.append(latest[-1] + WINDOW - now)
        return max(ends)

    def _limits(
        self, earlier: models.QuerySet[LoginAttempt]
    ) -> Iterator[tuple[models.QuerySet[LoginAttempt], int]]:
        """Yield the attempts that count for this one, and how many are allowed."""
        if self.browser:
            yield earlier.filter(name=self.name, browser=self.browser), MAX_FOR_USER
            return
        strangers = earlier.filter(browser="")
        of_user = strangers.filter(name=self.name)
        is_attacked = of_user.count() >= MAX_BEFORE_ATTACK
        yield strangers.filter(address=self.address), MAX_FROM_ADDRESS
        yield of_user.filter(address=self.address), 1 if is_attacked else MAX_FOR_USER

    def succeed(self) -> None:
        """Delete this attempt and the earlier ones of the user from there."""
        mine = LoginAttempt.objects.filter(name=self.name, browser=self.browser)
        mine.filter(address=self.address).delete()


def _digest(text: str) -> str:
    return salted_hmac("playground.login", text, algorithm="sha256").hexdigest()
