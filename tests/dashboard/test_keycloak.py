"""The same sign-in at a real Keycloak, which is downloaded on the first run and kept in var/downloads."""

from __future__ import annotations

import html
import os
import re
import secrets
import signal
import subprocess
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import orjson
import pytest

from engine_host import CHECKOUT, fetch, java_home, locked
from testing.dashboard.actions import words
from testing.dashboard.visitors import Office, office
from testing.ports import free_port
from tests.suppression.world import command

pytestmark = pytest.mark.nightly

VERSION = "26.4.0"
SHA256 = "9fe5f9213ecf83f24b53b27409f3e0f20e10edce36aaa0828778a57c80f07a87"
START_S = 420
SIGN_IN = "/dashboard/sign-in/company"
PEOPLE_GROUP = "sales"
REALM = {
    "realm": "staff",
    "enabled": True,
    "sslRequired": "none",
    "groups": [{"name": PEOPLE_GROUP}],
    "clients": [
        {
            "clientId": "siteglass",
            "secret": "the secret of the client",
            "redirectUris": ["*"],
            "protocolMappers": [
                {
                    "name": "groups",
                    "protocol": "openid-connect",
                    "protocolMapper": "oidc-group-membership-mapper",
                    "config": {"claim.name": "groups", "full.path": "false", "id.token.claim": "true"},
                }
            ],
        }
    ],
    "users": [
        {
            "username": "jo",
            "enabled": True,
            "email": "jo@staff.test",
            "emailVerified": True,
            "firstName": "Jo",
            "lastName": "Doe",
            "credentials": [{"type": "password", "value": "pw"}],
            "groups": [f"/{PEOPLE_GROUP}"],
        }
    ],
}


@pytest.fixture(scope="module")
def keycloak(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Keycloak with the realm."""
    kept, folder, port = CHECKOUT / "var/downloads", tmp_path_factory.mktemp("keycloak"), free_port()
    kept.mkdir(parents=True, exist_ok=True)
    with locked(kept / ".lock"):
        package = kept / f"keycloak-quarkus-dist-{VERSION}.tar.gz"
        if not package.exists():
            fetch(f"org.keycloak:keycloak-quarkus-dist:{VERSION}:tar.gz", SHA256, kept)
    with tarfile.open(package) as files:
        files.extractall(folder, filter="data")
    home = folder / f"keycloak-{VERSION}"
    (home / "data/import").mkdir(parents=True)
    (home / "data/import/staff.json").write_bytes(orjson.dumps(REALM))
    environment = {
        **os.environ, "KC_BOOTSTRAP_ADMIN_USERNAME": "admin", "KC_BOOTSTRAP_ADMIN_PASSWORD": "admin",
        "JAVA_OPTS_KC_HEAP": "-Xms64m -Xmx512m", "JAVA_HOME": str(java_home(17)),
    }  # fmt: skip
    options = ["start-dev", "--http-host", "127.0.0.1", "--http-port", str(port), "--import-realm"]
    address = f"http://127.0.0.1:{port}"
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [home / "bin/kc.sh", *options], env=environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            _wait(address, folder / "log")
            yield address
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)


def _wait(address: str, log: Path) -> None:
    ends = time.monotonic() + START_S
    while time.monotonic() < ends:
        try:
            if (
                httpx.get(f"{address}/realms/staff/.well-known/openid-configuration", trust_env=False).status_code
                == 200
            ):
                return
        except httpx.HTTPError:
            pass
        time.sleep(1)
    pytest.fail(f"Keycloak did not start: {log.read_text()[-2000:]}", pytrace=False)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Office]:
    folder = tmp_path_factory.mktemp("sso")
    with office(f"keycloak-{worker_id}", folder, own_tables=True, outgoing_allowed=("127.0.0.1",)) as made:
        yield made


def _leave_group(keycloak: str) -> None:
    """Jo loses the group, by Keycloak's own API."""
    with httpx.Client(base_url=keycloak, trust_env=False, timeout=60) as client:
        form = {"grant_type": "password", "client_id": "admin-cli", "username": "admin", "password": "admin"}
        token = client.post("/realms/master/protocol/openid-connect/token", data=form).json()["access_token"]
        client.headers["Authorization"] = f"Bearer {token}"
        (user,) = client.get("/admin/realms/staff/users?username=jo").json()
        (group,) = client.get(f"/admin/realms/staff/users/{user['id']}/groups").json()
        assert client.delete(f"/admin/realms/staff/users/{user['id']}/groups/{group['id']}").status_code == 204


@pytest.mark.promise("sso.in", "sso.groups")
def test_somebody_signs_in_at_keycloak_and_a_lost_group_ends_it(keycloak: str, service: Office, tmp_path: Path) -> None:
    account = service.account(f"Staff {secrets.token_hex(4)}")
    service.somebody(account, "owner")
    secret = tmp_path / "secret"
    secret.write_text("the secret of the client")
    command(
        service.settings, "sso", "set", str(account), "--issuer", f"{keycloak}/realms/staff",
        "--client-id", "siteglass", "--client-secret", str(secret), "--domain", "staff.test",
        "--group", f"{PEOPLE_GROUP}=member",
    )  # fmt: skip
    visitor = service.visitor()
    visitor.get(SIGN_IN)
    sent = visitor.post(SIGN_IN, {"email": "jo@staff.test"})
    found = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', sent.text)
    assert found, words(sent)
    page = httpx.get(html.unescape(found[1]), trust_env=False, timeout=60)
    form = re.search(r'<form[^>]*action="([^"]+)"', page.text)
    assert form, page.text[:500]
    # Its cookies are for https, and on this machine only browsers send them without.
    cookies = "; ".join(cookie.partition(";")[0] for cookie in page.headers.get_list("set-cookie"))
    entered = httpx.post(
        html.unescape(form[1]), data={"username": "jo", "password": "pw"}, headers={"Cookie": cookies},
        trust_env=False, timeout=60,
    )  # fmt: skip
    back = urlsplit(entered.headers["location"])
    answer = visitor.get(f"{back.path}?{back.query}")
    assert (answer.status_code, answer.headers.get("location")) == (303, "/dashboard/explore"), words(answer)
    assert "Jo Doe" in visitor.get("/dashboard/usage").text
    # Proven at Keycloak just now: it says when.
    assert visitor.get("/dashboard/keys/new").status_code == 200

    _leave_group(keycloak)
    assert visitor.get("/dashboard/usage").status_code == 200
    earlier = "UPDATE {schema}.sessions SET checked_at = checked_at - interval '40 seconds'"
    service.do(lambda postgres: postgres.fetch(earlier))
    assert visitor.get("/dashboard/usage").status_code == 303
