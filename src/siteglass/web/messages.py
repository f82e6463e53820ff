"""What request and response bodies are declared with: msgspec structs, each with its meaning and examples beside it.

The structs are what handlers send, what readers check bodies against, and what /openapi.json, the reference pages and
the client's types are generated from. A message is declared once, in `requests.py` or `responses.py` of its package.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta


class RequestBody(msgspec.Struct, forbid_unknown_fields=True):
    """A body that a caller sends. `null` counts as not given, so optional fields are `| None`."""


class Parameters(msgspec.Struct, forbid_unknown_fields=True):
    """What a caller sends in the path and after `?`."""


class ResponseBody(msgspec.Struct):
    """A body that the service sends, with its fields in this order. A field may be absent only if it is `UNSET`."""


def reference(name: str) -> Meta:
    """For a part that is a dict at run time, since the catalogue declares its fields: the schema of that name."""
    return Meta(extra_json_schema={"$ref": f"#/components/schemas/{name}"})


def names_of(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """The names of the fields, as they are sent."""
    return kind.__struct_encode_fields__


Id = Annotated[int, Meta(ge=1)]
Count = Annotated[int, Meta(ge=0)]
Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
Day = Annotated[str, Meta(extra_json_schema={"format": "date"})]
Record = dict[str, Any]
