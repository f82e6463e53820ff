"""What running engines takes from the machine: folders, users, packages, processes, ports.

A process is ours when its pid is in our pid file and it works inside the engine's folder. So a pid that
the system has since given to another process is never signalled.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import pwd
import re
import shutil
import socket
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
ENGINES_USER = "siteglass-engines"
DOWNLOAD_ATTEMPTS = 4
DOWNLOAD_TIMEOUT_S = 600
COMMAND_TIMEOUT_S = 900
POLL_S = 0.1


class EngineError(Exception):
    """Something the person who ran the command can act on; the message says how."""


# --- where the engines live, and who runs them ---------------------------------------------------


def engines_root() -> Path:
    """`.engines` in the checkout or, where the engines' users cannot get there, a separate folder.

    Depends only on the checkout's path and permissions, so that `up` and `down` find the same one.
    """
    if chosen := os.environ.get("SITEGLASS_ENGINES_DIR"):
        return Path(chosen).resolve()
    if os.geteuid() != 0 or others_can_enter(CHECKOUT):
        return CHECKOUT / ".engines"
    name = f"siteglass-{hashlib.sha256(os.fsencode(CHECKOUT)).hexdigest()[:12]}"
    return Path("/var/tmp") / name  # noqa: S108 -- make_root refuses one that is not ours


def others_can_enter(folder: Path) -> bool:
    return all(path.stat().st_mode & stat.S_IXOTH for path in (folder, *folder.parents))


def make_root(root: Path) -> None:
    root.mkdir(parents=True, exist_ok=True)
    if root.stat().st_uid != os.geteuid():
        # /var/tmp is everybody's: someone else may have put a folder of that name there.
        raise EngineError(f"{root} belongs to another user: set SITEGLASS_ENGINES_DIR to a folder of yours")


def check_reachable(root: Path, user: str) -> None:
    if os.geteuid() == 0 and not others_can_enter(root):
        raise EngineError(f"the user {user} cannot get into {root}: set SITEGLASS_ENGINES_DIR to another folder")


def as_user(user: str) -> dict[str, Any]:
    """Arguments of subprocess that drop root's rights; none of the engines should have them."""
    if os.geteuid() != 0:
        return {}
    account = engine_account(user)
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


def engine_account(user: str) -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(user)
    except KeyError:
        if user != ENGINES_USER:
            raise EngineError(f"there is no user {user} on this machine") from None
    with contextlib.suppress(EngineError):  # two engines may want it at once
        run(["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", user])
    return pwd.getpwnam(user)


def give(folder: Path, user: str) -> None:
    """Make the folder, and hand it with all that is in it to the user that the engine runs as."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if os.geteuid() != 0:
        return
    account = engine_account(user)
    for path in (folder, *folder.iterdir()):
        os.chown(path, account.pw_uid, account.pw_gid)


# --- what has to be on the machine ---------------------------------------------------------------


def java_home(min_version: int) -> Path:
    """A JDK that OpenSearch runs on: the one that was asked for, else the oldest that is new enough."""
    asked = [Path(os.environ[name]) for name in ("OPENSEARCH_JAVA_HOME", "JAVA_HOME") if os.environ.get(name)]
    found = sorted(Path("/usr/lib/jvm").glob("*"), key=jdk_version)
    for home in (*asked, *found):
        if jdk_version(home) >= min_version:
            return home
    raise EngineError(
        f"OpenSearch needs a JDK of version {min_version} or newer and none was found in /usr/lib/jvm: "
        "install one, and set OPENSEARCH_JAVA_HOME if it is somewhere else"
    )


def jdk_version(home: Path) -> int:
    try:
        match = re.search(r'^JAVA_VERSION="(\d+)', (home / "release").read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(match[1]) if match and (home / "bin/java").exists() else 0


def apt_install(program: Path, package: str) -> None:
    if program.exists():
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise EngineError(f"{program} is missing: install the package {package}")
    since = time.monotonic()
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    apt = ["apt-get", "--quiet", "--yes", "-o", "Acquire::Retries=5", "-o", "DPkg::Lock::Timeout=300"]
    # Two engines may miss their packages at once, and apt's lists are locked without a wait.
    with locked(Path("/var/lock/siteglass-apt")):
        if program.exists():  # the process that had the lock installed it
            return
        run([*apt, "update"], env=quiet)
        # A package's own server must not start: it would take the machine's usual port.
        run([*apt, "install", "--no-install-recommends", package], env=quiet | {"RUNLEVEL": "1"})
    say("apt", f"installed {package}", since)


def fetch(artifact: str, sha256: str, into: Path) -> Path:
    """One file from Maven's repositories, as the machine's Maven settings reach them.

    Its sha256 is checked here and not left to Maven: the repository lacks a checksum of some files.
    """
    if not shutil.which("mvn"):
        apt_install(Path("/usr/bin/mvn"), "maven")
    since = time.monotonic()
    _, name, version, kind = artifact.split(":")
    wanted = into / f"{name}-{version}.{kind}"
    copy = ["mvn", "--batch-mode", "--quiet", "dependency:copy", f"-Dartifact={artifact}"]
    for attempt in range(1, DOWNLOAD_ATTEMPTS + 1):
        try:
            # Maven remembers failures; `-U` makes it ask again.
            again = ["-U"] if attempt > 1 else []
            run([*copy, f"-DoutputDirectory={into}", *again], cwd="/", timeout=DOWNLOAD_TIMEOUT_S)
            break
        except EngineError:
            if attempt == DOWNLOAD_ATTEMPTS:
                raise
            say("maven", f"{name}: attempt {attempt} failed, trying again", since)
            time.sleep(2**attempt)
    with wanted.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != sha256:
            raise EngineError(f"{wanted} is not the file this project was made with: its sha256 differs")
    say("maven", f"fetched {name} {version}", since)
    return wanted


# --- processes ------------------------------------------------------------------------------------

# Kept so that children that end while we run can be reaped, and Python has no reason to warn.
_children: list[subprocess.Popen[bytes]] = []


def reap() -> None:
    """Let go of children that have ended: PostgreSQL takes one that was not reaped for a running one."""
    _children[:] = [child for child in _children if child.poll() is None]


def spawn(command: list[str], folder: Path, user: str, env: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    reap()
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C in the terminal is not meant for the engines
            **as_user(user),
        )
    _children.append(process)
    return process


def works_inside(pid: int, folder: Path) -> bool:
    reap()
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        where = Path(os.readlink(f"/proc/{pid}/cwd"))
    except OSError:
        return False
    return state not in "ZX" and where.is_relative_to(folder)


def run(command: list[str], timeout: float = COMMAND_TIMEOUT_S, **options: Any) -> None:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
            **options,
        )
    except subprocess.TimeoutExpired:
        raise EngineError(f"`{' '.join(command)}` took more than {timeout:.0f} s") from None
    if done.returncode != 0:
        raise EngineError(f"`{' '.join(command)}` failed with {done.returncode}:\n{done.stdout[-3000:]}")


def port_from_environment(setting: str, default: int) -> int:
    text = os.environ.get(setting) or str(default)
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise EngineError(f"{setting} must be a port number, not {text!r}")
    return int(text)


def port_is_free(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # closed connections do not count
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def wait_until(condition: Callable[[], bool], timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """One command at a time: two of them would start everything twice."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def tail(path: Path, lines: int = 25) -> str:
    return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])


def say(who: str, what: str, since: float | None = None) -> None:
    took = f" ({time.monotonic() - since:.1f} s)" if since is not None else ""
    # The line end inside the text: engines speak at the same time, and lines must stay whole.
    print(f"{who:<10} {what}{took}\n", end="", flush=True)
