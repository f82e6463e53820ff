"""The mapping of a schema version never changes: an index that exists keeps the mapping it was created with."""

from __future__ import annotations

import hashlib
import json

from siteglass.index.mapping import ADDED_FIELDS, OLDEST_READABLE_SCHEMA, SCHEMA_VERSION, index_body

# By schema version. A change of the mapping or the analysis fails here: raise SCHEMA_VERSION and add the new digest.
# Then decide whether the code still reads indices of the versions before (OLDEST_READABLE_SCHEMA).
DIGESTS = {
    2: "4bc4c42b47fc46f7",
    3: "4be9a73f0315dcb3",
    4: "15baadb4b10ece42",
    5: "eb66ae6b71cad38f",
    6: "d8cde8bcbd05b7f8",
    7: "a4ca56d408ec2245",
    8: "ab43fd76fa0a6e82",
}


def _digest(*left_out: str) -> str:
    body = index_body(shards=1, replicas=0, codec="default", refresh_interval="1s", build="", source="")
    layout = {
        "analysis": body["settings"]["analysis"],
        "sort": [body["settings"]["index"][f"sort.{name}"] for name in ("field", "order")],
        "dynamic": body["mappings"]["dynamic"],
        "source": {"excludes": [name for name in body["mappings"]["_source"]["excludes"] if name not in left_out]},
        "properties": {name: kind for name, kind in body["mappings"]["properties"].items() if name not in left_out},
    }
    return hashlib.sha256(json.dumps(layout, sort_keys=True).encode()).hexdigest()[:16]


def test_the_mapping_is_that_of_its_schema_version() -> None:
    assert _digest() == DIGESTS[SCHEMA_VERSION]


def test_the_oldest_schema_that_is_read_lacks_exactly_the_added_fields() -> None:
    """Writers add them to generations of that schema, and nothing else."""
    assert _digest(*ADDED_FIELDS) == DIGESTS[OLDEST_READABLE_SCHEMA]


def test_versions_that_can_be_read_are_no_newer_than_the_code() -> None:
    assert OLDEST_READABLE_SCHEMA <= SCHEMA_VERSION == max(DIGESTS)
