"""Longer deadlines: a shared host takes cores away for seconds, which says nothing about the service.

They are set in the environment, so that a service waits as long whether it runs in this process or by a command. Tests
of deadlines set their own.
"""

from __future__ import annotations

import os

PATIENT = {
    "SITEGLASS_POSTGRES_TIMEOUT_MS": "10000",
    "SITEGLASS_SEARCH_TIMEOUT_MS": "30000",
    "SITEGLASS_CHARGE_TIMEOUT_MS": "15000",
    "SITEGLASS_REQUEST_TIMEOUT_MS": "60000",
    "SITEGLASS_REDIS_TIMEOUT_MS": "1000",
    "SITEGLASS_TOTAL_EXACT_MS": "20000",
    # The other way round: services of the tests have no load balancer, so they stop at once.
    "SITEGLASS_DRAIN_S": "0",
}


def be_patient() -> None:
    """From here on, services that this process starts wait longer."""
    os.environ.update(PATIENT)
