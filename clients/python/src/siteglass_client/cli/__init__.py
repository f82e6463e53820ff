"""The command line `sgl`; the only part of the package that needs the extra `cli` (click and rich)."""

from __future__ import annotations

import sys


def main() -> None:
    """Run `sgl`, or say how to install what it needs."""
    try:
        import click  # noqa: F401 - only to know that it is there
        import rich  # noqa: F401 - only to know that it is there
    except ImportError as error:
        from siteglass_client.errors import MissingExtra

        print(f"sgl: {MissingExtra(error.name or 'click', 'cli')}", file=sys.stderr)
        sys.exit(2)
    from siteglass_client.cli.program import run

    sys.exit(run())
