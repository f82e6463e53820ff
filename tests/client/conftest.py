"""A service over leads of the client's own, customers of it, and clients for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from siteglass.corpus.lead import SOCIAL_NETWORKS, Lead
from siteglass.settings import Settings
from siteglass_client import Siteglass
from siteglass_demo.leads import generate
from testing.customers import Bank, Customer
from testing.service import SECRET, filled, serving
from tests.client.commanding import Desk

LEADS = 600
SEED = 11
HOSTILE = "hostilium"
"""A keyword of leads whose texts are as long and as hard to spell as a record may have."""

Connect = Callable[..., Siteglass]


@pytest.fixture(scope="session")
def sold() -> list[Lead]:
    """The leads of the service, in the order of `sort: domain`."""
    hostile = [_hostile(number) for number in range(9)]
    return sorted([*generate(LEADS, SEED), *hostile], key=lambda lead: lead.domain)


def _hostile(number: int) -> Lead:
    """The last ones in the order of domains; of three in a row one has no address."""
    long = f"zz{number}-{'x' * 50}.{'y' * 60}.{'z' * 60}.example"
    addresses = [f"{'jo' * 20}{place}@{long}" for place in range(25)]
    return Lead(
        domain=long,
        crawled_at_ms=1_790_000_000_000,
        business_name='"\\\x01' * 100,
        title="漢" * 500,
        description="\n😀" * 900,
        keywords=(HOSTILE, *(f"{place} {'長' * 100}" for place in range(100))),
        emails=tuple(addresses[: number % 3 * 12]),
        phones=tuple(f"+49 30 {place:010}" for place in range(100)),
        social_links=dict.fromkeys(SOCIAL_NETWORKS, f"https://{long}/{'p' * 200}"),
        technologies=tuple(f"technology {place}" for place in range(150)),
        city="C" * 500,
    )


@pytest.fixture(scope="session")
def shop_settings(sold: list[Lead], tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Settings:
    return replace(filled(f"client-{worker_id}", sold, tmp_path_factory.mktemp("client")), dashboard_secrets=(SECRET,))


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
