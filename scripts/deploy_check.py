"""Check all of deploy/ with the real parsers that install here, and print what each of them said.

    deploy_check.py            exit code 1 if one of them refuses

It installs the wheel into a fresh environment, and gives every configuration to the program that reads it, or to its
validator. Running them is what tests/deploy does: over TLS, and with a backup and a restore.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import deploy_tools
import go_tools
from build_dashboards import DASHBOARDS
from engine_host import CHECKOUT, EngineError, apt_install, run, say
from siteglass.settings import SettingsError, load_settings

DEPLOY = CHECKOUT / "deploy"
HAPROXY = Path("/usr/sbin/haproxy")
PROMTOOL = Path("/usr/bin/promtool")
# All that a service and its commands import without an extra.
MODULES = """
import importlib, pkgutil, siteglass
names = [module.name for module in pkgutil.walk_packages(siteglass.__path__, "siteglass.")]
of_extra = ("siteglass.ingest.", "siteglass.crawl.", "siteglass.platform.migrations.env")
names = [name for name in names if not name.startswith(of_extra)]
for name in names:
    if ".versions." not in name:
        importlib.import_module(name)
print(len(names))
"""
# Units that run `siteglass`.
SERVICE_UNITS = ("siteglass.service", "siteglass-migrate.service", "siteglass-refresh.service")
# Above this, `systemd-analyze security` calls a unit exposed.
MAX_EXPOSURE = 20


def _output(command: list[str], **options: object) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]  # options vary
    if done.returncode != 0:
        raise EngineError(
            f"`{' '.join(command)}` failed with {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}"
        )
    return str(done.stdout)


def check_wheel(folder: Path) -> str:
    """The wheel works with the runtime lock alone, from outside the checkout."""
    wheel = deploy_tools.build_wheel(folder / "dist")
    programs = deploy_tools.install_wheel(folder / "fresh", wheel)
    version = _output([str(programs / "siteglass"), "--version"], cwd=folder).strip()
    # `-I`: nothing of the checkout is found, whatever the environment says.
    modules = _output([str(programs / "python"), "-I", "-c", MODULES], cwd=folder).strip()
    return f"{version}; {modules} modules import without the extras"


def check_haproxy(folder: Path) -> str:
    """haproxy's own check of both configurations."""
    apt_install(HAPROXY, "haproxy")
    shutil.copy(folder / "prepared/tls/opensearch.pem", folder / "prepared/tls/public.pem")
    tls = str(folder / "prepared/tls")
    environment = {
        "OPENSEARCH_PASSWORD": "x",
        "OPENSEARCH_TLS": tls,
        "OPENSEARCH_BIND": ":9200",
        "OPENSEARCH_NODE": "127.0.0.1:9201",
        "PUBLIC_TLS": tls,
        "PUBLIC_BIND": ":8443",
        "SERVICE_A": "127.0.0.1:8080",
        "SERVICE_B": "127.0.0.1:8081",
    }
    files = sorted((DEPLOY / "haproxy").glob("*.cfg"))
    for file in files:
        run([str(HAPROXY), "-c", "-f", str(file)], env={**os.environ, **environment})
    return f"{len(files)} files accepted by haproxy"


def check_prometheus(folder: Path) -> str:
    """promtool reads configuration and rules and runs their tests; and it reads every query of the dashboards."""
    apt_install(PROMTOOL, "prometheus")
    rules = DEPLOY / "prometheus"
    _output([str(PROMTOOL), "check", "config", str(rules / "prometheus.yaml")])
    _output([str(PROMTOOL), "test", "rules", str(rules / "alerts_test.yaml")])
    queries = [query for dashboard in DASHBOARDS.values() for query in dashboard.queries()]
    wrapped = [{"record": f"dashboard:query{number}", "expr": query} for number, query in enumerate(queries)]
    file = folder / "dashboards.yaml"
    file.write_text(json.dumps({"groups": [{"name": "dashboards", "rules": wrapped}]}))  # YAML contains JSON
    _output([str(PROMTOOL), "check", "rules", str(file)])
    return f"rules and their tests pass promtool, and it reads {len(queries)} queries of {len(DASHBOARDS)} dashboards"


def unit_environment(unit: Path, installed: Path) -> dict[str, str]:
    """The variables that systemd gives a unit, with another folder for the files of /etc/siteglass."""
    environment: dict[str, str] = {}
    from_files: dict[str, str] = {}
    credentials: dict[str, str] = {}
    for line in unit.read_text().splitlines():
        name, _, value = line.partition("=")
        match name:
            case "LoadCredential":
                credential, _, path = value.partition(":")
                credentials[f"%d/{credential}"] = path.replace("/etc/siteglass", str(installed))
            case "Environment":
                variable, _, text = value.partition("=")
                environment[variable] = text
            case "EnvironmentFile":
                lines = (unit.parent / Path(value).name).read_text().splitlines()
                from_files |= dict(line.split("=", 1) for line in lines if not line.startswith("#"))
    # Files come last: systemd lets them override.
    return {name: credentials.get(text, text) for name, text in environment.items()} | from_files


def prepare_tls(folder: Path) -> Path:
    """An installation with TLS, as systemd and Kubernetes expect it."""
    run([str(DEPLOY / "prepare"), str(folder)], env={**os.environ, "TLS": "yes"})
    return folder


def check_systemd(folder: Path) -> str:
    """systemd's own check of the units, with a program that is there; and their settings load."""
    installed = prepare_tls(folder / "prepared-tls")
    for name in SERVICE_UNITS:
        try:
            load_settings(unit_environment(DEPLOY / "systemd" / name, installed))
        except SettingsError as error:
            raise EngineError(f"{name}: {error}") from None
    units = folder / "units"
    units.mkdir()
    for unit in (DEPLOY / "systemd").glob("siteglass*.[st]*"):
        text = unit.read_text().replace("/opt/siteglass/bin/siteglass", "/bin/true")
        (units / unit.name).write_text(text.replace("=siteglass\n", "=daemon\n"))
    paths = sorted(map(str, units.iterdir()))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *paths], capture_output=True, text=True, check=False
    )
    # Warnings about the machine's own units are not ours.
    if said := [line for line in done.stderr.splitlines() if "siteglass" in line]:
        raise EngineError("\n".join(said))
    security = ["systemd-analyze", "security", "--offline=yes", f"--threshold={MAX_EXPOSURE}"]
    level = _output([*security, str(units / "siteglass.service")]).strip().splitlines()[-1]
    return f"{len(paths)} units accepted; {level.strip('→ ')}"


def check_kubernetes(folder: Path) -> str:
    """kustomize renders the base, and every object fits the schema of Kubernetes."""
    if not shutil.which("kubectl"):
        raise EngineError("kubectl is not here: install it, it renders deploy/kubernetes")
    rendered = folder / "kubernetes.yaml"
    rendered.write_text(_output(["kubectl", "kustomize", str(DEPLOY / "kubernetes")]))
    _output([str(deploy_tools.tools() / "kubernetes-validate"), "--strict", str(rendered)])
    return f"{rendered.read_text().count(chr(10) + 'kind: ')} objects fit the schemas of Kubernetes"


def check_compose(folder: Path) -> str:
    """Docker Compose's parser reads both files."""
    environment = {**os.environ, "SITEGLASS_FOLDER": str(folder / "prepared")}
    counts = []
    for name in ("compose.yaml", "demo.yaml"):
        services = _output([str(go_tools.compose_check()), str(DEPLOY / name)], env=environment)
        counts.append(f"{len(services.split())} services of {name}")
    return f"{' and '.join(counts)} read by Docker Compose's parser"


CHECKS: dict[str, Callable[[Path], str]] = {
    "wheel": check_wheel,
    "haproxy": check_haproxy,
    "prometheus": check_prometheus,
    "systemd": check_systemd,
    "kubernetes": check_kubernetes,
    "compose": check_compose,
}


def main() -> int:
    failed = 0
    with tempfile.TemporaryDirectory(prefix="siteglass-deploy-") as name:
        folder = Path(name)
        (folder / "dist").mkdir()
        run([str(DEPLOY / "prepare"), str(folder / "prepared")])
        for check, look in CHECKS.items():
            since = time.monotonic()
            try:
                say(check, look(folder), since)
            except EngineError as error:
                say(check, f"FAILED: {error}")
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
