"""Account, usage and ledger over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from siteglass.access.keys import Caller
from siteglass.billing import account_status as standing
from siteglass.billing import receipts
from siteglass.billing.heads import signed_head
from siteglass.billing.operations import ACCOUNT, LEDGER, RECEIPT, USAGE
from siteglass.billing.requests import is_request_id, read_ledger, read_usage, too_many_rows
from siteglass.billing.responses import account_response, ledger_response, receipt_response, usage_response
from siteglass.errors import NotFound
from siteglass.platform.backends import Backends
from siteglass.web.guard import Call, Guard
from siteglass.web.parameters import read_no_parameters
from siteglass.web.responses import json_response


class BillingEndpoints:
    """What an account has, used and paid; the same for test keys."""

    def __init__(self, backends: Backends) -> None:
        self._clock = backends.clock
        self._postgres = backends.postgres
        self._max_domains = backends.settings.max_enrich_domains

    def routes(self, guard: Guard) -> list[Route]:
        """The operations."""
        return [
            guard.route(ACCOUNT, self.account),
            guard.route(USAGE, self.usage),
            guard.route(LEDGER, self.ledger),
            guard.route(RECEIPT, self.receipt),
        ]

    async def account(self, request: Request, caller: Caller, _call: Call) -> Response:
        """Balances, plan and limits."""
        read_no_parameters(request.query_params)
        overview = await standing.overview(self._postgres, caller)
        return json_response(account_response(overview, self._max_domains))

    async def usage(self, request: Request, caller: Caller, _call: Call) -> Response:
        """Credits by day, operation and key."""
        today = datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC).date()
        wanted = read_usage(request.query_params, today)
        rows = await receipts.usage(
            self._postgres,
            caller.account_id,
            wanted.first,
            wanted.last,
            wanted.key_id,
        )
        if rows is None:
            raise too_many_rows()
        return json_response(usage_response(wanted, rows))

    async def ledger(self, request: Request, caller: Caller, _call: Call) -> Response:
        """Ledger entries, a page at a time."""
        wanted = read_ledger(request.query_params, ",".join(request.headers.getlist("accept")))
        entries = await receipts.entries(self._postgres, caller.account_id, wanted.wanted)
        return ledger_response(wanted, entries, await signed_head(self._postgres, caller.account_id))

    async def receipt(self, request: Request, caller: Caller, _call: Call) -> Response:
        """All entries of one request."""
        read_no_parameters(request.query_params)
        request_id = request.path_params["request_id"]
        entries = None
        if is_request_id(request_id):
            entries = await receipts.of_request(self._postgres, caller.account_id, request_id)
        if not entries:
            raise NotFound(request.url.path[:200], missing="receipt")
        return json_response(receipt_response(request_id, entries))
