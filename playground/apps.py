"""The Django app: registers system checks."""

from django.apps import AppConfig


class PlaygroundConfig(AppConfig):
    """The playground."""

    name = "playground"
    verbose_name = "NLWeb Playground"

    def ready(self) -> None:
        """Register the system checks."""
        from playground import checks  # noqa: F401
