"""Hatchling runs this when it builds the wheel or installs a checkout: the package contains the docs that it serves."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class RenderedDocs(BuildHookInterface[Any]):
    """Renders the docs into the package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the files before the builder collects them."""
        # Hatchling loads this file by its path, so its neighbours cannot be imported yet.
        sys.path.insert(0, str(Path(self.root, "scripts")))
        from build_docs import write

        write()
