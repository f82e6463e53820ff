"""deploy/demo.yaml fits the service, and its image gets every file that it is built from."""

from __future__ import annotations

import re
import tomllib
from typing import Any
from urllib.parse import urlsplit

import click
import pytest
import yaml  # type: ignore[import-untyped]  # the package has no types

from deploy_check import DEPLOY
from engine_host import CHECKOUT
from engine_opensearch import OPENSEARCH_VERSION
from siteglass.cli.main import cli
from siteglass.settings import Settings, load_settings
from siteglass_demo.commands import demo
from siteglass_demo.data import COUNT

_VARIABLE = re.compile(r"\$\{(\w+):-([^}]*)\}")
_COPY = re.compile(r"^COPY (?!--from)(.+) \S+$", re.MULTILINE)
ENGINES = {"opensearch", "postgres", "redis"}


def _read(**environment: str) -> Any:
    text = _VARIABLE.sub(lambda match: environment.get(match[1], match[2]), (DEPLOY / "demo.yaml").read_text())
    return yaml.safe_load(text)


def _settings(file: Any) -> Settings:
    return load_settings({name: str(value) for name, value in file["services"]["siteglass"]["environment"].items()})


@pytest.mark.parametrize(("port", "subnet"), [(8080, "10.231.77.0/24"), (9090, "10.1.2.0/24")])
def test_the_link_works_from_the_machine_of_the_demo(port: int, subnet: str) -> None:
    defaults = port == 8080
    file = _read() if defaults else _read(SITEGLASS_PORT=str(port), SITEGLASS_DEMO_SUBNET=subnet)
    service, settings = file["services"]["siteglass"], _settings(file)
    # The port is the same inside and outside, since the link contains the one that the service listens on.
    assert (settings.host, settings.port) == ("0.0.0.0", port)
    assert service["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert file["networks"]["default"]["ipam"]["config"] == [{"subnet": subnet}]
    assert settings.demo_networks == ("127.0.0.0/8", subnet)


def test_the_service_waits_for_engines_that_are_not_published() -> None:
    services = _read()["services"]
    assert services.keys() == {"siteglass", *ENGINES}
    assert services["siteglass"]["depends_on"] == {name: {"condition": "service_healthy"} for name in ENGINES}
    assert [name for name, service in services.items() if "healthcheck" not in service] == []
    assert [name for name, service in services.items() if "ports" in service] == ["siteglass"]
    production = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    assert services["opensearch"]["image"] == f"opensearchproject/opensearch:{OPENSEARCH_VERSION}"
    assert [name for name in ("opensearch", "redis") if services[name]["image"] != production[name]["image"]] == []


def test_both_roles_are_created() -> None:
    file = _read()
    settings = _settings(file)
    addresses = [urlsplit(dsn) for dsn in (settings.postgres_dsn, settings.postgres_owner_dsn)]
    roles = file["configs"]["roles.sql"]["content"]
    assert {f"CREATE ROLE {address.username} LOGIN;" for address in addresses} <= set(roles.splitlines())
    assert {(address.hostname, address.path) for address in addresses} == {("postgres", "/siteglass")}
    assert f"CREATE DATABASE siteglass OWNER {addresses[1].username} " in roles


def test_the_command_exists() -> None:
    group, command, *words = _read()["services"]["siteglass"]["command"]
    assert group == demo.name
    # As the command line does: click keeps the names of the first help option that it is asked for.
    above = click.Context(demo, parent=click.Context(cli, **cli.context_settings))
    context = demo.commands[command].make_context(command, words, parent=above)
    assert (context.params["count"], context.params["stay"]) == (COUNT, True)


def test_the_image_gets_the_files_that_it_copies() -> None:
    """Everything is ignored but what .dockerignore names; a wheel is there only after `make wheel`."""
    copied = {
        source
        for line in _COPY.findall((DEPLOY / "Containerfile").read_text())
        for source in line.split()
        if not source.startswith("dist/")
    }
    # The demo's image builds the package as the source distribution does.
    build = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    assert {"deploy/requirements-build.lock", "pyproject.toml"} <= copied
    assert {source.removeprefix("/") for source in build["sdist"]["include"]} <= copied
    assert [source for source in copied if not (CHECKOUT / source).exists()] == []
    ignored, *named = [
        line for line in (CHECKOUT / ".dockerignore").read_text().splitlines() if not line.startswith("#")
    ]
    assert ignored == "*"
    assert [source for source in copied if {f"!{source}", f"!{source.split('/')[0]}"}.isdisjoint(named)] == []
