"""A page that holds records of another domain never speaks for it, however its archive is packed or damaged."""

from __future__ import annotations

import gzip
import random
import re
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from siteglass.ingest.archives import QuarantinedRecord, read_archive
from testing.warc_files import answer, packed, record, response

VICTIM = "victim.example"
BEFORE, HOSTILE, AFTER = "http://before.example/", "http://hostile.example/", "http://after.example/"
FAKE_PAGE = b"<html><title>Victim</title>fake@victim.example</html>"
FAKE = record("response", f"http://{VICTIM}/", answer(FAKE_PAGE))
BLOCK_BYTES = 4_096
ROUNDS = 200


def stored(content: bytes) -> bytes:
    """A gzip member that holds its content as it is, as compressors do with what does not get smaller."""
    return gzip.compress(content, 0, mtime=0)


def hostile_page() -> bytes:
    """Fake records in every packing, at many places, each a whole one."""
    forms = (FAKE, packed(FAKE), stored(FAKE), packed(FAKE, "zstd"))
    noise = random.Random(1)
    pieces = [b"<html><title>Hostile</title>"]
    for _ in range(8):
        for form in forms:
            pieces += [b"\r\n\r\n", form, noise.randbytes(noise.randrange(40))]
    return b"".join(pieces)


def hostile_answer() -> bytes:
    """Its HTTP headers, too, say what a record says: they count where the line between both is lost."""
    fields = [line.decode() for line in FAKE.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]]
    return answer(hostile_page(), *fields)


def records(*, with_digest: bool = True) -> list[bytes]:
    pages = [response(BEFORE), record("response", HOSTILE, hostile_answer()), response(AFTER)]
    everything = [record("warcinfo", "", b"software: test\r\n"), *pages]
    return (
        everything
        if with_digest
        else [re.sub(rb"WARC-Block-Digest: [^\r]*\r\n", b"", one, count=1) for one in everything]
    )


def _blocks(content: bytes) -> bytes:
    """A file packed in blocks, as bgzip does: its members begin anywhere."""
    return b"".join(packed(content[at : at + BLOCK_BYTES]) for at in range(0, len(content), BLOCK_BYTES))


Layout = Callable[[list[bytes]], bytes]
LAYOUTS: dict[str, Layout] = {
    "gzip": lambda all_: b"".join(packed(one) for one in all_),
    "gzip, stored": lambda all_: b"".join(stored(one) for one in all_),
    "zstd": lambda all_: b"".join(packed(one, "zstd") for one in all_),
    "plain": lambda all_: b"".join(all_),
    "one gzip member": lambda all_: packed(b"".join(all_)),
    "one gzip member, stored": lambda all_: stored(b"".join(all_)),
    "blocks": lambda all_: _blocks(b"".join(all_)),
}
ONE_EACH = ("gzip", "gzip, stored", "zstd")


def _read(path: Path, content: bytes) -> tuple[list[str], list[QuarantinedRecord]]:
    path.write_bytes(content)
    items = list(read_archive(path))
    told = [item for item in items if isinstance(item, QuarantinedRecord)]
    return [item.url for item in items if not isinstance(item, QuarantinedRecord)], told


@pytest.mark.parametrize("layout", LAYOUTS)
def test_whole_archives(tmp_path: Path, layout: str) -> None:
    urls, told = _read(tmp_path / "x.warc.gz", LAYOUTS[layout](records()))
    if layout == "blocks":  # the hostile record does not end where a member does, and may not be cut there
        assert (urls, [one.reason for one in told]) == ([BEFORE], ["longer than its container"])
    else:
        assert (urls, told) == ([BEFORE, HOSTILE, AFTER], [])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_without_digests_only_the_end_of_a_member_proves_the_end_of_a_record(tmp_path: Path, layout: str) -> None:
    content = LAYOUTS[layout](records(with_digest=False))
    urls, told = _read(tmp_path / "x.warc.gz", content)
    if layout in ONE_EACH:
        assert (urls, told) == ([BEFORE, HOSTILE, AFTER], [])
    else:
        start = len(records()[0]) if layout == "plain" else 0
        start -= len(re.findall(rb"WARC-Block-Digest: [^\r]*\r\n", records()[0])[0]) if layout == "plain" else 0
        assert (urls, [(one.reason, one.offset, one.unread_bytes) for one in told]) == (
            [],
            [("no digest", start, len(content) - start)],
        )


def _with_length(length: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    def changed(hostile: bytes) -> bytes:
        return re.sub(rb"Content-Length: \d+", b"Content-Length: " + length(hostile), hostile, count=1)

    return changed


def _to_the_fake(hostile: bytes) -> bytes:
    """The length after which the first fake record is the next one."""
    block = hostile.partition(b"\r\n\r\n")[2]
    return b"%d" % block.index(b"\r\n\r\n" + FAKE)


MALFORMED: dict[str, Callable[[bytes], bytes]] = {
    "length up to the fake record": _with_length(_to_the_fake),
    "length of nothing": _with_length(lambda _: b"0"),
    "length without a number": _with_length(lambda _: b"x"),
    "too long": _with_length(lambda hostile: b"%d" % (len(hostile) * 3)),
    "no length": lambda hostile: hostile.replace(b"Content-Length", b"Content-Width", 1),
    "no first line": lambda hostile: hostile.replace(b"WARC/1.0\r\n", b"", 1),
    "headers run into those of the page": lambda hostile: hostile.replace(b"\r\n\r\n", b"\r\n", 1),
    "most before the fake record is gone": lambda hostile: b"\r\n" + hostile[hostile.index(FAKE) :],
}


@pytest.mark.parametrize("with_digest", [True, False])
@pytest.mark.parametrize("malformed", MALFORMED)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_malformed_record(tmp_path: Path, layout: str, malformed: str, with_digest: bool) -> None:
    everything = records(with_digest=with_digest)
    everything[2] = MALFORMED[malformed](everything[2])
    content = LAYOUTS[layout](everything)
    urls, told = _read(tmp_path / "x.warc.gz", content)
    if layout in ONE_EACH:  # the next member starts where the inflater ended, and the checksum held
        start, end = len(LAYOUTS[layout](everything[:2])), len(LAYOUTS[layout](everything[:3]))
        assert (urls, [(one.offset, one.unread_bytes) for one in told]) == ([BEFORE, AFTER], [(start, end - start)])
    else:
        assert urls == ([BEFORE] if with_digest else [])
        (one,) = told
        assert one.offset + one.unread_bytes == len(content)


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "magic": lambda one: b"\0" + one[1:],
    "checksum": lambda one: one[:-6] + bytes([one[-6] ^ 1]) + one[-5:],
    "middle": lambda one: one[: len(one) // 2] + b"????" + one[len(one) // 2 + 4 :],
    "cut": lambda one: one[: len(one) // 3],
    "start gone": lambda one: one[40:],
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "blocks"])
def test_a_damaged_record_ends_the_reading(tmp_path: Path, layout: str, damage: str) -> None:
    parts = (
        [LAYOUTS[layout]([one]) for one in records()]
        if layout in (*ONE_EACH, "plain")
        else [LAYOUTS[layout](records())]
    )
    place = min(2, len(parts) - 1)
    parts[place] = DAMAGE[damage](parts[place])
    urls, (told,) = _read(tmp_path / "x.warc.gz", b"".join(parts))
    start = len(b"".join(parts[:place]))
    assert urls == ([BEFORE] if place else [])
    assert (told.offset, told.unread_bytes) == (start, len(b"".join(parts)) - start)


def _at_random(chance: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        at = chance.randrange(len(changed))
        many = chance.choice((1, 2, 4, 40, 400))
        match chance.randrange(5):
            case 0:
                changed[at] ^= 1 << chance.randrange(8)
            case 1:
                del changed[at : at + many]
            case 2:
                changed[at:at] = chance.randbytes(many)
            case 3:
                changed[at : at + many] = chance.randbytes(many)
            case _:
                del changed[at + 1 :]
    return bytes(changed)


@pytest.mark.parametrize("with_digest", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_damage_lets_a_page_speak_for_another_domain(tmp_path: Path, layout: str, with_digest: bool) -> None:
    """Bytes flipped, cut, deleted and inserted at random. What is read is what was written, before the first damage."""
    content = LAYOUTS[layout](records(with_digest=with_digest))
    chance = random.Random(f"{layout} {with_digest}")
    for number in range(ROUNDS):
        damaged = _at_random(chance, content)
        urls, told = _read(tmp_path / "x.warc.gz", damaged)
        assert not any(VICTIM in url for url in urls), (number, urls)
        assert all(0 <= one.offset <= one.offset + one.unread_bytes <= len(damaged) for one in told)


@pytest.mark.parametrize("layout", ["plain", "one gzip member, stored"])
def test_every_other_length_of_the_hostile_record(tmp_path: Path, layout: str) -> None:
    """One digit of its length changed, in all ways, before a page that has a fake record wherever that leads."""
    body = b"<html>" + (b"\r\n\r\n" + FAKE) * 60
    hostile = record("response", HOSTILE, answer(body), with_digest=False)
    length = re.search(rb"Content-Length: (\d+)", hostile)
    assert length
    for place in range(length.start(1), length.end(1)):
        for digit in b"0123456789":
            changed = hostile[:place] + bytes([digit]) + hostile[place + 1 :]
            urls, _ = _read(tmp_path / "x.warc.gz", LAYOUTS[layout]([response(BEFORE), changed]))
            assert urls in ([BEFORE], [BEFORE, HOSTILE])


def test_an_end_that_a_page_forges_inside_of_a_member(tmp_path: Path) -> None:
    """A page stored as it is holds the end of a member and a whole one after it: the true end is what counts."""
    body = hostile_page()
    forged = zlib.crc32(body).to_bytes(4, "little") + len(body).to_bytes(4, "little") + stored(FAKE)
    everything = [*records()[:2], response(HOSTILE, body + forged), response(AFTER)]
    urls, told = _read(tmp_path / "x.warc.gz", LAYOUTS["gzip, stored"](everything))
    assert (urls, told) == ([BEFORE, HOSTILE, AFTER], [])
