"""A bare Debian: a root that debootstrap makes, with its own processes and mounts. When it ends, they all end.

Whatever runs in it is a child of its first process, in a separate process namespace. So killing that one process ends
everything, and mounts go with it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from deploy_proof.scorecard import ProofError
from engine_host import apt_install, run
from testing.progress import say

CLONE_NEWNET = 0x40000000
# The first process adopts orphans, and must reap them: PostgreSQL takes one that was not reaped for a running one.
FIRST = "mount -t proc proc /proc && mount -t tmpfs tmpfs /dev/shm && echo up && while :; do sleep 3600 & wait; done"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
RELEASE = Path("/srv/release")
SHIM = Path(__file__).parent / "systemctl"
# Mirrors and proxies of this machine are its own business: they are read when the proof runs.
PIP_FILES = (Path("/etc/pip.conf"), Path.home() / ".config/pip/pip.conf", Path.home() / ".pip/pip.conf")


class Machine:
    """The bare Debian, in a folder that is deleted at its end, unless it is to be kept for a look."""

    def __init__(self, folder: Path, downloads: Path, *, keep: bool = False) -> None:
        self.folder = folder
        self.root = folder / "root"
        self._downloads = downloads
        self._keep = keep
        self._first: subprocess.Popen[str] | None = None
        self._pid = 0

    def __enter__(self) -> Self:
        self.root.mkdir(parents=True)
        self.root.chmod(0o755)
        return self

    def __exit__(self, *_: object) -> None:
        if self._first is not None:
            self._first.kill()
            self._first.wait(30)
        if self._keep:
            say(f"kept: {self.folder}")
            return
        mounted = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
        if any(Path(place).is_relative_to(self.folder) for place in mounted):
            raise ProofError(f"{self.folder} is not deleted: something is still mounted there")
        shutil.rmtree(self.folder, ignore_errors=True)

    def make(self) -> str:
        """Fill the root; returns what it is."""
        apt_install(Path("/usr/sbin/debootstrap"), "debootstrap")
        self._downloads.mkdir(parents=True, exist_ok=True)
        suite = _os_release()["VERSION_CODENAME"]
        # In a mount namespace of its own: what it mounts does not stay, even if it fails.
        run(
            [
                *("unshare", "--mount", "debootstrap", "--variant=minbase", "--include=sudo"),
                *(f"--cache-dir={self._downloads}", suite, str(self.root), _mirror(suite)),
            ]
        )
        self._configure()
        self._boot()
        return f"{self.sh('cat /etc/debian_version').strip()} ({suite}), {_size_mb(self.root):,} MB"

    def _configure(self) -> None:
        """What belongs to this machine: names, downloads, and no server that starts by itself."""
        etc = self.root / "etc"
        for name in ("resolv.conf", "hosts"):
            shutil.copy(f"/etc/{name}", etc / name)
        settings = subprocess.run(["apt-config", "dump", "Acquire"], capture_output=True, text=True, check=True).stdout
        own = re.findall(r"^Acquire::(?:https?|Retries|ForceIPv).*\n", settings, re.MULTILINE)
        (etc / "apt/apt.conf.d/00machine").write_text("".join(own))
        policy = self.root / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n")
        shutil.copy(SHIM, self.root / "usr/local/sbin/systemctl")
        for program in (policy, self.root / "usr/local/sbin/systemctl"):
            program.chmod(0o755)
        for file in filter(Path.exists, PIP_FILES):
            shutil.copy(file, etc / "pip.conf")
        if links := os.environ.get("PIP_FIND_LINKS", ""):
            for place in filter(Path.is_dir, map(Path, links.split())):
                shutil.copytree(place, self.root / place.relative_to("/"), dirs_exist_ok=True)
        if certificates := os.environ.get("PIP_CERT"):
            shutil.copy(certificates, etc / "machine-ca.pem")

    def _boot(self) -> None:
        (self.root / "dev/shm").mkdir(parents=True, exist_ok=True)
        # Killed with this process, whatever ends it; and `unshare` kills its child.
        self._first = subprocess.Popen(
            [
                *("setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child"),
                *("chroot", str(self.root), "/bin/bash", "-c", FIRST),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        if self._first.stdout is None or self._first.stdout.readline() != "up\n":
            raise ProofError("the root does not start")
        pid = self._first.pid
        (self._pid,) = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())

    def command(self, text: str, variables: Mapping[str, str] | None = None, cwd: Path = RELEASE) -> list[str]:
        """The command that runs a script in the root."""
        given = {"PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
        given |= {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        if "PIP_CERT" in given:
            given["PIP_CERT"] = "/etc/machine-ca.pem"
        given |= variables or {}
        settings = [f"{name}={value}" for name, value in given.items()]
        place = cwd if (self.root / cwd.relative_to("/")).exists() else Path("/")
        return [
            *("nsenter", f"--target={self._pid}", "--mount", "--pid", "--root"),
            *("env", "--ignore-environment", f"--chdir={place}", *settings, "bash", "-euo", "pipefail", "-c", text),
        ]

    def sh(self, text: str, *, code: int = 0, quiet: bool = True) -> str:
        """Run a script in the root as root; returns what it prints. Another exit code than expected is an error."""
        if not quiet:
            for line in text.strip().splitlines():
                say(f"  | {line}")
        done = subprocess.run(
            self.command(text), stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
        )
        if done.returncode != code:
            said = (done.stdout + done.stderr)[-3000:]
            raise ProofError(f"exit code {done.returncode} instead of {code}:\n{text.strip()}\n{said}")
        return done.stdout if code == 0 else done.stdout + done.stderr

    def sql(self, statement: str) -> str:
        """The result of a statement in the service's database, as PostgreSQL's own user."""
        quoted = statement.replace("'", "'\\''")
        return self.sh(f"cd / && sudo -u postgres psql -d siteglass -qAtX -v ON_ERROR_STOP=1 -c '{quoted}'").strip()

    def pids(self) -> dict[int, str]:
        """Every process in the root, by its number outside, with its command line."""
        found = {}
        space = os.readlink(f"/proc/{self._pid}/ns/pid")
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if os.readlink(folder / "ns/pid") == space:
                    found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
        return found


def cut_network() -> None:
    """From here on, this process and all that it starts have a loopback of their own, and nothing else."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(CLONE_NEWNET) != 0:
        raise ProofError(f"no network of its own: {os.strerror(ctypes.get_errno())}")
    run(["ip", "link", "set", "lo", "up"])


def _os_release() -> dict[str, str]:
    pairs = (line.partition("=") for line in Path("/etc/os-release").read_text().splitlines())
    return {name: value.strip('"') for name, _, value in pairs}


def _mirror(suite: str) -> str:
    """Where this machine gets the packages of its Debian."""
    places = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)", "Created-By: Packages"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = re.findall(rf"^(\S+) {re.escape(suite)}$", places, re.MULTILINE)
    if not found:
        raise ProofError(f"apt on this machine has no packages of {suite}")
    return str(found[0])


def _size_mb(folder: Path) -> int:
    words = subprocess.run(
        ["du", "--summarize", "--block-size=1M", "--one-file-system", str(folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(words.stdout.split()[0])
