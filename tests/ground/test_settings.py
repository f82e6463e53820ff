"""Settings that contradict each other are reported before anything starts. Secrets can come from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from siteglass.settings import SettingsError, environment_of, load_settings


def test_a_request_must_have_more_time_than_its_charge() -> None:
    told = (
        "SITEGLASS_REQUEST_TIMEOUT_MS is 2000, but must be more than SITEGLASS_CHARGE_TIMEOUT_MS, 2000: no time would "
        "be left for the search."
    )
    with pytest.raises(SettingsError) as refused:
        load_settings({"SITEGLASS_REQUEST_TIMEOUT_MS": "2000", "SITEGLASS_CHARGE_TIMEOUT_MS": "2000"})
    assert str(refused.value) == told
    assert load_settings({"SITEGLASS_CHARGE_TIMEOUT_MS": "2000"}).request_timeout_ms == 10_000


def test_a_secret_comes_from_a_file_unless_it_is_set(tmp_path: Path) -> None:
    keys, dsn = tmp_path / "keys", tmp_path / "dsn"
    keys.write_text("the newest secret, the one before\n")
    dsn.write_text("postgresql://siteglass:s%40fe@db.example/siteglass\n")
    files = {"SITEGLASS_KEY_SECRETS_FILE": str(keys), "SITEGLASS_POSTGRES_DSN_FILE": str(dsn)}
    settings = load_settings(files)
    assert settings.key_secrets == ("the newest secret", "the one before")
    assert settings.postgres_dsn == "postgresql://siteglass:s%40fe@db.example/siteglass"
    assert load_settings({**files, "SITEGLASS_KEY_SECRETS": "another"}).key_secrets == ("another",)


def test_a_file_that_cannot_be_read_is_reported_without_its_content(tmp_path: Path) -> None:
    missing, wrong = tmp_path / "missing", tmp_path / "wrong"
    wrong.write_bytes(b"\xff\xfe")
    for path, reason in ((missing, "No such file or directory"), (wrong, "not UTF-8 text")):
        with pytest.raises(SettingsError) as refused:
            load_settings({"SITEGLASS_KEY_SECRETS_FILE": str(path)})
        assert str(refused.value) == f"SITEGLASS_KEY_SECRETS_FILE: {path} cannot be read ({reason})."
    # Only secrets have files: this is not a setting, and `siteglass doctor` says so.
    assert load_settings({"SITEGLASS_WORKERS_FILE": str(missing)}).workers == 1


def test_certificates_become_part_of_the_addresses(tmp_path: Path) -> None:
    ca, pair = tmp_path / "ca.pem", tmp_path / "client.pem"
    ca.touch()
    pair.touch()
    environment = {
        "SITEGLASS_POSTGRES_DSN": "postgresql://siteglass@a,b/siteglass?target_session_attrs=primary",
        "SITEGLASS_POSTGRES_CA": str(ca),
        "SITEGLASS_POSTGRES_CERTIFICATE": str(pair),
        "SITEGLASS_REDIS_URL": "rediss://:pass@cache.example:6380/0",
        "SITEGLASS_REDIS_CA": str(ca),
        "SITEGLASS_REDIS_CERTIFICATE": str(pair),
    }
    settings = load_settings(environment)
    tls = f"sslmode=verify-full&sslrootcert={ca}&sslcert={pair}&sslkey={pair}"
    assert settings.postgres_dsn == f"postgresql://siteglass@a,b/siteglass?target_session_attrs=primary&{tls}"
    assert settings.postgres_owner_dsn.endswith(f":15432/siteglass?{tls}")
    assert settings.redis_url == (
        f"rediss://:pass@cache.example:6380/0?ssl_ca_certs={ca}&ssl_certfile={pair}&ssl_keyfile={pair}"
    )
    # Workers read the settings of the process that starts them.
    assert load_settings(environment_of(settings)) == settings
    own = {**environment, "SITEGLASS_POSTGRES_DSN": "postgresql://siteglass@a/siteglass?sslmode=verify-ca"}
    assert load_settings(own).postgres_dsn.startswith(
        "postgresql://siteglass@a/siteglass?sslmode=verify-ca&sslrootcert="
    )


def test_certificates_that_are_not_there_or_would_not_be_used_are_reported(tmp_path: Path) -> None:
    ca = tmp_path / "ca.pem"
    with pytest.raises(SettingsError, match=f"^SITEGLASS_POSTGRES_CA: there is no file {ca}.$"):
        load_settings({"SITEGLASS_POSTGRES_CA": str(ca)})
    ca.touch()
    for name in ("SITEGLASS_REDIS_CA", "SITEGLASS_REDIS_CERTIFICATE", "SITEGLASS_REDIS_KEY"):
        with pytest.raises(SettingsError) as refused:
            load_settings({name: str(ca)})
        assert str(refused.value) == f"{name} is set, but SITEGLASS_REDIS_URL does not begin with rediss://."
    for sslmode in ("disable", "allow", "prefer"):
        dsn = f"postgresql://siteglass@db.example/siteglass?sslmode={sslmode}"
        with pytest.raises(SettingsError) as refused:
            load_settings({"SITEGLASS_POSTGRES_CA": str(ca), "SITEGLASS_POSTGRES_DSN": dsn})
        assert str(refused.value) == (
            f"SITEGLASS_POSTGRES_CA is set, but SITEGLASS_POSTGRES_DSN has sslmode={sslmode}, which may connect "
            "without TLS. Remove sslmode from it, or write sslmode=verify-full."
        )


@pytest.mark.parametrize("endpoint", ["s3.example.com", "ftp://s3.example.com", "https://s3.example.com/bucket"])
def test_an_endpoint_that_is_not_the_url_of_a_server_is_refused(endpoint: str) -> None:
    with pytest.raises(SettingsError, match=r"^SITEGLASS_S3_ENDPOINT: expected a URL without a path"):
        load_settings({"SITEGLASS_S3_ENDPOINT": endpoint})
    assert load_settings({"SITEGLASS_S3_ENDPOINT": "https://s3.example.com/"}).s3_endpoint == "https://s3.example.com/"
