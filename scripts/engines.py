"""Run OpenSearch, PostgreSQL and Redis for development and tests, as plain processes on loopback.

    engines.py up | down | status | restart NAME

`up` installs what is missing, starts what does not run and waits until all three answer; `down`
stops what `up` started. Both may be run twice. Tests take one from `engines()` to stop, kill or start.
Only the standard library: this runs before anything is installed. What an engine keeps (data, log,
pid file) is in one folder per engine. `engine.py` has what all engines share, `engine_<name>.py` what is
one engine's own, `engine_host.py` what they take from the machine.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import sys

from engine import HOST, Engine
from engine_host import EngineError, engines_root, locked, make_root, say
from engine_opensearch import OpenSearch
from engine_postgres import Postgres
from engine_redis import Redis

# What the tests take from here.
__all__ = ["Engine", "OpenSearch", "Postgres", "Redis", "down", "engines"]

KINDS = (OpenSearch, Postgres, Redis)


def engines() -> dict[str, Engine]:
    root = engines_root()
    return {kind.name: kind(root) for kind in KINDS}


# --- commands -------------------------------------------------------------------------------------


def up() -> None:
    root = engines_root()
    make_root(root)
    say("folder", str(root))
    with locked(root / "lock"), concurrent.futures.ThreadPoolExecutor() as pool:
        starts = [pool.submit(engine.start) for engine in engines().values()]
        problems = [str(problem) for start in starts if (problem := start.exception())]
    if problems:
        raise EngineError("\n".join(problems))


def down() -> None:
    root = engines_root()
    if not root.exists():
        say("engines", "none were started here")
        return
    with locked(root / "lock"), concurrent.futures.ThreadPoolExecutor() as pool:
        for _ in pool.map(lambda engine: engine.stop(), engines().values()):
            pass


def restart(name: str) -> None:
    root = engines_root()
    make_root(root)
    with locked(root / "lock"):
        engine = engines()[name]
        engine.stop()
        engine.start()


def status() -> bool:
    """Print a line for each engine; whether all of them answer."""
    all_answer = True
    for engine in engines().values():
        pid = engine.pid()
        answers = pid is not None and engine.answers()
        state = "answers" if answers else "stopped" if pid is None else "runs, does not answer"
        say(engine.name, f"{state}, {HOST}:{engine.port}" + (f", pid {pid}" if pid else ""))
        all_answer = all_answer and answers
    say("folder", str(engines_root()))
    return all_answer


def main() -> int:
    parser = argparse.ArgumentParser(description="Run OpenSearch, PostgreSQL and Redis on loopback.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("up", help="start what does not run, wait until all answer")
    commands.add_parser("down", help="stop what `up` started")
    commands.add_parser("status", help="say what runs; exits with 1 unless all three answer")
    again = commands.add_parser("restart", help="stop and start one engine")
    again.add_argument("engine", choices=[kind.name for kind in KINDS])
    arguments = parser.parse_args()
    os.umask(0o022)  # the engines' users must be able to read what we write
    try:
        match arguments.command:
            case "up":
                up()
            case "down":
                down()
            case "restart":
                restart(arguments.engine)
            case _:
                return 0 if status() else 1
    except EngineError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
