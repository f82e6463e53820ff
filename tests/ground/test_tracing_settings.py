"""Traces are off unless they are set up, and wrong settings are reported before the service starts."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from siteglass.platform.tracing import NO_SPAN, open_tracing, span, timed_span
from siteglass.settings import Settings, SettingsError, load_settings

ON = replace(Settings(), traces_endpoint="http://127.0.0.1:4318")


def test_off_by_default_without_loading_its_packages() -> None:
    script = (
        "import sys; from siteglass.platform.tracing import open_tracing; from siteglass.settings import Settings; "
        "import siteglass.app; trace = open_tracing(Settings()).begin('search', None); "
        "print(repr(trace.trace_id), 'siteglass.platform.otlp' in sys.modules)"
    )
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert finished.stdout == "'' False\n"


def test_steps_outside_a_request_do_nothing() -> None:
    assert span("query") is NO_SPAN
    assert timed_span("engine") is NO_SPAN


def test_the_endpoint_can_come_from_a_file_and_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "endpoint").write_text("https://siteglass:s%40fe@traces.example\n")
    settings = load_settings(
        {"SITEGLASS_TRACES_ENDPOINT_FILE": str(tmp_path / "endpoint"), "SITEGLASS_TRACES_RATIO": "0.25"}
    )
    assert settings.traces_endpoint == "https://siteglass:s%40fe@traces.example"
    assert settings.traces_ratio == 0.25
    assert "s%40fe" not in repr(settings)


def test_a_ratio_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"^SITEGLASS_TRACES_RATIO must be a number, found 'all'$"):
        load_settings({"SITEGLASS_TRACES_RATIO": "all"})


@pytest.mark.parametrize("ratio", [-0.1, 1.5, float("nan")])
def test_a_ratio_outside_0_to_1_is_refused(ratio: float) -> None:
    with pytest.raises(SettingsError, match=r"^SITEGLASS_TRACES_RATIO must be from 0 to 1, found "):
        open_tracing(replace(ON, traces_ratio=ratio))


@pytest.mark.parametrize("endpoint", ["collector:4318", "grpc://collector:4317", "http://"])
def test_an_endpoint_that_is_not_a_url_is_refused(endpoint: str) -> None:
    with pytest.raises(
        SettingsError, match=r"^SITEGLASS_TRACES_ENDPOINT: expected a URL such as http://collector:4318"
    ):
        open_tracing(replace(ON, traces_endpoint=endpoint))


def test_without_its_packages_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "siteglass.platform.otlp", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(SettingsError) as refused:
        open_tracing(ON)
    assert str(refused.value) == (
        "SITEGLASS_TRACES_ENDPOINT is set, but opentelemetry.sdk.trace is not installed. Traces need the extra "
        "`tracing`: install deploy/requirements.lock, which contains it, or unset the variable."
    )
