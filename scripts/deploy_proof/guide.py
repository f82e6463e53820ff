"""The commands of the guides, read from the pages themselves.

A block that the proof runs is named by the comment above it: <!-- not run: by make deploy-proof, as "secrets" -->
"""

from __future__ import annotations

import re

from deploy_proof.scorecard import ProofError
from engine_host import CHECKOUT

GUIDES = CHECKOUT / "docs/guides"
_BLOCK = re.compile(
    r'<!-- not run: by make deploy-proof, as "(?P<name>[a-z-]+)" -->\n *```sh\n(?P<text>.*?)^ *```$',
    re.DOTALL | re.MULTILINE,
)


def blocks() -> dict[str, str]:
    """Every named block, by its name."""
    found: dict[str, str] = {}
    for page in sorted(GUIDES.glob("*.md")):
        for block in _BLOCK.finditer(page.read_text()):
            if block["name"] in found:
                raise ProofError(f"{page.name}: two blocks are called {block['name']}")
            found[block["name"]] = block["text"]
    return found


def block(name: str, changes: dict[str, str] | None = None) -> str:
    """The commands of a block, with other words where the guide has an example."""
    try:
        text = blocks()[name]
    except KeyError:
        raise ProofError(f"no guide has a block called {name}") from None
    for example, word in (changes or {}).items():
        if example not in text:
            raise ProofError(f"the block {name} does not have {example!r}")
        text = text.replace(example, word)
    return text
