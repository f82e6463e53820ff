"""The wheel and the runtime lock are enough to run the service: installed into a fresh environment, without extras."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import httpx
import pytest

import deploy_check
import deploy_tools
from engine_host import CHECKOUT
from siteglass import __version__
from siteglass.settings import Settings
from testing.service import API_KEY, ServiceProcess

pytestmark = [pytest.mark.private_engines, pytest.mark.xdist_group("deploy")]

_REQUIREMENT = re.compile(r"^(?P<name>[a-z0-9.-]+)(?:\[[a-z,]+\])?==(?P<version>[^ ;]+)", re.MULTILINE)
_HASH = re.compile(r"sha256:[0-9a-f]{64}")


def _locked(path: Path) -> dict[str, tuple[str, frozenset[str]]]:
    """Version and hashes of every requirement."""
    text = path.read_text()
    starts = [*_REQUIREMENT.finditer(text)]
    ends = [start.start() for start in starts[1:]] + [len(text)]
    return {
        start["name"]: (start["version"], frozenset(_HASH.findall(text, start.start(), end)))
        for start, end in zip(starts, ends, strict=True)
    }


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-ingest.lock"])
def test_a_lock_of_deploy_is_a_part_of_the_whole_one(name: str) -> None:
    whole, part = _locked(CHECKOUT / "requirements.lock"), _locked(CHECKOUT / "deploy" / name)
    assert len(part) > 40
    assert {package: found for package, found in part.items() if whole.get(package) != found} == {}
    assert not part.keys() & {"pytest", "mypy", "ruff", "hypothesis", "playwright", "hatchling"}
    assert ("pyspark" in part) == (name == "requirements-ingest.lock")


def test_the_lock_of_the_build_backend_is_a_part_of_the_whole_one() -> None:
    whole, part = _locked(CHECKOUT / "requirements.lock"), _locked(CHECKOUT / "deploy/requirements-build.lock")
    assert {package: found for package, found in part.items() if whole.get(package) != found} == {}
    assert "hatchling" in part


def test_the_service_runs_from_the_wheel(live_settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "dist").mkdir()
    wheel = deploy_tools.build_wheel(tmp_path / "dist")
    programs = deploy_tools.install_wheel(tmp_path / "fresh", wheel)
    # `-I`: nothing of the checkout is found, whatever the environment says.
    alone = [str(programs / "python"), "-I"]
    version = subprocess.run(
        [*alone, str(programs / "siteglass"), "--version"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert version.stdout.strip().endswith(f"version {__version__}")
    modules = subprocess.run([*alone, "-c", deploy_check.MODULES], cwd=tmp_path, capture_output=True, text=True)
    assert (modules.returncode, int(modules.stdout or 0) > 200) == (0, True), modules.stderr
    service = ServiceProcess(live_settings, [*alone, str(programs / "siteglass"), "serve"])
    service.start()
    try:
        with httpx.Client(base_url=service.url, headers={"X-API-Key": API_KEY}, timeout=60, trust_env=False) as client:
            # Pages, tables of words and SQL are files of the package.
            for path in ("/docs", "/opt-out", "/openapi.json"):
                assert client.get(path, follow_redirects=True).status_code == 200, path
            found = client.post("/v1/leads/search", json={"query": "shops in Texas", "limit": 2})
            assert (found.status_code, len(found.json()["results"])) == (200, 2)
    finally:
        service.kill()
