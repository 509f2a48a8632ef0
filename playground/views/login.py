"""The log-in of a hosted playground."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import views
from django.http import HttpResponse

from playground.forms.login import LoginForm


class LoginView(views.LoginView):
    """Django's view with limited attempts, and the status 429 beyond them."""

    form_class = LoginForm

    def form_valid(self, form: Any) -> HttpResponse:
        """Log the user in, and remember the browser."""
        response = super().form_valid(form)
        form.remember_browser(response)
        return response

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show the form again."""
        response = super().form_invalid(form)
        if form.retry_after:
            response.status_code = 429
            response.headers["Retry-After"] = str(form.retry_after)
        return response
