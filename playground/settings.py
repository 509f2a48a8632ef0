"""All settings, read from the environment once. docs/settings.md has the table.

Cross-checks live in `playground.checks`, as Django system checks with ids and hints.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import dj_database_url
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from playground.base.installation import (
    FILES_DIR,
    default_data_dir,
    default_fixtures_dir,
    install_command,
)
from playground.base.limits import RunLimits
from playground.base.private_files import decryption_keys, prepare_directory, read_or_create_key
from playground.base.processes import connection_name, this_process

#: Folder of templates, static files and fixtures.
BASE_DIR = FILES_DIR


def _flag(name: str, default: bool) -> bool:
    value = os.environ.get(name, "").strip().lower()
    if not value:
        return default
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name} must be true or false, not {value!r}")


def _number(name: str, default: int, unit: str = "", *, least: int = 1) -> int:
    value = os.environ.get(name, "").strip()
    if not value:
        return default
    if value.isascii() and value.isdigit() and len(value) < 16 and int(value) >= least:
        return int(value)
    raise ImproperlyConfigured(f"{name} must be a whole number{unit}, not {value!r}")


def _list(name: str) -> list[str]:
    return [part.strip() for part in os.environ.get(name, "").split(",") if part.strip()]


def _prepare(directory: Path) -> None:
    try:
        prepare_directory(directory)
    except OSError as error:
        raise ImproperlyConfigured(
            f"The data folder {directory} cannot be used: {error.strerror}."
            " Set PLAYGROUND_DATA_DIR to a folder that can be written."
        ) from error


# --- what kind of playground this is ---------------------------------------------------------

PLAYGROUND_MODE = os.environ.get("PLAYGROUND_MODE", "local")
if PLAYGROUND_MODE not in {"local", "hosted"}:
    raise ImproperlyConfigured(f"PLAYGROUND_MODE must be local or hosted, not {PLAYGROUND_MODE!r}")
HOSTED = PLAYGROUND_MODE == "hosted"

DATA_DIR = Path(os.environ.get("PLAYGROUND_DATA_DIR") or default_data_dir()).resolve()
if not os.environ.get("DATABASE_URL"):
    _prepare(DATA_DIR)
#: The built-in demo agent and its misbehaving scenarios, under /demo/.
DEMO_ENABLED = _flag("PLAYGROUND_DEMO", not HOSTED)
#: Hosts and networks that a hosted playground may call although its policy would refuse them.
OUTBOUND_ALLOW = _list("PLAYGROUND_OUTBOUND_ALLOW")
#: What a run may take; each limit can be set as PLAYGROUND_<NAME>.
RUN_LIMITS = RunLimits.from_environment(os.environ)
#: Bytes that may be stored for each user; 0 for no limit.
QUOTA = _number("PLAYGROUND_QUOTA", 1024**3 if HOSTED else 0, least=0)
#: Days after which runs are deleted, also where their owner has set no limit; 0 for never.
RETENTION_DAYS = _number("PLAYGROUND_RETENTION_DAYS", 90 if HOSTED else 0, least=0)
#: Seconds that a promise is polled before polling stops.
PROMISE_PATIENCE = _number("PLAYGROUND_PROMISE_PATIENCE", 900, " of seconds")
#: Bytes that all runs of a process may have received and not stored.
MAX_MEMORY = _number("PLAYGROUND_MAX_MEMORY", 32 * 1024 * 1024, " of bytes")
#: Seconds of a statement in PostgreSQL, until a connection, and that a request waits for both.
DATABASE_TIMEOUT = _number("PLAYGROUND_DATABASE_TIMEOUT", 10, " of seconds")
#: Seconds for which a run in progress waits for a database that is unavailable.
DATABASE_PATIENCE = _number("PLAYGROUND_DATABASE_PATIENCE", 600, " of seconds")
#: Seconds that the runs in progress get to end when the server is stopped.
DRAIN_SECONDS = _number("PLAYGROUND_DRAIN_SECONDS", 20, " of seconds")
#: Seconds for a request of a client of the server, and without progress in reading a response.
CLIENT_TIMEOUT = _number("PLAYGROUND_CLIENT_TIMEOUT", 60, " of seconds")
#: Proxies before the web processes: each adds an address to X-Forwarded-For.
PROXIES = _number("PLAYGROUND_PROXIES", 1 if HOSTED else 0, least=0)
#: Whether /metrics shows the metrics of the process, without a login.
METRICS = _flag("PLAYGROUND_METRICS", not HOSTED)
#: Whether each HTTP call of a run has a `traceparent` header.
TRACEPARENT = _flag("PLAYGROUND_TRACEPARENT", False)
#: Whether the playground fetches pictures that agents name, when the user asks for them.
AGENT_IMAGES = _flag("PLAYGROUND_AGENT_IMAGES", not HOSTED)

#: Whether runs are driven by workers (`manage.py worker`), and not by the web processes.
_IS_SHARED = os.environ.get("DATABASE_URL", "").startswith("postgres") and bool(
    os.environ.get("REDIS_URL")
)
WORKERS = _flag("PLAYGROUND_WORKERS", _IS_SHARED)
if WORKERS and not _IS_SHARED:
    raise ImproperlyConfigured(
        "PLAYGROUND_WORKERS needs a DATABASE_URL of PostgreSQL and a REDIS_URL."
    )
if WORKERS and find_spec("procrastinate") is None:
    raise ImproperlyConfigured(
        "Workers need the package procrastinate of the extra “scale”. Install it with:"
        f" {install_command('scale')}. Or set PLAYGROUND_WORKERS to false."
    )

# --- Django ----------------------------------------------------------------------------------

DEBUG = _flag("DEBUG", False)
if not (SECRET_KEY := os.environ.get("SECRET_KEY", "")):
    if HOSTED:
        raise ImproperlyConfigured("SECRET_KEY must be set in hosted mode")
    SECRET_KEY = read_or_create_key(DATA_DIR / "secret-key")
#: Encrypts stored credentials; apart from SECRET_KEY so that sessions can be reset without loss.
PLAYGROUND_KEY = os.environ.get("PLAYGROUND_KEY") or read_or_create_key(DATA_DIR / "encryption-key")
#: Read with as well, while `rotate_key` replaces one key by another.
PLAYGROUND_OTHER_KEYS = decryption_keys(os.environ, DATA_DIR / "encryption-key")

ALLOWED_HOSTS = _list("ALLOWED_HOSTS") or ["127.0.0.1", "localhost", "[::1]"]
CSRF_TRUSTED_ORIGINS = _list("CSRF_TRUSTED_ORIGINS")

INSTALLED_APPS = [
    # `serve` brings its own. Importing it takes as long as all the rest of a short command.
    *(["daphne"] if "runserver" in sys.argv else []),
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    "servestatic.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "csp",
    "playground",
]
if DEMO_ENABLED:
    INSTALLED_APPS.append("playground.demo")
if WORKERS:
    INSTALLED_APPS.append("procrastinate.contrib.django")
    # The tasks are in `playground.base.jobs`.
    PROCRASTINATE_AUTODISCOVER_MODULE_NAME = ""

MIDDLEWARE = [
    "playground.site.middleware.response_headers",
    "django.middleware.security.SecurityMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "playground.site.middleware.ExceptionMiddleware",
]
if HOSTED:
    MIDDLEWARE.append("django.contrib.auth.middleware.LoginRequiredMiddleware")

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}Validator"}
    for name in ("UserAttributeSimilarity", "MinimumLength", "CommonPassword", "NumericPassword")
]

ROOT_URLCONF = "playground.urls"
ASGI_APPLICATION = "playground.asgi.application"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "workbench"
LOGOUT_REDIRECT_URL = "login"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "playground.site.sidebar.page_context",
            ],
            "builtins": ["playground.site.tags", "template_partials.templatetags.partials"],
            # `template.html#name` is a part of a template.
            "loaders": [
                (
                    "template_partials.loader.Loader",
                    [
                        (
                            "django.template.loaders.cached.Loader",
                            [
                                "django.template.loaders.filesystem.Loader",
                                "django.template.loaders.app_directories.Loader",
                            ],
                        )
                    ],
                )
            ],
        },
    },
]

# --- storage ---------------------------------------------------------------------------------

_DEFAULT_DATABASE = f"sqlite:///{DATA_DIR / 'playground.sqlite3'}"
DATABASES: dict[str, Any] = {
    "default": dict(dj_database_url.parse(os.environ.get("DATABASE_URL") or _DEFAULT_DATABASE))
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
    DATABASES["default"]["OPTIONS"] = {
        # Readers never wait for the writer; a commit survives a crash of the process, and
        # the file stays sound after a crash of the machine (at most the last moment is lost).
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
    }
    # A file, not memory: the engine writes from a thread of its own.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
elif DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
    DATABASES["default"]["OPTIONS"] = {
        # By this name the connections of a process can be ended.
        "application_name": connection_name(this_process()),
        "connect_timeout": max(2, DATABASE_TIMEOUT),  # libpq takes 1 for 2.
        # Migrations have none, see `playground.apps`.
        "options": f"-c statement_timeout={1000 * DATABASE_TIMEOUT}",
        # A host that has lost power or its network does not acknowledge anything.
        "tcp_user_timeout": 1000 * DATABASE_TIMEOUT,
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        **DATABASES["default"].get("OPTIONS", {}),
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# Where collections are saved to comes first; what ships is found besides.
_FIXTURES = Path(os.environ.get("PLAYGROUND_FIXTURES_DIR") or default_fixtures_dir(DATA_DIR))
FIXTURE_DIRS = list(dict.fromkeys([_FIXTURES.resolve(), BASE_DIR / "fixtures"]))

if REDIS_URL := os.environ.get("REDIS_URL", ""):
    CHANNEL_LAYERS: dict[str, Any] = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": [REDIS_URL]},
        }
    }
else:
    CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
#: Attempts to log in, of all web processes.
CACHES: dict[str, Any] = {
    "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}
    if REDIS_URL
    else {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    }
}

# --- static files ----------------------------------------------------------------------------

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = DATA_DIR / "static"
SERVESTATIC_USE_FINDERS = DEBUG
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "servestatic.storage.CompressedManifestStaticFilesStorage"
    },
}

# --- security (docs/security.md lists the threats) ------------------------

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        # CodeMirror mounts its theme as a constructed style sheet, so no inline styles either.
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "font-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
# Cookies know no ports: under Django's own names, another Django on 127.0.0.1 would share them.
SESSION_COOKIE_NAME = "playground_session"
CSRF_COOKIE_NAME = "playground_csrf"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
if HOSTED:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_SSL_REDIRECT = _flag("SECURE_SSL_REDIRECT", False)
    # Load balancers and Prometheus reach a process without the proxy.
    SECURE_REDIRECT_EXEMPT = [r"^ready/$", r"^metrics$"]

DATA_UPLOAD_MAX_MEMORY_SIZE = 8 * 1024 * 1024
LANGUAGE_CODE = "en"
TIME_ZONE = os.environ.get("TZ") or "UTC"
USE_I18N = False

LOG_FORMAT = os.environ.get("PLAYGROUND_LOG_FORMAT") or "text"
_FORMATTERS = {
    "text": "playground.base.logs.TextFormatter",
    "json": "playground.base.logs.JSONFormatter",
}
if LOG_FORMAT not in _FORMATTERS:
    raise ImproperlyConfigured(f"PLAYGROUND_LOG_FORMAT must be text or json, not {LOG_FORMAT!r}")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": _FORMATTERS[LOG_FORMAT]}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        "playground": {"level": os.environ.get("PLAYGROUND_LOG_LEVEL", "INFO")},
        # Daphne logs an error for every socket that a browser drops; the pages cope.
        "daphne": {"level": "WARNING"},
    },
}
