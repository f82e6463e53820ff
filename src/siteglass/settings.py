"""Environment to one frozen Settings; the only reader of the environment. Each setting says what it is for.

A secret, or an address that may hold one, can also come from a file: SITEGLASS_KEY_SECRETS_FILE names it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

# Hosts of an address, several with commas: names, IPv4, IPv6 in brackets, each with a port or none.
_HOST = r"(?:\[[0-9a-fA-F:.]+\]|[\w.-]+)(?::\d+)?"
_HOSTS = re.compile(rf"{_HOST}(?:,{_HOST})*")


class SettingsError(ValueError):
    """A setting is missing or cannot be read; the message names it and says what to set."""


def _secret(default: Any) -> Any:
    """A setting that `repr` leaves out, and that can come from a file."""
    return field(default=default, repr=False, metadata={"secret": True})


def _address(default: Any) -> Any:
    """A setting that is an address and may hold a password, so it is a secret. Show it with `host_and_port`."""
    return field(default=default, repr=False, metadata={"secret": True, "address": True})


def _file() -> Any:
    """A setting that names a file which must exist; empty: there is none."""
    return field(default="", metadata={"file": True})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All that can be set from outside; the variable is SITEGLASS_ and the name in capitals."""

    cursor_secrets: Annotated[
        tuple[str, ...],
        "Secrets of 32 characters or more that encrypt cursors and opt-out tickets, comma-separated, newest first.",
    ] = _secret(())
    cursor_life_s: Annotated[int, "How long a cursor is valid, in seconds."] = 72 * 3600
    host: Annotated[str, "Address that the service listens on."] = "127.0.0.1"
    port: Annotated[int, "Port that the service listens on."] = 8080
    workers: Annotated[int, "Worker processes of the service."] = 1
    metrics_host: Annotated[
        str, "Address that metrics are served on. Only the monitoring should reach it: there is no password."
    ] = "127.0.0.1"
    metrics_port: Annotated[
        int, "Port that metrics of all workers are served on, in the Prometheus text format; 0: none are served."
    ] = 0
    drain_s: Annotated[
        int,
        "After SIGTERM the service answers requests for so many seconds while `/readyz` returns 503, so that load "
        "balancers can take it out first.",
    ] = 5
    trusted_proxies: Annotated[
        tuple[str, ...],
        "Addresses or networks of proxies whose X-Forwarded-For header is trusted, comma-separated; empty: none.",
    ] = ("127.0.0.1",)
    opensearch_urls: Annotated[tuple[str, ...], "URLs of the OpenSearch nodes, comma-separated."] = _address(
        ("http://127.0.0.1:19200",)
    )
    opensearch_ca: Annotated[
        str, "PEM file of the authority that signed the certificates of the OpenSearch nodes; empty: the system's."
    ] = _file()
    opensearch_certificate: Annotated[
        str, "PEM file of the certificate that the service shows to OpenSearch; empty: none is shown."
    ] = _file()
    opensearch_key: Annotated[
        str, "PEM file of that certificate's key; empty: the key is in the same file as the certificate."
    ] = _file()
    index_prefix: Annotated[
        str, "Prefix of all index and alias names, so that several services can share a cluster."
    ] = "siteglass"
    search_timeout_ms: Annotated[int, "Timeout of a search or look-up in OpenSearch."] = 5_000
    total_exact_ms: Annotated[
        int,
        "A count that takes longer is estimated from a sample; 0: every count is estimated. At most the timeout of a "
        "search.",
    ] = 2_000
    facet_budget: Annotated[
        int,
        "Matches times facets that are counted exactly; above this, facets are estimated from a sample of the leads.",
    ] = 2_000_000
    postgres_dsn: Annotated[
        str, "DSN of PostgreSQL with the role of the service: accounts, keys, credits. It may list several hosts."
    ] = _address("postgresql://siteglass@127.0.0.1:15432/siteglass")
    postgres_owner_dsn: Annotated[
        str, "DSN of the same database with the role that owns the tables; used only by `siteglass migrate`."
    ] = _address("postgresql://siteglass_owner@127.0.0.1:15432/siteglass")
    postgres_ca: Annotated[
        str,
        "PEM file of the authority that signed the certificate of PostgreSQL; with it, only TLS to a server whose "
        "certificate is valid is accepted. Empty: as the DSN's sslmode says.",
    ] = _file()
    postgres_certificate: Annotated[
        str, "PEM file of the certificate that the service shows to PostgreSQL; empty: none is shown."
    ] = _file()
    postgres_key: Annotated[
        str, "PEM file of that certificate's key; empty: the key is in the same file as the certificate."
    ] = _file()
    postgres_schema: Annotated[str, "Schema of the tables, so that several services can share a database."] = (
        "siteglass"
    )
    postgres_pool: Annotated[int, "Maximum number of PostgreSQL connections per worker."] = 8
    postgres_statement_cache: Annotated[int, "Prepared statements per connection; 0 behind a pgbouncer below 1.21."] = (
        100
    )
    postgres_timeout_ms: Annotated[int, "Timeout of a look-up in PostgreSQL."] = 1_000
    charge_timeout_ms: Annotated[int, "Timeout of a charge; a charge that is not written by then is not made."] = 2_000
    received_free_days: Annotated[
        int,
        "For how many days, at least 1, people get a lead that their account received again free of charge in the "
        "browser.",
    ] = 30
    closed_account_days: Annotated[
        int,
        "For how many days the data of a closed account is kept: lists, searches, files, people. Its ledger and audit "
        "log stay.",
    ] = 30
    request_timeout_ms: Annotated[
        int, "Timeout of a charged request, including the charge; its Idempotency-Key is claimed for as long."
    ] = 10_000
    key_secrets: Annotated[
        tuple[str, ...],
        "One or two secrets of 32 characters or more that hash API keys, comma-separated, newest first.",
    ] = _secret(())
    suppression_secret: Annotated[
        str,
        "Secret of 32 characters or more that hashes suppressed addresses and phones. Never change it, and keep a "
        "copy.",
    ] = _secret("")
    opt_out_journal: Annotated[
        str,
        "File that every opt-out is appended to before the person reads that it is done. Put it on storage that does "
        "not fail together with PostgreSQL's; `siteglass suppress replay` applies it after a restore. Empty: none is "
        "written.",
    ] = ""
    root_keys: Annotated[
        tuple[str, ...],
        "Keys of 64 hexadecimal digits for the daily roots of ledger and audit log, comma-separated, newest first. The "
        "first signs. List all that ever signed: an old one as it is, or its public key after `public:`. Keep them out "
        "of the database. Empty: no roots are written.",
    ] = _secret(())
    root_file: Annotated[
        str,
        "File that the signed roots are appended to, once a day. Put it on storage that those who can change the "
        "database cannot write to. Empty: no roots are written.",
    ] = ""
    personal_addresses_hidden: Annotated[
        tuple[str, ...],
        "Countries of sites whose personal addresses are neither shown nor charged: comma-separated alpha-3 codes. "
        "EEA means the whole European Economic Area.",
    ] = ()
    redis_url: Annotated[
        str, "URL of Redis: rate limits and running retries; nothing in it is needed after a loss."
    ] = _address("redis://127.0.0.1:16379/0")
    redis_ca: Annotated[
        str, "PEM file of the authority that signed the certificate of Redis, for rediss:// URLs; empty: the system's."
    ] = _file()
    redis_certificate: Annotated[
        str, "PEM file of the certificate that the service shows to Redis; empty: none is shown."
    ] = _file()
    redis_key: Annotated[
        str, "PEM file of that certificate's key; empty: the key is in the same file as the certificate."
    ] = _file()
    redis_prefix: Annotated[str, "Prefix of all Redis keys, so that several services can share a Redis."] = "siteglass"
    redis_timeout_ms: Annotated[
        int, "How long a rate limit waits for Redis; after that each worker applies the limits separately."
    ] = 50
    backup_info: Annotated[
        str,
        "File with the output of `pgbackrest info --output=json` after the newest backup, which `siteglass doctor "
        "--production` reads; empty: the age of backups is not known.",
    ] = ""
    lead_store: Annotated[Path, "Folder of the Parquet files with the lead records."] = Path("var/leads")
    s3_endpoint: Annotated[
        str,
        "URL of the S3-compatible storage of a facts store at `s3://BUCKET/FOLDER`, such as `https://s3.example.com`; "
        "empty: Amazon S3.",
    ] = _address("")
    s3_region: Annotated[str, "Region of that storage; empty: `AWS_REGION`, else us-east-1."] = ""
    s3_access_key: Annotated[
        str, "Access key of that storage; empty: the credentials that AWS tools find on this machine."
    ] = _secret("")
    s3_secret_key: Annotated[str, "Secret key of that storage."] = _secret("")
    lead_max_age_days: Annotated[
        int,
        "Leads whose last crawl or import is more days ago are not loaded, and `siteglass index expire` deletes them; "
        "0: leads never expire.",
    ] = 0
    source_precedence: Annotated[
        tuple[str, ...],
        "Which source of a fact is believed first: `site`, `import` and `place`, each once, comma-separated. Run "
        "`siteglass ingest rebuild` after a change.",
    ] = ("site", "import", "place")
    max_connections: Annotated[int, "Maximum number of open connections per worker; further ones are answered 503."] = (
        800
    )
    max_body_bytes: Annotated[int, "Largest request body."] = 65_536
    max_enrich_domains: Annotated[int, "Maximum number of domains per enrichment."] = 100
    language_model_url: Annotated[
        str,
        "URL of a language model, without the /chat/completions of its API; empty: none. Its reading of a doubtful "
        "sentence is offered beside ours.",
    ] = _address("")
    language_model_name: Annotated[str, "Name of the language model."] = ""
    language_model_key: Annotated[str, "Bearer token for the language model; empty: none is sent."] = _secret("")
    language_model_timeout_ms: Annotated[int, "How long a reading waits for the language model."] = 1_500
    mail_url: Annotated[
        str,
        "Where mails go: `smtp://user:password@host:587` (STARTTLS; `?tls=none`: without), "
        "`smtps://user:password@host:465`, or `file:FOLDER`, which stores them as .eml files; empty: no mail is sent.",
    ] = _address("")
    mail_from: Annotated[
        str,
        "Sender of mails, such as `Siteglass <privacy@example.com>`; the page /opt-out shows it as the contact "
        "address.",
    ] = ""
    mail_timeout_ms: Annotated[int, "How long a request waits until its mail is accepted."] = 10_000
    dns_servers: Annotated[
        tuple[str, ...],
        "DNS servers that are queried to prove control of a domain, as address or address:port, comma-separated; "
        "empty: the system's.",
    ] = ()
    opt_out_networks: Annotated[
        tuple[str, ...],
        "Private networks that such a proof may be fetched from, comma-separated; empty: none.",
    ] = ()
    outgoing_allowed: Annotated[
        tuple[str, ...],
        "Internal networks that the crawler may connect to, comma-separated, for tests and `make demo-web`. `siteglass "
        "doctor --production` refuses it. Empty: only public addresses.",
    ] = ()
    opt_out_http_port: Annotated[int, "HTTP port that such a proof is fetched from."] = 80
    crawl_dsn: Annotated[
        str,
        "DSN of the crawler's PostgreSQL, with a separate database and a role that owns it. In production a separate "
        "server: a server's backup and log cover all its databases, and this one need not be backed up.",
    ] = _address("postgresql://siteglass_crawl@127.0.0.1:15432/siteglass_crawl")
    crawl_schema: Annotated[str, "Schema of the crawler's tables, so that several crawlers can share a database."] = (
        "siteglass"
    )
    crawl_contact: Annotated[
        str,
        "URL or email address in the crawler's user agent, by which owners of sites reach you. Empty: the page "
        "/opt-out of the public URL, which says how to keep the crawler out.",
    ] = ""
    crawl_excluded: Annotated[
        str,
        "File of domains that are never fetched and, whatever source names them, are not leads: one per line. It is "
        "read again when it changes. Empty: there is none.",
    ] = _file()
    crawl_domain_delay_ms: Annotated[
        int, "Minimum time between two requests to a registrable domain; sites and slow answers can prolong it."
    ] = 2_000
    crawl_address_delay_ms: Annotated[
        int, "Minimum time between two requests to an IP address (of IPv6: a /64), which many sites may share."
    ] = 250
    crawl_requests_per_day: Annotated[int, "Maximum number of requests to a domain per day."] = 50
    crawl_domains_at_once: Annotated[int, "Domains that a crawler works on at the same time."] = 300
    refresh_domains_per_day: Annotated[
        int, "Domains that `siteglass refresh run` visits per day at most; 0: no limit."
    ] = 10_000
    crawl_page_bytes: Annotated[int, "Size at which a page is cut, in bytes as sent."] = 2_000_000
    crawl_timeout_ms: Annotated[int, "How long a page may take to arrive."] = 30_000
    crawl_lease_s: Annotated[
        int,
        "How long others wait before they take the domains of a crawler that was killed; at least 90, so that no "
        "delay is cut short.",
    ] = 120
    crawl_metrics_port: Annotated[
        int, "Port of the crawler's metrics for Prometheus, on the host of the service's metrics. 0: not served."
    ] = 0
    crawl_http_port: Annotated[int, "HTTP port of the sites that are fetched; another one only for made-up sites."] = 80
    crawl_https_port: Annotated[
        int, "HTTPS port of the sites that are fetched; another one only for made-up sites."
    ] = 443
    dashboard_secrets: Annotated[
        tuple[str, ...],
        "One or two secrets of 32 characters or more that encrypt sign-in data, comma-separated, newest first; empty: "
        "the dashboard is not served.",
    ] = _secret(())
    demo_networks: Annotated[
        tuple[str, ...],
        "Loopback and private networks from which the sign-in link of a demo works, comma-separated; `siteglass demo "
        "up` sets them. Empty: there is no such link.",
    ] = ()
    console_networks: Annotated[
        tuple[str, ...],
        "Addresses or networks from which people who run the service reach the console and its API, both below "
        "`/admin`, comma-separated. For everybody else there is nothing at these paths. Empty: they are not served.",
    ] = ()
    landing_searches_per_hour: Annotated[
        int,
        "Searches per hour and network on the page `/` by people without an account. They find the made-up leads of "
        "test keys. 0: the page has no search box.",
    ] = 60
    agent_session_credits: Annotated[
        int,
        "Credits of each kind that agents may spend through `/mcp` in one session, unless they send the header "
        "X-Session-Max-Credits. 0: only free calls.",
    ] = 200
    public_url: Annotated[
        str,
        "Public URL of the service, such as `https://app.example.com`, for links in mails; empty: `http://HOST:PORT`.",
    ] = ""
    sales_email: Annotated[
        str,
        "Address on the Plan page for customers who want more credits, such as `sales@example.com`; empty: the page "
        "refers them to the operator.",
    ] = ""
    session_idle_minutes: Annotated[int, "People are signed out of the dashboard after this time without activity."] = (
        60
    )
    session_hours: Annotated[
        int, "People must sign in to the dashboard again after this time, even if they are active."
    ] = 12
    traces_endpoint: Annotated[
        str, "URL of an OpenTelemetry collector (OTLP over HTTP), such as `http://collector:4318`; empty: no traces."
    ] = _address("")
    traces_ratio: Annotated[float, "Part of the requests that are traced, 0 to 1."] = 0.1
    log_level: Annotated[str, "Minimum level of log messages: DEBUG, INFO, WARNING or ERROR."] = "INFO"


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return f"SITEGLASS_{name.upper()}"


def file_variable(name: str) -> str:
    """The environment variable that names the file of a secret setting."""
    return f"{variable(name)}_FILE"


def known_variables() -> list[str]:
    """Every variable that is a setting, or names the file of one."""
    every = fields(Settings)
    return [
        *(variable(setting.name) for setting in every),
        *(file_variable(setting.name) for setting in every if "secret" in setting.metadata),
    ]


def variables_given() -> list[str]:
    """The names of our variables that are set, settings or not."""
    return [name for name in os.environ if name.startswith(variable(""))]


def host_and_port(address: str) -> str:
    """All of an address that may be shown: user, password, path and parameters may hold a secret."""
    return _hosts(address) or "the configured address"


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
    """The environment that gives these settings, for a separate process."""
    made = {}
    for setting in fields(settings):
        value = getattr(settings, setting.name)
        made[variable(setting.name)] = ",".join(value) if isinstance(value, tuple) else str(value)
    return made


def _read(name: str, text: str, default: Any) -> Any:
    if isinstance(default, int | float):
        try:
            return type(default)(text)
        except ValueError:
            kind = "whole number" if isinstance(default, int) else "number"
            raise SettingsError(f"{name} must be a {kind}, found {text!r}") from None
    if isinstance(default, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return Path(text) if isinstance(default, Path) else text


def _require_readable(name: str, addresses: tuple[str, ...]) -> None:
    # Before a driver reads it: their errors quote what they cannot read, which can be a piece of the password.
    if any(_hosts(address) is None for address in addresses):
        raise SettingsError(
            f"{name}: expected a URL such as scheme://user:password@host:port, with / ? # @ and % in the user and "
            "password percent-encoded (@ is %40)."
        )


def _text_of(setting: Field[Any], source: Mapping[str, str]) -> str | None:
    """What is set, or the content of the file that is named instead; None: neither. The variable comes first."""
    if (text := source.get(variable(setting.name))) is not None or "secret" not in setting.metadata:
        return text
    path = source.get(name := file_variable(setting.name))
    if path is None:
        return None
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise SettingsError(f"{name}: {path} cannot be read ({reason}).") from None


def _with_parameters(address: str, parameters: Mapping[str, str]) -> str:
    """The address with these parameters, except empty ones and those that it has already."""
    parts = urlsplit(address)
    own = parse_qsl(parts.query, keep_blank_values=True)
    added = [(name, value) for name, value in parameters.items() if value and name not in dict(own)]
    return urlunsplit(parts._replace(query=urlencode([*own, *added], safe="/"))) if added else address


def _with_tls(settings: Settings) -> Settings:
    """The settings with the certificates in the addresses of PostgreSQL and Redis: both drivers read them there."""
    for name in ("redis_ca", "redis_certificate", "redis_key"):
        if getattr(settings, name) and not settings.redis_url.startswith("rediss:"):
            raise SettingsError(f"{variable(name)} is set, but {variable('redis_url')} does not begin with rediss://.")
    for name in ("postgres_dsn", "postgres_owner_dsn"):
        sslmode = dict(parse_qsl(urlsplit(getattr(settings, name)).query)).get("sslmode")
        if settings.postgres_ca and sslmode in ("disable", "allow", "prefer"):
            raise SettingsError(
                f"{variable('postgres_ca')} is set, but {variable(name)} has sslmode={sslmode}, which may connect "
                "without TLS. Remove sslmode from it, or write sslmode=verify-full."
            )
    postgres = {
        "sslmode": settings.postgres_ca and "verify-full",
        "sslrootcert": settings.postgres_ca,
        "sslcert": settings.postgres_certificate,
        "sslkey": settings.postgres_key or settings.postgres_certificate,
    }
    redis = {
        "ssl_ca_certs": settings.redis_ca,
        "ssl_certfile": settings.redis_certificate,
        "ssl_keyfile": settings.redis_key or settings.redis_certificate,
    }
    return replace(
        settings,
        postgres_dsn=_with_parameters(settings.postgres_dsn, postgres),
        postgres_owner_dsn=_with_parameters(settings.postgres_owner_dsn, postgres),
        redis_url=_with_parameters(settings.redis_url, redis),
    )


def _require_endpoint(settings: Settings) -> None:
    endpoint = urlsplit(settings.s3_endpoint)
    if settings.s3_endpoint and (
        endpoint.scheme not in ("http", "https") or not endpoint.netloc or endpoint.path.strip("/")
    ):
        raise SettingsError(
            f"{variable('s3_endpoint')}: expected a URL without a path, such as https://s3.example.com. The bucket is "
            "part of the store's address."
        )


def load_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Settings from the environment; what is not set keeps its default."""
    source = os.environ if environment is None else environment
    given: dict[str, Any] = {}
    for setting in fields(Settings):
        text = _text_of(setting, source)
        if text is None:
            continue
        name = variable(setting.name)
        value = given[setting.name] = _read(name, text, setting.default)
        if "address" in setting.metadata:
            _require_readable(name, value if isinstance(value, tuple) else (value,))
        if "file" in setting.metadata and text and not Path(text).is_file():
            raise SettingsError(f"{name}: there is no file {text}.")
    made = _with_tls(Settings(**given))
    _require_endpoint(made)
    if sorted(made.source_precedence) != ["import", "place", "site"]:
        raise SettingsError(
            f"{variable('source_precedence')}: expected site, import and place, each once, in any order; found "
            f"{','.join(made.source_precedence)!r}."
        )
    if made.request_timeout_ms <= made.charge_timeout_ms:
        raise SettingsError(
            f"{variable('request_timeout_ms')} is {made.request_timeout_ms}, but must be more than "
            f"{variable('charge_timeout_ms')}, {made.charge_timeout_ms}: no time would be left for the search."
        )
    return made
