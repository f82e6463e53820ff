"""versitygw on loopback: a folder of the test as S3-compatible storage."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path
from typing import Self

import go_tools
from siteglass.settings import Settings
from testing.ports import free_port

BUCKET = "crawls"


class S3Server:
    """The process. Its one bucket is BUCKET."""

    def __init__(self, folder: Path) -> None:
        self.objects = folder / "objects"
        self._folder = folder
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.settings = Settings(
            s3_endpoint=f"http://127.0.0.1:{self._port}",
            s3_region="eu-central-1",
            s3_access_key="an-access-key",
            s3_secret_key="a-secret-key",
        )

    def __enter__(self) -> Self:
        program = go_tools.versitygw()
        # Its metadata are in files beside: not every file system has extended attributes.
        metadata = self._folder / "metadata"
        metadata.mkdir(parents=True)
        (self.objects / BUCKET).mkdir(parents=True)
        words = ["--port", f"127.0.0.1:{self._port}", "--region", self.settings.s3_region]
        with (self._folder / "versitygw.log").open("wb") as log:
            self._process = subprocess.Popen(
                [str(program), *words, "posix", "--sidecar", str(metadata), str(self.objects)],
                env={
                    "ROOT_ACCESS_KEY": self.settings.s3_access_key,
                    "ROOT_SECRET_KEY": self.settings.s3_secret_key,
                },
                stdout=log,
                stderr=log,
            )
        self._wait(self._process)
        return self

    def _wait(self, process: subprocess.Popen[bytes], within_s: float = 30) -> None:
        deadline = time.monotonic() + within_s
        while True:
            try:
                socket.create_connection(("127.0.0.1", self._port), 1).close()
                return
            except OSError:
                if time.monotonic() > deadline or process.poll() is not None:
                    said = (self._folder / "versitygw.log").read_text(errors="replace")
                    raise RuntimeError(f"versitygw did not start: {said}") from None
                time.sleep(0.02)

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)
