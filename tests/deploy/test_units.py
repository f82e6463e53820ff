"""Units and manifests fit the service: its settings with the files that deploy/prepare makes, and its version."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import deploy_check
from siteglass import __version__
from siteglass.settings import load_settings


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return deploy_check.prepare_tls(tmp_path_factory.mktemp("units") / "installed")


@pytest.mark.parametrize("name", deploy_check.SERVICE_UNITS)
def test_the_settings_of_a_unit_load(name: str, installed: Path) -> None:
    unit = deploy_check.DEPLOY / "systemd" / name
    settings = load_settings(deploy_check.unit_environment(unit, installed))
    assert f"sslrootcert={installed}/tls/ca.pem" in settings.postgres_dsn
    # Only the migration has the owner's address.
    has_owner = (installed / "secrets/postgres_owner_password").read_text().strip() in settings.postgres_owner_dsn
    assert has_owner == (name == "siteglass-migrate.service")


def test_a_failed_openssl_leaves_no_empty_secret(tmp_path: Path) -> None:
    """A program that fails is first on the path; the next run with the real one completes the folder."""
    broken = tmp_path / "openssl"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    command = [str(deploy_check.DEPLOY / "prepare"), str(tmp_path / "made")]
    failed = subprocess.run(command, env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}, check=False)
    assert failed.returncode != 0
    assert [*(tmp_path / "made/secrets").iterdir()] == []
    (tmp_path / "made/secrets/cursor_secrets").touch()
    subprocess.run(command, check=True)
    assert len((tmp_path / "made/secrets/cursor_secrets").read_text().strip()) == 48


def test_the_manifests_run_this_version() -> None:
    assert f"newTag: {__version__}\n" in (deploy_check.DEPLOY / "kubernetes/kustomization.yaml").read_text()
