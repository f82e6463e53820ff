"""Phone numbers of a page as E.164: its links, its structured data, its text. What else is made of digits stays out."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import NamedTuple
from urllib.parse import unquote

import phonenumbers

from siteglass.ingest.extract.page import Page
from siteglass.ingest.extract.phone_labels import FAX, Label, is_after_both, label_of, stacked_label
from siteglass.ingest.extract.phone_numbers import (
    MAX_DIGITS,
    MIN_DIGITS,
    MIN_NAMED_DIGITS,
    NORTH_AMERICA,
    TRUNK,
    international,
    is_north_american,
    national,
    number_of,
    region_of,
)
from siteglass.ingest.extract.region import region_near
from siteglass.ingest.extract.schema_types import contact_holders
from siteglass.ingest.extract.surroundings import PageSurroundings, Surroundings
from siteglass.ingest.facts import ContactSighting

MAX_PHONES = 60
MAX_REGIONS = 4
# To read a number costs some 70 µs: a page of nothing but digits must not take longer than others.
MAX_READ = 120
MAX_LOOKED_AT = 2_000
MIN_BARE_DIGITS = 8  # of a run without anything between them
MAX_RUN_CHARS = 80  # several numbers may be side by side

# A run of digits and of the characters between the digits of a phone number.
_BETWEEN = " ().-/（）－ー‐‑‒–—―−·"
_RUN = re.compile(rf"\d[\d{re.escape(_BETWEEN)}]{{6,}}+")
_NEVER_AFTER = re.compile(r"[\w%°€£$]")
_OPENING = "+(＋（"
_SEPARATE = re.compile(r" ?/ ?(?=[+(]?0|\+)| / (?=\d)| [|·–—] |\. (?=[+(]\d)")
# "0427 - 2448120 / 2448121", "+91 427 2448120, 2448121": only the end differs.
_SIBLING = re.compile(r" ?([,/&]) ?(\d{5,10})(?![\w%°€£$]|[ .-]?\d)")
_OTHER_EXTENSION = re.compile(r" ?[/·] ?[-–]")
# "０１２０－１８－４４１８（９時": what follows in brackets is not part of the number.
_BRACKET_AFTER = re.compile(r"\s?[(（]\d{1,4}\Z")
_HOURS_AFTER = re.compile(r" \(\d{1,2}\Z| \(\d{1,2}[./-]\d{1,2}\Z")
_YEAR = r"(?:19|20)\d\d"
_NO_PHONE = re.compile(
    rf"\d{{1,2}}\s?[./-]\s?\d{{1,2}}\s?[./-]\s?{_YEAR}(?!\d)|{_YEAR}[./-]\d{{1,2}}[./-]\d{{1,2}}(?!\d)"  # dates
    r"|\d{1,2}\.\d{1,2}\.?\s?[-–—]\s?\d{1,2}\.\d{1,2}\."  # spans of dates
    rf"|{_YEAR}\s?[-–/]\s?{_YEAR}\Z|\d{{1,2}}\.\d\d\s?[-–—]\s?\d{{1,2}}\.\d\d"  # spans of years, opening hours
    r"|-?\d{1,3}\.\d{4,}\Z|\d{1,3}(?:\.\d{3})+\Z|97[89][- ]?\d[- ]?\d"  # coordinates, amounts, ISBN
)
# A word in the place of the last digits, as on the keys: 1-888-WARMAIR.
_VANITY = re.compile(r"\d[ -]?[A-Za-z]{4,8}\Z")
_WRITTEN_VANITY = re.compile(
    r"8(?:00|33|44|55|66|77|88)\)?[ .-]"  # begins with a digit, which is found fast
    r"(\d{3} [A-Z]{4}|[A-Z]{3} [A-Z]{4}|[A-Z]{3} \d{4}|[A-Z]{4} [A-Z]{3}|"
    r"(?:\d[.-]?){0,4}(?:[A-Z][.-]?){3,9}(?:\d[.-]?){0,4})(?!\w)"
)
_VANITY_CHARS, _MAX_VANITY_CHARS = 7, 9
MAX_VANITY = 20
MAX_SIBLINGS, MAX_SIBLING_CHARS = 3, 12

_WHATSAPP = re.compile(
    r"(?:https?:)?//(?:wa\.me|(?:api|web)\.whatsapp\.com|(?:www\.)?whatsapp\.com)/|whatsapp://send", re.IGNORECASE
)
_WHATSAPP_NUMBER = re.compile(r"(?:wa\.me/|[?&/]phone=)(?:\+|%2B|00)?([\d %-]{7,25})", re.IGNORECASE)


class _NumberReading(NamedTuple):
    """A number at one place of a page."""

    number: str
    """E.164, or digits that no country is known for."""
    given: str
    """As the page writes it, where the country is not certain; else ""."""
    method: str
    label: Label
    offset: int = -1
    url: str = ""


def phones(page: Page, countries: Sequence[str]) -> tuple[ContactSighting, ...]:
    """At most MAX_PHONES numbers, those of links first. `countries`: whose national numbers they may be, alpha-2."""
    regions = tuple(countries[:MAX_REGIONS])
    around = PageSurroundings(page)
    found: dict[str, list[_NumberReading]] = {}
    readings = [*_linked(page, regions), *_structured(page, regions), *_in_text(page, regions, around)]
    certain = {one.number for one in readings if not one.given}
    for one in readings:
        if one.given and certain:
            one = _completed(one, certain)
        found.setdefault(one.number, []).append(one)
    known = sorted(found, key=lambda number: not number.startswith("+"))
    return tuple([_sighting(found[number], around) for number in known[:MAX_PHONES]])


def _completed(reading: _NumberReading, certain: Collection[str]) -> _NumberReading:
    """A national number as the one with its country that the page shows, too: in a link, for callers from abroad."""
    digits = re.sub(r"\D", "", reading.given).lstrip("0")
    same = [number for number in certain if number.endswith(digits)] if len(digits) > MIN_DIGITS else []
    return reading._replace(number=same[0], given="") if len(same) == 1 else reading


def _sighting(readings: Sequence[_NumberReading], around: PageSurroundings) -> ContactSighting:
    """What all readings of one number say together."""
    labels = Counter(one.label for one in readings)
    first = next((one for one in readings if one.label != "fax"), readings[0])
    # The word that is near a number more often is its own; the other may be that of its neighbour.
    label = "" if not (labels["phone"] or labels["fax"]) else "fax" if labels["fax"] > labels["phone"] else "phone"
    certain = any(not one.given for one in readings)
    where: Surroundings | None = None
    for one in readings:
        # One sighting that names nobody else speaks for the number. Links count where no text shows the number.
        if one.offset >= 0 and (where is None or where.party):
            here = around.at(one.offset)
            where = here if where is None or not here.party else where
    if where is None:
        where = around.of_link(first.url) if first.url else Surroundings()
    return ContactSighting(
        first.number,
        first.method,
        *where,
        label=label,
        given="" if certain else first.given,
    )


def _linked(page: Page, regions: tuple[str, ...]) -> Iterator[_NumberReading]:
    read = 0
    for link in page.links:
        scheme = link.url[:7].lower()
        if scheme.startswith(("tel:", "callto:")):
            number, given = _of_link(unquote(link.url.partition(":")[2]), regions)
            method = "tel"
        elif "whatsapp" in link.url or "wa.me/" in link.url:
            match = _WHATSAPP.match(link.url) and _WHATSAPP_NUMBER.search(link.url)
            number, given = number_of("+" + re.sub(r"\D", "", match[1].replace("%20", "")), "") if match else "", ""
            method = "whatsapp"
        else:
            continue
        if number:
            yield _NumberReading(number, given, method, "fax" if FAX.search(link.text) else "", url=link.url)
        read += 1
        if read >= MAX_READ:
            return


def _of_link(given: str, regions: tuple[str, ...]) -> tuple[str, str]:
    """The number of a link or of structured data, and what was given if its country is not certain."""
    given = given.strip(" /").partition(";")[0].partition("?")[0][:40]
    given = unicodedata.normalize("NFKC", given)
    if _VANITY.search(given):
        given = phonenumbers.convert_alpha_characters_in_number(given)
    digits = re.sub(r"\D", "", given)
    if number := international(given) or (number_of("+" + digits, "") if given.startswith("1-") else ""):
        return number, ""
    if given.startswith(("+", "(+")) or not MIN_DIGITS <= len(digits) <= MAX_DIGITS:
        return "", ""
    for region in regions:
        if number := number_of(given, region):
            return number, given
    # Whoever writes a link for phones anywhere on earth often leaves out nothing but the plus.
    if not digits.startswith("0") and len(digits) >= 11 and (number := number_of("+" + digits, "")):
        return number, given
    is_american = not regions and len(digits) == 10 and not digits.startswith("0")
    return (is_american and number_of(given, "US")) or digits, given


def _structured(page: Page, regions: tuple[str, ...]) -> Iterator[_NumberReading]:
    read = 0
    for thing in contact_holders(page.json_ld):
        for key in ("telephone", "phone", "faxNumber"):
            given = thing.get(key)
            for one in given[:MAX_PHONES] if isinstance(given, list) else (given,):
                if isinstance(one, str | int) and read < MAX_READ:
                    read += 1
                    number, uncertain = _of_link(str(one)[:60].removeprefix("tel:"), regions)
                    if number:
                        yield _NumberReading(number, uncertain, "json_ld", "fax" if key == "faxNumber" else "")


def _in_text(page: Page, regions: tuple[str, ...], around: PageSurroundings) -> Iterator[_NumberReading]:
    reader = _TextReader(page, regions, around)
    yield from _vanity(reader.text)
    for start, end in _runs(reader.text):
        yield from reader.readings(start, end)
        if reader.is_done:
            return


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Where runs of digits start and end that may be numbers."""
    for match in islice(_RUN.finditer(text), MAX_LOOKED_AT):
        start, end = match.start(), match.start() + len(match[0].rstrip(_BETWEEN))
        if _NEVER_AFTER.match(text, end) and (bracket := _BRACKET_AFTER.search(text, start, end)):
            end = bracket.start()
        elif end - start > MAX_RUN_CHARS or _NEVER_AFTER.match(text, end):
            continue
        while start and match.start() - start < 3 and text[start - 1] in _OPENING:
            start -= 1
        if not _is_cut(text, start):
            yield start, end


def _alternatives(run: str) -> list[str]:
    """A run, then its parts if it may be several numbers, or one and what follows it."""
    found = [run]
    if _SEPARATE.search(run):
        found += _SEPARATE.split(run)
    if (hours := _HOURS_AFTER.search(run)) and _digits(run[: hours.start()]) >= MIN_DIGITS:
        found.append(run[: hours.start()])  # "05 55 33 41 72 (9 h - 18 h)", "888-841-7780 (24/7)"
    return found


def _may_be_dialled(piece: str) -> bool:
    return MIN_DIGITS <= _digits(piece) <= MAX_DIGITS and not _NO_PHONE.match(piece)


class _TextReader:
    """Reads the numbers of a text in order: the country of one is that of the next in its line."""

    def __init__(self, page: Page, regions: tuple[str, ...], around: PageSurroundings) -> None:
        self.text = "\n".join(page.lines)  # offsets are those of `page.text`
        self.is_done = False
        """Whether as many were read as a page may have."""
        self._page, self._regions, self._around = page, regions, around
        self._reads = 0
        self._region, self._region_end = "", 0  # of the last number with a country, and where it ends

    def readings(self, start: int, end: int) -> Iterator[_NumberReading]:
        """The numbers of a run of digits."""
        text = self.text
        run = _OTHER_EXTENSION.split(text[start:end], maxsplit=1)[0]
        if run.isdigit() and len(run) < MIN_BARE_DIGITS:
            return
        alternatives = _alternatives(run)
        pieces = [one for one in alternatives if _may_be_dialled(one)]
        label = self._label(start, end) if pieces else "other"
        # "Tel. / Fax: 030 901820 / 030 901821"
        fax = pieces[-1] if len(pieces) == 2 and run not in pieces and is_after_both(text, start) else ""
        for piece in pieces if label != "other" else ():
            label = "fax" if piece == fax else label
            number, given = self._read(piece, start, label)
            # All of a run that may be several numbers is one only with a country: else its parts are looked at.
            if number and (len(alternatives) == 1 or piece is not run or number.startswith("+")):
                if not given:
                    self._region, self._region_end = region_of(number), end
                yield _NumberReading(number, given, "text", label, start)
                yield from _siblings(text, start, end, number, given, label)
                if piece is run:
                    return
            if self._reads >= MAX_READ:
                self.is_done = True
                return

    def _label(self, start: int, end: int) -> Label:
        layout = self._page.layout
        number = layout.line_at(start)
        # A line that is nothing but the number has no label.
        is_alone = number and end - start >= len(layout.texts[number]) - 1
        return (stacked_label(layout.texts, number) if is_alone else "") or label_of(self.text, start, end)

    def _read(self, piece: str, start: int, label: Label) -> tuple[str, str]:
        self._reads += 1
        text = self.text
        is_named = bool(label) or text[max(0, start - 2) : start].rstrip().endswith((":", "："))
        near: tuple[str, ...] = ()
        if not _is_international(piece):
            # "+254 20 388 4120, mobile 0722 418 806": in one line, numbers are of one country.
            is_beside = self._region and "\n" not in text[self._region_end : start]
            near = (self._region,) if is_beside else region_near(self._page, self._around, start)
        return _written(piece.strip(), self._regions, near, label, is_named=is_named)


def _siblings(text: str, start: int, end: int, number: str, given: str, label: Label) -> Iterator[_NumberReading]:
    """Numbers that follow one and differ from it in their last digits alone."""
    last = re.findall(r"\d+", _SIBLING.split(text[start:end], maxsplit=1)[0])[-1]
    for match in islice(_SIBLING.finditer(text, start, end + MAX_SIBLING_CHARS), MAX_SIBLINGS):
        tail = match[2]
        if len(tail) != len(last) or number.endswith(tail):
            continue
        # After a comma there may be a postal code.
        is_likely = (
            match[1] != "," or len(tail) >= MIN_NAMED_DIGITS or (len(tail) >= MIN_DIGITS and tail[:2] == last[:2])
        )
        if is_likely and (sibling := number_of(number[: -len(tail)] + tail, "")):
            yield _NumberReading(sibling, given[: -len(tail)] + tail if given else "", "text", label, start)


def _vanity(text: str) -> Iterator[_NumberReading]:
    """Free numbers of North America with a word in them: 1-800-555-ROOF. More letters than digits are for the ear."""
    for match in islice(_WRITTEN_VANITY.finditer(text), MAX_VANITY):
        if text[max(0, match.start() - 1) : match.start()].isalnum():
            continue
        word = re.sub(r"\W", "", match[1])
        if not _VANITY_CHARS <= len(word) <= _MAX_VANITY_CHARS:
            continue
        digits = phonenumbers.convert_alpha_characters_in_number(match[0][:3] + word[:_VANITY_CHARS])
        if number := number_of(digits, "US"):
            label = label_of(text, match.start(), match.end())
            yield _NumberReading(number, "", "text", "fax" if label == "fax" else "phone", match.start())


def _digits(piece: str) -> int:
    """How many digits are dialled: not the 0 in brackets, nor the 00 that stands for a plus."""
    return sum(map(str.isdigit, TRUNK.sub("", piece).removeprefix("00")))


def _is_cut(text: str, start: int) -> bool:
    """Whether a run of digits is only the end of something: of a word, a price, a time, a path."""
    ahead = text[start - 1 : start]
    if not ahead or ahead.isspace():
        return False
    if ahead.isalnum():
        return ord(ahead) < 0x2E80  # 電話03… is a word and a number, A03… is one word
    if ahead in ".,:":
        return text[start - 2 : start - 1].isdigit()
    return ahead in "$€£#=%_" or (ahead in "-/" and text[start] not in _OPENING)


def _is_international(piece: str) -> bool:
    return piece.lstrip(" (").startswith(("+", "00"))


def _written(
    given: str, regions: tuple[str, ...], near: tuple[str, ...], label: Label, *, is_named: bool
) -> tuple[str, str]:
    """The number that a text gives, and what is given if its country is not certain. One without a country needs a
    label, or the looks of one; without any known country its digits are kept for the merge."""
    if not given.isascii():
        given = unicodedata.normalize("NFKC", given).replace("ー", "-")
    if number := international(given):
        return number, ""
    if given.startswith(("+", "(+")):
        return "", ""
    digits = re.sub(r"\D", "", given)
    labelled = bool(label) or (is_named and len(digits) >= MIN_NAMED_DIGITS and not given.isdigit())
    for region in near:
        if number := national(given, region, labelled=labelled):
            return number, ""
    may_be_american = not regions or not NORTH_AMERICA.isdisjoint(regions)
    if may_be_american and is_north_american(given) and (number := number_of(given, "US")):
        return number, given
    for region in regions:
        if number := national(given, region, labelled=labelled):
            return number, given
    return (digits, given) if labelled or not (regions or given.isdigit()) else ("", "")
