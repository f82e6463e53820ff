"""Runs `sgl` as a user does: as a separate process, in a pipe or on a terminal."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 60
SG = (sys.executable, "-m", "siteglass_client.cli")


@dataclass(frozen=True)
class Done:
    """What a command left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


class Desk:
    """A working folder with its own home, and perhaps a key in the environment."""

    def __init__(self, folder: Path, url: str | None, key: str | None) -> None:
        self.folder = folder
        self.key = key
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SITEGLASS_", "XDG_"))}
        given = {"SITEGLASS_URL": url, "SITEGLASS_API_KEY": key}
        self.environment = {
            **kept,
            **{name: value for name, value in given.items() if value is not None},
            "HOME": str(folder),
            "NO_PROXY": "127.0.0.1",
            "PYTHONPATH": str(ROOT / "clients/python/src"),
            "TERM": "xterm",
            "COLUMNS": "160",
        }

    def start(self, *words: str) -> subprocess.Popen[str]:
        """A command on its way."""
        return subprocess.Popen(
            [*SG, *words],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def started(self, file: Path, *words: str) -> subprocess.Popen[str]:
        """A command that has written to a file."""
        command = self.start(*words)
        ends_s = time.monotonic() + TIMEOUT_S
        while not (file.exists() and file.stat().st_size):
            assert time.monotonic() < ends_s
            assert command.poll() is None
            time.sleep(0.005)
        return command

    def run(self, *words: str, typed: str = "") -> Done:
        """A command in a pipe. Whatever it says, it shows neither a traceback nor the key."""
        process = self.start(*words)
        out, err = process.communicate(typed, timeout=TIMEOUT_S)
        return self.judged(Done(process.returncode, out, err))

    def judged(self, done: Done) -> Done:
        assert "Traceback" not in done.err
        assert self.key is None or self.key not in done.out + done.err
        return done

    def refused(self, code: int, *words: str, typed: str = "") -> str:
        """A command that fails with this code; returns the one line that it says, after the reading of a search."""
        done = self.run(*words, typed=typed)
        assert (done.code, done.out) == (code, ""), done
        *reading, line = done.err.splitlines()
        assert len(reading) <= 1
        assert line.startswith("sgl: ")
        return line

    def on_terminal(self, *words: str, typed: str = "") -> tuple[int, str]:
        """The exit code of a command, and all that a terminal shows of it while somebody types this."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [*SG, *words], cwd=self.folder, env=self.environment, stdin=theirs, stdout=theirs, stderr=theirs
        )
        os.close(theirs)
        os.write(ours, typed.encode())
        shown = bytearray()
        waiting = select.poll()  # select() takes only the first 1,024 files of a process
        waiting.register(ours, select.POLLIN)
        try:
            while waiting.poll(TIMEOUT_S * 1_000) and (chunk := os.read(ours, 65_536)):
                shown += chunk
        except OSError:  # how Linux says that nobody writes any more
            pass
        finally:
            os.close(ours)  # a command that waits for an answer that nobody types is hung up on
        return process.wait(TIMEOUT_S), shown.decode()
