"""Types that openapi-typescript generates from the document compile the contract's own calls, and refuse wrong ones."""

from __future__ import annotations

import shutil
import subprocess
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


def _run(program: str, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = folder / "node_modules" / ".bin" / program
    return subprocess.run([str(path), *words], cwd=folder, capture_output=True, text=True, timeout=300)


def test_the_calls_of_the_contract_compile(tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(typescript.programs() / "node_modules")
    (tmp_path / "openapi.json").write_bytes(orjson.dumps(document(Settings())))
    (tmp_path / "tsconfig.json").write_bytes(orjson.dumps(TSCONFIG))
    shutil.copy(CALLS, tmp_path)
    generated = _run("openapi-typescript", "openapi.json", "--output", "document.d.ts", folder=tmp_path)
    assert generated.returncode == 0, generated.stdout + generated.stderr
    compiled = _run("tsc", "--project", "tsconfig.json", folder=tmp_path)
    assert (compiled.returncode, compiled.stdout) == (0, ""), compiled.stdout
