"""Environment to one frozen Settings; the only reader of the environment. Each setting says what it is for."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

# Hosts of an address, several with commas: names, IPv4, IPv6 in brackets, each with a port or none.
_HOST = r"(?:\[[0-9a-fA-F:.]+\]|[\w.-]+)(?::\d+)?"
_HOSTS = re.compile(rf"{_HOST}(?:,{_HOST})*")


class SettingsError(ValueError):
    """A setting is missing or cannot be read; the message names it and says what to set."""


def _secret(default: Any) -> Any:
    """A setting that `repr` leaves out."""
    return field(default=default, repr=False)


def _address(default: Any) -> Any:
    """A setting that is an address and may hold a password: `repr` leaves it out. Show it with `host_and_port`."""
    return field(default=default, repr=False, metadata={"address": True})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All that can be set from outside; the variable is SITEGLASS_ and the name in capitals."""

    cursor_secrets: Annotated[
        tuple[str, ...],
        "Secrets of 32 characters or more that seal cursors and opt-out tickets, comma-separated, newest first.",
    ] = _secret(())
    cursor_life_s: Annotated[int, "How long a cursor can be used, in seconds."] = 72 * 3600
    host: Annotated[str, "Address the service listens on."] = "127.0.0.1"
    port: Annotated[int, "Port the service listens on."] = 8080
    workers: Annotated[int, "Worker processes of the service."] = 1
    trusted_proxies: Annotated[
        tuple[str, ...],
        "Addresses or networks of proxies whose X-Forwarded-For is believed, comma-separated; empty: nobody's.",
    ] = ("127.0.0.1",)
    opensearch_urls: Annotated[tuple[str, ...], "Addresses of the OpenSearch nodes, comma-separated."] = _address(
        ("http://127.0.0.1:19200",)
    )
    index_prefix: Annotated[str, "Start of all index and alias names, so that several can share a cluster."] = (
        "siteglass"
    )
    search_timeout_ms: Annotated[int, "Deadline of a search or look-up at the engine."] = 5_000
    total_exact_ms: Annotated[int, "A count that takes longer is estimated from a sample; 0: every count is."] = 2_000
    postgres_dsn: Annotated[str, "Address of PostgreSQL, with the role of the service: accounts, keys, credits."] = (
        _address("postgresql://siteglass@127.0.0.1:15432/siteglass")
    )
    postgres_owner_dsn: Annotated[
        str, "The same database with the role that owns the tables, for `siteglass migrate` only."
    ] = _address("postgresql://siteglass_owner@127.0.0.1:15432/siteglass")
    postgres_schema: Annotated[str, "Schema that holds the tables, so that several can share a database."] = "siteglass"
    postgres_pool: Annotated[int, "Most connections of one worker to PostgreSQL."] = 8
    postgres_statement_cache: Annotated[int, "Prepared statements per connection; 0 behind a pgbouncer below 1.21."] = (
        100
    )
    postgres_timeout_ms: Annotated[int, "Deadline of a look-up in PostgreSQL."] = 1_000
    charge_timeout_ms: Annotated[int, "Deadline of a charge; what is not written by then is not charged."] = 2_000
    request_timeout_ms: Annotated[
        int, "Deadline of a request that is charged, the charge included; its Idempotency-Key is claimed for as long."
    ] = 10_000
    key_secrets: Annotated[
        tuple[str, ...],
        "One or two secrets of 32 characters or more that hash API keys, comma-separated, newest first.",
    ] = _secret(())
    suppression_secret: Annotated[
        str,
        "Secret of 32 characters or more that hashes suppressed addresses and phones; never change it: keep a copy.",
    ] = _secret("")
    personal_addresses_hidden: Annotated[
        tuple[str, ...],
        "Countries of sites whose personal addresses are neither shown nor charged, comma-separated alpha-3 codes; EEA "
        "stands for all of the European Economic Area.",
    ] = ()
    redis_url: Annotated[str, "Address of Redis: rate limits, running retries, and nothing that may not be lost."] = (
        _address("redis://127.0.0.1:16379/0")
    )
    redis_prefix: Annotated[str, "Start of all Redis keys, so that several can share a Redis."] = "siteglass"
    redis_timeout_ms: Annotated[int, "A rate limit waits no longer for Redis; then each worker limits by itself."] = 50
    lead_store: Annotated[Path, "Folder of the Parquet files that hold the lead records."] = Path("var/leads")
    lead_max_age_days: Annotated[
        int, "Leads crawled longer ago are not loaded, and `siteglass index expire` deletes them; 0: never."
    ] = 0
    max_connections: Annotated[int, "Maximum number of open connections per worker; further ones are answered 503."] = (
        800
    )
    max_body_bytes: Annotated[int, "Largest request body."] = 65_536
    max_enrich_domains: Annotated[int, "Most domains in one enrichment."] = 100
    language_model_url: Annotated[
        str,
        "Address of a language model that reads what the rules cannot, up to the /chat/completions of its API; "
        "empty: none is asked.",
    ] = _address("")
    language_model_name: Annotated[str, "Name of the model that is asked there."] = ""
    language_model_key: Annotated[str, "Secret that is sent there as a bearer token; empty: none is sent."] = _secret(
        ""
    )
    language_model_timeout_ms: Annotated[int, "A search waits no longer for the language model."] = 1_500
    mail_url: Annotated[
        str,
        "Where mails go: `smtp://user:password@host:587` (STARTTLS; `?tls=none`: without), "
        "`smtps://user:password@host:465`, or `file:FOLDER`, which keeps them there as .eml; empty: none are sent.",
    ] = _address("")
    mail_from: Annotated[
        str,
        "Sender of mails, such as `Siteglass <privacy@example.com>`; the page /opt-out tells people to write there.",
    ] = ""
    mail_timeout_ms: Annotated[int, "A request waits no longer for its mail to be taken."] = 10_000
    dns_servers: Annotated[
        tuple[str, ...],
        "DNS servers asked for the proof that somebody controls a domain, as address or address:port, comma-separated; "
        "empty: the system's.",
    ] = ()
    opt_out_networks: Annotated[
        tuple[str, ...],
        "Networks that such a proof may be fetched from although they are not public, comma-separated; empty: none.",
    ] = ()
    opt_out_http_port: Annotated[int, "Port that such a proof is fetched from with http."] = 80
    dashboard_secrets: Annotated[
        tuple[str, ...],
        "One or two secrets of 32 characters or more that seal what people sign in with, comma-separated, newest "
        "first; empty: the dashboard is not served.",
    ] = _secret(())
    public_url: Annotated[
        str,
        "Address of the service as people reach it, such as `https://app.example.com`: links in mails begin with it; "
        "empty: `http://HOST:PORT`.",
    ] = ""
    sales_email: Annotated[
        str,
        "Address that the page Plan of the dashboard gives to customers who want more credits, such as "
        "`sales@example.com`; empty: it tells them to ask the operator.",
    ] = ""
    session_idle_minutes: Annotated[int, "A person who does nothing for so long is signed out of the dashboard."] = 60
    session_hours: Annotated[int, "A person signs in to the dashboard again after so long, whatever they do."] = 12
    log_level: Annotated[str, "Least severe log line written: DEBUG, INFO, WARNING or ERROR."] = "INFO"


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return f"SITEGLASS_{name.upper()}"


def variables_given() -> list[str]:
    """The names of our variables that are set, settings or not."""
    return [name for name in os.environ if name.startswith(variable(""))]


def host_and_port(address: str) -> str:
    """All of an address that may be shown: user, password, path and parameters may hold a secret."""
    return _hosts(address) or "the address that is set"


def _hosts(address: str) -> str | None:
    """The part of an address that says where; "" if it has none, None if the rest may have got into it.

    A password whose / ? # @ are written as they are ends the host too early, or begins it: `//user:pa/ss@host`.
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        return None
    if not parts.netloc:
        return ""
    hosts = parts.netloc.rpartition("@")[2]
    well_formed = _HOSTS.fullmatch(hosts) and parts.netloc.count("@") <= 1
    return hosts if well_formed and "@" not in parts.path + parts.query + parts.fragment else None


def environment_of(settings: Settings) -> dict[str, str]:
    """The environment that gives these settings, for a process of its own."""
    made = {}
    for setting in fields(settings):
        value = getattr(settings, setting.name)
        made[variable(setting.name)] = ",".join(value) if isinstance(value, tuple) else str(value)
    return made


def _read(name: str, text: str, default: Any) -> Any:
    if isinstance(default, int):
        try:
            return int(text)
        except ValueError:
            raise SettingsError(f"{name} must be a whole number, found {text!r}") from None
    if isinstance(default, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return Path(text) if isinstance(default, Path) else text


def _require_readable(name: str, addresses: tuple[str, ...]) -> None:
    # Before a driver reads it: their errors quote what they cannot read, which can be a piece of the password.
    if any(_hosts(address) is None for address in addresses):
        raise SettingsError(
            f"{name}: an address like scheme://user:password@host:port is needed, with / ? # @ and % in user and "
            "password percent-encoded (@ is %40)."
        )


def load_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Settings from the environment; what is not set keeps its default."""
    source = os.environ if environment is None else environment
    given: dict[str, Any] = {}
    for setting in fields(Settings):
        name = variable(setting.name)
        if name in source:
            value = given[setting.name] = _read(name, source[name], setting.default)
            if "address" in setting.metadata:
                _require_readable(name, value if isinstance(value, tuple) else (value,))
    return Settings(**given)
