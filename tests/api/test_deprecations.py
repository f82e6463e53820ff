"""What is deprecated says so: in the headers of responses that use it, and in the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from openapi_spec_validator import validate

from siteglass.openapi.document import document
from siteglass.openapi.operations import OPERATIONS
from siteglass.settings import Settings
from siteglass.web import deprecations
from siteglass.web.deprecations import DEPRECATIONS, Deprecation
from siteglass.web.messages import names_of
from testing.api_calls import ACCOUNT, ENRICH, FACETS, LEDGER, SEARCH, USAGE
from testing.service import serving
from tests.api.describing import Description

SINCE, SUNSET, LATER = (datetime(2027, month, 1, tzinfo=UTC) for month in (1, 8, 9))
EXAMPLES = (
    Deprecation("facets", SINCE, SUNSET),
    Deprecation("search", SINCE, LATER, "request", "city", "/docs/deprecation#city"),
    Deprecation("search", SINCE, SUNSET, "request", "state", "/docs/deprecation#state"),
    Deprecation("ledger", SINCE, SUNSET, "request", "limit"),
    Deprecation("account", SINCE, SUNSET, "response", "prices"),
)
ANNOUNCED = {
    "deprecation": "@1798761600",
    "sunset": "Sun, 01 Aug 2027 00:00:00 GMT",
    "link": '</docs/deprecation>; rel="deprecation"',
}
BY_NAME = {operation.name: operation for operation in OPERATIONS}
DOCS = Path(deprecations.__file__).parent / "static" / "docs"


@pytest.fixture(scope="module")
def announcing(own_settings: Settings) -> Iterator[httpx.Client]:
    """A service with the examples in its table."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deprecations, "DEPRECATIONS", EXAMPLES)
        document.cache_clear()
        with serving(own_settings) as client:
            yield client
    document.cache_clear()


def _announced(response: httpx.Response) -> dict[str, str]:
    return {name: response.headers[name] for name in ANNOUNCED if name in response.headers}


def test_every_response_of_an_operation_announces_it(announcing: httpx.Client) -> None:
    assert _announced(announcing.post(FACETS, json={"country": "Germany"})) == ANNOUNCED
    # An error keeps its link to the explanation of its code.
    refused = announcing.post(FACETS, json={"nonsense": 1})
    assert refused.status_code == 400
    both = '</docs/errors/INVALID_REQUEST>; rel="help", </docs/deprecation>; rel="deprecation"'
    assert _announced(refused) == {**ANNOUNCED, "link": both}


def test_a_field_is_announced_to_those_who_send_it(announcing: httpx.Client) -> None:
    assert _announced(announcing.post(SEARCH, json={"limit": 1})) == {}
    city = announcing.post(SEARCH, json={"limit": 1, "city": "Seattle"})
    assert _announced(city) == {
        "deprecation": "@1798761600",
        "sunset": "Wed, 01 Sep 2027 00:00:00 GMT",
        "link": '</docs/deprecation#city>; rel="deprecation"',
    }
    # Of two, the one that goes first.
    both = announcing.post(SEARCH, json={"limit": 1, "city": "Seattle", "country": "USA", "state": "WA"})
    assert _announced(both) == {**ANNOUNCED, "link": '</docs/deprecation#state>; rel="deprecation"'}


def test_a_parameter_and_a_field_of_responses(announcing: httpx.Client) -> None:
    assert "deprecation" not in announcing.get(LEDGER).headers
    page = announcing.get(LEDGER, params={"limit": 5})
    assert page.headers["deprecation"] == ANNOUNCED["deprecation"]
    assert page.headers["link"].endswith(ANNOUNCED["link"])
    assert _announced(announcing.get(ACCOUNT)) == ANNOUNCED


def test_other_operations_announce_nothing(announcing: httpx.Client) -> None:
    assert _announced(announcing.post(ENRICH, json={"domains": ["full-record.com"]})) == {}
    assert _announced(announcing.get(USAGE)) == {}


def test_the_document_marks_it(announcing: httpx.Client) -> None:
    described = Description(announcing)
    validate(described.document)
    assert [name for name in BY_NAME if described.operation(name).get("deprecated")] == ["facets"]
    search = described.schemas["SearchBody"]["properties"]
    assert [name for name, schema in search.items() if schema.get("deprecated")] == ["state", "city"]
    parameters = described.operation("ledger")["parameters"]
    assert [parameter["name"] for parameter in parameters if parameter.get("deprecated")] == ["limit"]
    account = described.schemas["AccountResponse"]["properties"]
    assert [name for name, schema in account.items() if schema.get("deprecated")] == ["prices"]
    described.check_answer("facets", announcing.post(FACETS, json={"country": "Germany"}))
    described.check_answer("search", announcing.post(SEARCH, json={"limit": 1, "city": "Seattle"}))


@pytest.mark.parametrize("row", [*DEPRECATIONS, *EXAMPLES], ids=lambda row: f"{row.operation}.{row.field}")
def test_a_row_names_what_exists_and_leaves_six_months(row: Deprecation) -> None:
    operation = BY_NAME[row.operation]
    taken = (operation.body, operation.parameters)
    structs = {"operation": (), "request": taken, "response": operation.success.bodies}[row.kind]
    assert (row.kind == "operation") == (row.field == "")
    assert row.kind == "operation" or any(struct and row.field in names_of(struct) for struct in structs)
    assert row.sunset - row.since >= timedelta(days=180)
    assert (DOCS / f"{row.page.removeprefix('/docs/').partition('#')[0]}.html").is_file()
