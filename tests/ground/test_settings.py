"""Settings that contradict each other are reported before anything starts."""

from __future__ import annotations

import pytest

from siteglass.settings import SettingsError, load_settings


def test_a_request_must_have_more_time_than_its_charge() -> None:
    told = (
        "SITEGLASS_REQUEST_TIMEOUT_MS is 2000, but must be more than SITEGLASS_CHARGE_TIMEOUT_MS, 2000: no time would "
        "be left for the search."
    )
    with pytest.raises(SettingsError) as refused:
        load_settings({"SITEGLASS_REQUEST_TIMEOUT_MS": "2000", "SITEGLASS_CHARGE_TIMEOUT_MS": "2000"})
    assert str(refused.value) == told
    assert load_settings({"SITEGLASS_CHARGE_TIMEOUT_MS": "2000"}).request_timeout_ms == 10_000
