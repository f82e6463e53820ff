"""The commands that `make deploy-proof` reads from the guides: each is run, and nothing else is asked for."""

from __future__ import annotations

import re

import pytest

from deploy_proof import guide
from deploy_proof.scorecard import ProofError
from engine_host import CHECKOUT

SOURCE = "".join(path.read_text() for path in (CHECKOUT / "scripts/deploy_proof").glob("*.py"))


def test_every_named_block_of_the_guides_is_run() -> None:
    assert [name for name in guide.blocks() if f'"{name}"' not in SOURCE] == []


def test_every_block_that_is_run_is_in_a_guide() -> None:
    calls = re.findall(r"site\.run\(([^)]*)\)", SOURCE)
    asked = {name for words in calls for name in re.findall(r'"([a-z-]+)"', words)}
    assert len(asked) > 10
    assert asked <= guide.blocks().keys()


def test_an_example_that_the_guide_no_longer_has_is_noticed() -> None:
    assert '--target="yesterday' in guide.block("restore", {"2026-11-17 19:30:00": "yesterday"})
    with pytest.raises(ProofError, match="does not have"):
        guide.block("replay", {"2026-11-17 19:30:00": "yesterday"})
