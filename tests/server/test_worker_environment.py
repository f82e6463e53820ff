"""Secrets that come from files stay in files: no process of the service has them in its environment."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import httpx

from engine_host import wait_until
from siteglass.settings import Settings, environment_of, file_variable, variable
from testing.ports import free_port


def _from_files(settings: Settings, folder: Path) -> dict[str, str]:
    """The environment of these settings, with every secret in a file."""
    environment = environment_of(settings)
    for setting in fields(settings):
        if "secret" in setting.metadata and (text := environment.pop(variable(setting.name))):
            path = folder / setting.name
            path.write_text(text)
            environment[file_variable(setting.name)] = str(path)
    return environment


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _workers(pid: int) -> list[bytes]:
    """The environments of the workers, which were started with Python's `spawn`."""
    started = [Path(f"/proc/{child}") for child in _children(pid)]
    return [
        path.joinpath("environ").read_bytes() for path in started if b"spawn_main" in (path / "cmdline").read_bytes()
    ]


def test_workers_get_the_options_and_no_secret(live_settings: Settings, tmp_path: Path) -> None:
    port = free_port()
    others = {name: text for name, text in os.environ.items() if not name.startswith("SITEGLASS_")}
    process = subprocess.Popen(
        [Path(sys.executable).parent / "siteglass", "serve", "--port", str(port), "--workers", "2"],
        env={**others, **_from_files(live_settings, tmp_path)},
        stderr=subprocess.DEVNULL,
    )

    def is_ready() -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{port}/readyz", trust_env=False).status_code == 200
        except httpx.TransportError:
            return False

    try:
        # The workers have read the files: they reach the engines.
        assert wait_until(is_ready, 240)
        assert wait_until(lambda: len(_workers(process.pid)) == 2, 60)
        for environment in _workers(process.pid):
            assert f"SITEGLASS_PORT={port}\0".encode() in environment
            for secret in tmp_path.iterdir():
                assert secret.read_bytes() not in environment, secret.name
    finally:
        process.terminate()
        process.wait(60)
