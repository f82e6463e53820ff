"""Files of leads: what is written is read back, and what is wrong is named."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, get_args

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siteglass.corpus.lead import SOCIAL_NETWORKS, Lead, Mark, MarkKind, TechnologyDetail
from siteglass.corpus.lead_files import (
    LEAD_SCHEMA,
    LeadFileError,
    count_leads,
    open_parquet,
    read_lines,
    read_parquet,
    read_row_group,
    replacing,
    write_parquet,
)
from siteglass.corpus.technology_details import pack_detail, unpack_details
from siteglass_demo.leads import generate
from testing.lead_store import entered

# Any text that UTF-8 can hold, the separator that the reader uses inside among them.
text = st.text(st.characters(exclude_categories=["Cs"]) | st.just("\x1f"), max_size=40)
texts = st.lists(text, max_size=5).map(tuple)
flag = st.none() | st.booleans()


def number(below: int) -> st.SearchStrategy[int | None]:
    return st.none() | st.integers(0, below - 1)


details = st.builds(
    TechnologyDetail,
    value=st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    marks=st.lists(
        st.builds(
            Mark, kind=st.sampled_from(get_args(MarkKind)), rule=st.text('a/"\\ü', max_size=9), excerpt=st.just("x")
        ),
        max_size=2,
    ).map(tuple),
    page=st.none() | st.just("https://a.example/"),
    first_seen_ms=number(2**42),
    last_seen_ms=number(2**42),
)
leads = st.builds(
    Lead,
    domain=st.from_regex(r"[a-z0-9-]{1,20}\.[a-z]{2,10}", fullmatch=True),
    crawled_at_ms=st.integers(0, 2**42 - 1),
    updated_at_ms=number(2**42),
    url=text,
    title=text,
    description=text,
    text=text | text.map(lambda some: some * 20),
    keywords=texts,
    language=st.sampled_from(["", "en", "ja"]),
    emails=texts,
    emails_personal=texts,
    phones=texts,
    social_links=st.dictionaries(st.sampled_from(SOCIAL_NETWORKS), text),
    other_profiles=texts,
    country=st.sampled_from(["", "USA", "DEU"]),
    city=text,
    technologies=st.none() | texts,
    technologies_detail=st.lists(details, max_size=3).map(tuple),
    hidden_contacts=st.lists(st.sampled_from(["email designer", "phone host"]), max_size=2).map(tuple),
    categories_uses=texts,
    pages=texts,
    links=texts,
    first_seen_ms=number(2**42),
    lead_no=st.none() | st.integers(1, 2**31 - 1),
    aliases=texts,
    added=st.lists(st.integers(0, 2**63 - 1), max_size=3).map(tuple),
    score=number(101),
    spending=number(2**33),
    load_time_ms=number(2**31),
    secure=flag,
    has_sitemap=flag,
    has_description=flag,
)


def read_all(path: Path) -> list[Lead]:
    return [lead for _, group in read_parquet(path) for lead in group]


def write_lines(path: Path, *lines: bytes) -> Path:
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def test_the_schema_has_the_fields_of_a_lead() -> None:
    """Without what files of the release before do not have: it is in another column."""
    fields = [f for f in msgspec.structs.fields(Lead) if f.name != "technologies_detail"]
    assert LEAD_SCHEMA.names == [f.name for f in fields]
    optional = {f.name for f in fields if type(None) in get_args(f.type)}
    assert {field.name for field in LEAD_SCHEMA if field.nullable} == optional


@settings(deadline=None, max_examples=60)
@given(st.lists(leads, max_size=12))
def test_leads_come_back_from_both_kinds_of_file_as_they_were(some: list[Lead]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        lines, table = Path(folder, "leads.ndjson"), Path(folder, "leads.parquet")
        lines.write_bytes(b"".join(msgspec.json.encode(lead) + b"\n" for lead in some))
        assert list(read_lines(lines)) == list(enumerate(some, 1))
        assert write_parquet(table, some) == len(some)
        assert read_all(table) == some
        assert count_leads(lines) == count_leads(table) == len(some)


def test_row_groups_are_numbered_and_can_be_read_alone(tmp_path: Path) -> None:
    path, some = tmp_path / "leads.parquet", list(generate(250, seed=3))
    assert write_parquet(path, iter(some), row_group_size=100) == 250
    groups = list(read_parquet(path))
    assert [(number, len(group)) for number, group in groups] == [(0, 100), (1, 100), (2, 50)]
    assert [lead for _, group in groups for lead in group] == some
    with open_parquet(path) as file:
        assert read_row_group(file, 1) == some[100:200]


def test_an_empty_file_holds_no_leads(tmp_path: Path) -> None:
    assert write_parquet(tmp_path / "none.parquet", []) == 0
    assert read_all(tmp_path / "none.parquet") == []


def test_repeated_values_are_shared_in_memory(tmp_path: Path) -> None:
    twice = [Lead(domain=f"{name}.example", crawled_at_ms=1, technologies=("Some CMS",)) for name in "ab"]
    write_parquet(tmp_path / "leads.parquet", twice)
    one, other = read_all(tmp_path / "leads.parquet")
    assert one.technologies is not None
    assert other.technologies is not None
    assert one.technologies[0] is other.technologies[0]


GOOD = b'{"domain": "a.example", "crawled_at_ms": 5}'


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"domain": "b.example", "crawled_at_ms": "5"}', "field crawled_at_ms: Expected `int`, got `str`"),
        (b'{"domain": "b.example", "crawled_at_ms": 5, "score": 101}', "field score: Expected `int` <= 100"),
        (
            b'{"domain": "b.example", "crawled_at_ms": 5, "emails": ["x", 1]}',
            "field emails[1]: Expected `str`, got `int`",
        ),
        (b'{"domain": "b.example", "crawled_at_ms": 5, "colour": 1}', "Object contains unknown field `colour`"),
        (b'{"crawled_at_ms": 5}', "Object missing required field `domain`"),
        (b'{"domain": "b.exa', "JSON is malformed"),
        (b'{"domain": "\xff\xff\xff", "crawled_at_ms": 5}', "'utf-8' codec can't decode"),
    ],
)
def test_an_error_in_ndjson_names_line_and_field(tmp_path: Path, line: bytes, reason: str) -> None:
    path = write_lines(tmp_path / "leads.ndjson", GOOD, b"", line, GOOD)
    good = Lead(domain="a.example", crawled_at_ms=5)
    (first, (number, found), last) = read_lines(path)
    assert (first, number, last) == ((1, good), 3, (4, good))
    assert str(found).startswith(reason)


def test_a_line_without_end_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("siteglass.corpus.lead_files.MAX_LINE_BYTES", 10)
    with pytest.raises(LeadFileError, match=r"line 1: longer than 10 bytes"):
        list(read_lines(write_lines(tmp_path / "leads.ndjson", GOOD)))


def test_a_file_takes_its_place_only_when_complete(tmp_path: Path) -> None:
    path = tmp_path / "some"
    with replacing(path) as sink:
        sink.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"


def write_table(path: Path, columns: dict[str, Any]) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def test_a_file_from_before_a_field_was_added_can_be_read(tmp_path: Path) -> None:
    names = ["domain", "crawled_at_ms", "emails"]
    schema = pa.schema([LEAD_SCHEMA.field(name) for name in names])
    table = pa.table({"domain": ["a.example"], "crawled_at_ms": [5], "emails": [["x@a.example"]]}, schema=schema)
    pq.write_table(table, tmp_path / "old.parquet")
    expected = Lead(domain="a.example", crawled_at_ms=5, emails=("x@a.example",))
    assert read_all(tmp_path / "old.parquet") == [expected]


_DETAIL_FIELDS = {field.name: field for field in LEAD_SCHEMA.field("emails_detail").type.value_type}
_OLD_DETAIL = {"value": "x@a.example", "owner": "own", "confidence": 90, "page": None, "crawled_at_ms": 4}


def _with_details(**fields: Any) -> pa.Table:
    """Columns of a lead whose one detail has these fields."""
    element = pa.field("element", pa.struct([_DETAIL_FIELDS[name] for name in sorted(fields)]), nullable=False)
    schema = pa.schema([LEAD_SCHEMA.field("domain"), LEAD_SCHEMA.field("crawled_at_ms")])
    table = pa.table({"domain": ["a.example"], "crawled_at_ms": [5]}, schema=schema)
    details = pa.field("emails_detail", pa.list_(element), nullable=False)
    return table.append_column(details, pa.array([[fields]], details.type))


def test_a_file_from_before_a_field_was_added_to_details_can_be_read(tmp_path: Path) -> None:
    source, store = tmp_path / "old.parquet", tmp_path / "store"
    pq.write_table(_with_details(**_OLD_DETAIL), source)
    detail = {**_OLD_DETAIL, "first_seen_ms": None, "last_seen_ms": None}
    assert read_all(source)[0].emails_detail == (detail,)
    stored = entered(source, store).path
    assert pq.read_schema(stored).field("emails_detail") == LEAD_SCHEMA.field("emails_detail")
    assert read_all(stored)[0].emails_detail == (detail,)


def test_a_detail_of_json_needs_no_times_of_its_value(tmp_path: Path) -> None:
    line = msgspec.json.encode({"domain": "a.example", "crawled_at_ms": 5, "emails_detail": [_OLD_DETAIL]})
    ((_, lead),) = read_lines(write_lines(tmp_path / "leads.ndjson", line))
    assert isinstance(lead, Lead)
    assert lead.emails_detail == (_OLD_DETAIL,)


def test_a_detail_without_its_value_is_not_one(tmp_path: Path) -> None:
    pq.write_table(_with_details(owner="own", page=None), tmp_path / "leads.parquet")
    with pytest.raises(LeadFileError, match="field emails_detail: expected"):
        read_all(tmp_path / "leads.parquet")


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"colour": ["red"]}, "field colour: not a field of a lead"),
        ({"score": ["high"]}, "field score: expected"),
        ({"domain": [None]}, "field domain: expected"),
        ({"score": [5]}, "field domain: missing"),
    ],
)
def test_an_error_in_parquet_names_file_and_field(tmp_path: Path, columns: dict[str, Any], reason: str) -> None:
    path = write_table(tmp_path / "leads.parquet", columns)
    with pytest.raises(LeadFileError) as raised:
        read_all(path)
    assert str(raised.value).startswith(f"{path}: {reason}")


def test_what_is_no_parquet_is_said_to_be_none(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "leads.parquet", GOOD)
    with pytest.raises(LeadFileError, match="not a Parquet file"):
        count_leads(path)


@pytest.mark.parametrize("broken", ["technology ", "technology x", 'technology ["Klaviyo"]', "technology [1,2,3,4,5]"])
def test_an_entry_that_is_not_a_packed_detail_stays_a_contact(broken: str) -> None:
    mark = Mark(kind="script", rule="a.example", excerpt="x")
    detail = TechnologyDetail(value="Klaviyo", marks=(mark,), page=None, first_seen_ms=1, last_seen_ms=2)
    assert unpack_details(["email host", broken, pack_detail(detail)]) == (("email host", broken), (detail,))
    assert unpack_details([broken]) == ((broken,), ())
