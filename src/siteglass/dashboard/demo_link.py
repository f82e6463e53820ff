"""The link that a demo prints: it signs its reader in to Explore. Only a demo has this page."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.responses import Response

from siteglass.access.accounts import AccountError
from siteglass.access.networks import Network, is_among, read_networks
from siteglass.dashboard.explore.address import EXPLORE
from siteglass.dashboard.guard import Dashboard, DeclaredPage, Visit
from siteglass.dashboard.refusals import PageRefusal
from siteglass.dashboard.sign_in import signed_in
from siteglass.people.problems import PeopleError
from siteglass.platform.addresses import read_address
from siteglass.settings import Settings, SettingsError, variable

PATH = "/dashboard/demo"
MAX_TOKEN_CHARS = 1_000
_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")
# Loopback, and what networks of containers have: no address in them reaches this machine from elsewhere.
_PRIVATE = read_networks(("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1", "fc00::/7"))


def read_demo_networks(settings: Settings) -> Sequence[Network]:
    """The networks that the link works from; none: there is no link. Raises SettingsError."""
    if not settings.demo_networks:
        return ()
    if settings.public_url and urlsplit(settings.public_url).hostname not in _LOOPBACK_NAMES:
        raise SettingsError(
            f"{variable('demo_networks')} is set, so this is a demo that people enter without a password, but "
            f"{variable('public_url')} is {settings.public_url}. Remove one of them."
        )
    try:
        networks = read_networks(settings.demo_networks)
    except AccountError as error:
        raise SettingsError(f"{variable('demo_networks')}: {error}") from None
    for network in networks:
        # Both ends of a network are private only if all of it is.
        if not (is_among(network.network_address, _PRIVATE) and is_among(network.broadcast_address, _PRIVATE)):
            raise SettingsError(
                f"{variable('demo_networks')}: {network} is not a private network, and a demo lets people in without a "
                "password. List loopback, and the network of the demo's containers."
            )
    return networks


def demo_pages(networks: Sequence[Network]) -> tuple[DeclaredPage, ...]:
    """The page of the link; nothing on a service that is not a demo."""

    async def enter(dashboard: Dashboard, visit: Visit) -> Response:
        if not is_among(read_address(visit.address), networks):
            raise PageRefusal(
                403,
                "This link works only on the machine of the demo",
                f"You come from {visit.address or 'an unknown address'}. {variable('demo_networks')} lists where the "
                "link works.",
            )
        # Browsers load an address before somebody asks for it, and programs look at it, which must not use the link up.
        if visit.request.method == "HEAD" or "prefetch" in visit.request.headers.get("sec-purpose", ""):
            return Response(status_code=503)
        try:
            passed = await dashboard.sign_in.with_demo_link(
                visit.request.path_params["token"][:MAX_TOKEN_CHARS], visit.browser
            )
        except PeopleError as error:
            raise PageRefusal(410, "This link no longer works", str(error)) from None
        return await signed_in(dashboard, visit, passed, EXPLORE)

    return (DeclaredPage("demo", "GET", f"{PATH}/{{token}}", enter, role=""),) if networks else ()
