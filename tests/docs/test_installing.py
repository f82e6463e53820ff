"""No text says to install a package of our name from the package index: those belong to other projects."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.docs.blocks import CLIENT, ROOT

# A command that fetches from the index, up to the end of the command, and in it a name that begins like ours. A path
# to a checkout (`./siteglass`, `clients/python`) is not such a name.
_COMMAND = r"(?:pip3?\s+(?:install|download|wheel)|pipx\s+(?:install|run)|uvx|uv\s+(?:add|tool)|(?:poetry|pdm)\s+add)"
_FROM_INDEX = re.compile(rf"\b{_COMMAND}\b[^\n;&|#`]*?(?<![\w./+@-])(siteglass[\w.-]*)(?!/)", re.IGNORECASE)


def _installed(text: str) -> list[str]:
    return _FROM_INDEX.findall(re.sub(r"\\\n\s*", " ", text))


def test_no_text_installs_our_name_from_the_package_index() -> None:
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    # Not this file, which names what is wrong.
    files = [path for name in tracked.split("\0") if (path := ROOT / name).is_file() and path != Path(__file__)]
    found = {str(path.relative_to(ROOT)): _installed(path.read_bytes().decode("utf-8", "replace")) for path in files}
    assert {name: names for name, names in found.items() if names} == {}


@pytest.mark.parametrize("folder", [ROOT, CLIENT], ids=["service", "client"])
def test_no_package_of_ours_depends_on_our_name_from_the_package_index(folder: Path) -> None:
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    needed = sum(project["optional-dependencies"].values(), project["dependencies"])
    assert [each for each in needed if each.lower().startswith("siteglass")] == []
    assert re.findall(r"^siteglass\S*", (ROOT / "requirements.lock").read_text(), re.MULTILINE) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('pip install "siteglass[ingest]"', ["siteglass"]),
        ("pip install -U \\\n    siteglass_client", ["siteglass_client"]),
        ("python -m pip install 'Siteglass-Client[cli]'", ["Siteglass-Client"]),
        ("uvx siteglass", ["siteglass"]),
        ("uv tool install siteglass-client", ["siteglass-client"]),
        ("uv pip install httpx siteglass==0.1", ["siteglass"]),
        ("pipx run --spec siteglass sgl", ["siteglass"]),
        ("pip install ./clients/python", []),
        ("pip install -e . && siteglass doctor", []),
        ("pip install ~/src/siteglass", []),
        ("pip install git+https://host.example/siteglass", []),
        ("`pip install .` and `siteglass migrate`", []),
    ],
)
def test_the_check_sees_what_is_wrong(text: str, names: list[str]) -> None:
    assert _installed(text) == names
