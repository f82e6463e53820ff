"""Types that openapi-typescript makes of the document compile a call of every operation, and refuse wrong ones."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import orjson

import typescript
from siteglass.openapi.document import document
from siteglass.settings import Settings

CALLS = Path(__file__).with_name("calls.ts")
TSCONFIG = {
    "compilerOptions": {
        "strict": True,
        "noEmit": True,
        "module": "ESNext",
        "moduleResolution": "Bundler",
        "target": "ES2022",
        "lib": ["ES2022", "DOM"],
        "types": [],
    },
    "files": ["calls.ts"],
}


def test_the_calls_of_the_contract_compile(tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(typescript.programs() / "node_modules")
    (tmp_path / "tsconfig.json").write_bytes(orjson.dumps(TSCONFIG))
    shutil.copy(CALLS, tmp_path)
    typescript.generate(tmp_path / "document.ts")
    typescript.call("tsc", "--project", "tsconfig.json", folder=tmp_path)


def test_the_program_calls_every_operation_and_has_no_cast() -> None:
    program = CALLS.read_text()
    operations = {
        (method.upper(), path)
        for path, methods in document(Settings())["paths"].items()
        for method in methods
        if method != "parameters"
    }
    assert set(re.findall(r'client\.([A-Z]+)\("([^"]+)"', program)) == operations
    code = [line for line in program.splitlines() if not line.startswith("//")]
    assert [line for line in code if re.search(r"\bas\b|\bany\b|@ts-ignore|!\.", line)] == []
