"""A service over leads of the client's own, customers of it, and clients for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from siteglass.demo import generate
from siteglass.lead import Lead
from siteglass.settings import Settings
from siteglass_client import Siteglass
from tests.api.paying import Bank, Customer
from tests.client.commanding import Desk
from tests.running import filled, serving

LEADS = 600
SEED = 11

Connect = Callable[..., Siteglass]


@pytest.fixture(scope="session")
def sold() -> list[Lead]:
    """The leads of the service, in the order of `sort: domain`."""
    return sorted(generate(LEADS, SEED), key=lambda lead: lead.domain)


@pytest.fixture(scope="session")
def shop_settings(sold: list[Lead], tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Settings:
    return filled(f"client-{worker_id}", sold, tmp_path_factory.mktemp("client"))


@pytest.fixture(scope="session")
def bank(shop_settings: Settings) -> Iterator[Bank]:
    """Makes customers of the service, and reads their books."""
    with serving(shop_settings) as client:
        made = Bank(shop_settings, str(client.base_url))
        yield made
        made.close()


@pytest.fixture
def customer(bank: Bank) -> Customer:
    """Somebody with more credits than any test spends."""
    return bank.customer(api=1_000, lead=10_000)


@pytest.fixture
def connect(bank: Bank) -> Iterator[Connect]:
    """Makes clients for customers; closed afterwards."""
    with ExitStack() as opened:

        def made(customer: Customer, **options: object) -> Siteglass:
            given = {"base_url": bank.base_url, **options}
            return opened.enter_context(Siteglass(customer.key, **given))  # type: ignore[arg-type]

        yield made


@pytest.fixture
def desk(bank: Bank, customer: Customer, tmp_path: Path) -> Desk:
    """A user of the command line whose key is in the environment."""
    return Desk(tmp_path, bank.base_url, customer.key)
