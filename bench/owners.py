"""Precision and recall of leads on labelled sites: whose address and phone, and where and what the business is.

python -m bench.owners dev --misses
python -m bench.owners locked
python -m bench.owners second-dev --misses
python -m bench.owners second-check
python -m bench.owners third --misses
python -m bench.owners fourth
python -m bench.owners real --pages ../shared/data/real-pages

Extraction and merge run as `siteglass ingest run` runs them.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import phonenumbers

from siteglass.corpus.domains import NotAHost, normalise, registrable
from siteglass.corpus.lead import Lead
from siteglass.ingest.archives import read_archive
from siteglass.ingest.capture import Capture
from siteglass.query.folding import compact
from siteglass.query.vocabulary import vocabulary
from testing.pipeline_leads import leads_by_domain

CORPUS = Path(__file__).parents[1] / "testing" / "corpus"
SETS = {
    "dev": (CORPUS / "owners", "dev"),
    "locked": (CORPUS / "owners", "locked"),
    "second-dev": (CORPUS / "owners_second", "dev"),
    "second-check": (CORPUS / "owners_second", "check"),
    "third": (CORPUS / "owners_third", "locked"),
    "fourth": (CORPUS / "owners_fourth", "locked"),
}
"""Name -> folder and split of the sites."""
CLOSED: tuple[str, ...] = ("fourth",)
"""Only totals are shown: whoever reads a miss fits the rules to it."""
REAL_PAGES = Path(__file__).parents[2] / "shared" / "data" / "real-pages"
"""Not part of the project: beside its folder."""
MIN_PHONE_DIGITS = 7
_LEGAL_FORMS = re.compile(
    r"\b(?:inc|incorporated|llc|l\.l\.c|ltd|limited|plc|llp|pc|p\.c|corp|corporation|co|company|gmbh|the)\b\.?",
    re.IGNORECASE,
)


@dataclass
class Tally:
    """Values of one field: how many are right, wrong and missed, and which."""

    right: int = 0
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def add_set(self, where: str, given: Iterable[str], true: Iterable[str], allowed: Iterable[str] = ()) -> None:
        """Values of which several may be right; `allowed` ones may be given or not."""
        given, true = set(given), set(true)
        self.right += len(given & true)
        self.wrong += [f"{where}: {value}" for value in sorted(given - true - set(allowed))]
        self.missed += [f"{where}: {value}" for value in sorted(true - given)]

    def add_value(self, where: str, given: str, true: str, also: Iterable[str] = ()) -> None:
        """A single value. Without a true one, only a value outside of `also` is judged, if there are any."""
        also = list(also)
        if given and given in (true, *also):
            self.right += bool(true)
            return
        if given and (true or also):
            self.wrong.append(f"{where}: {given}, expected {true or also}")
        if true:
            self.missed.append(f"{where}: {true}")

    def __str__(self) -> str:
        given, true = self.right + len(self.wrong), self.right + len(self.missed)
        precision, recall = self.right / max(1, given), self.right / max(1, true)
        return f"precision {precision:.3f} ({self.right} of {given}), recall {recall:.3f} ({self.right} of {true})"


FIELDS = ("emails", "phones", "name", "city", "state", "country", "service type", "technologies")


@dataclass
class Scores:
    """Everything that is counted over a set of sites."""

    fields: dict[str, Tally] = field(default_factory=lambda: {name: Tally() for name in FIELDS})
    leads: Tally = field(default_factory=Tally)
    traps: Counter[str] = field(default_factory=Counter)
    traps_shown: Counter[str] = field(default_factory=Counter)
    trap_values: list[str] = field(default_factory=list)
    free_mail: Counter[str] = field(default_factory=Counter)
    """Own addresses on another domain than the site's: how many there are, and how many are shown."""

    def add(self, label: dict[str, Any], lead: Lead | None) -> None:
        """Compare a site's lead with its labels."""
        where = f"{label['id']} {label['domain']}"
        self.leads.add_set(where, ["lead"] if lead else [], ["lead"] if label["is_lead"] else [])
        shown = lead or Lead(domain=label["domain"], crawled_at_ms=0)
        self._add_contacts(where, label, shown)
        if not label["is_lead"]:
            return
        names = {compact(name) for name in label["business_name"]}
        given = shown.business_name
        self.fields["name"].add_value(where, given, given if compact(given) in names else str(sorted(names)))
        for name in ("country", "state", "city", "service_type"):
            given, true = getattr(shown, name), label[name]
            also = label.get(f"{name}_also", ())
            if name == "city":
                given, true, also = compact(given), compact(true), map(compact, also)
            self.fields[name.replace("_", " ")].add_value(where, given, true, also)
        true, also = (map(_technology, label[name]) for name in ("technologies", "technologies_also"))
        self.fields["technologies"].add_set(where, map(_technology, shown.technologies or ()), true, also)

    def _add_contacts(self, where: str, label: dict[str, Any], shown: Lead) -> None:
        for kind in ("emails", "phones"):
            given = getattr(shown, kind)
            self.fields[kind].add_set(where, given, label[f"{kind}_own"])
            for trap in label[f"{kind}_not_own"]:
                self.traps[trap["kind"]] += 1
                if trap["value"] in given:
                    self.traps_shown[trap["kind"]] += 1
                    self.trap_values.append(f"{where}: {trap['value']} ({trap['kind']})")
        elsewhere = [one for one in label["emails_own"] if registrable(one.rpartition("@")[2]) != label["domain"]]
        self.free_mail["all"] += len(elsewhere)
        self.free_mail["shown"] += len(set(elsewhere).intersection(shown.emails))

    def lines(self, *, misses: bool) -> Iterator[str]:
        """Totals, and on request each value that is wrong."""
        for name, tally in (*self.fields.items(), ("leads", self.leads)):
            yield f"{name:13} {tally}"
        kinds = ", ".join(f"{kind} {self.traps_shown[kind]} of {count}" for kind, count in sorted(self.traps.items()))
        yield f"someone else's values shown: {self.traps_shown.total()} of {self.traps.total()} ({kinds})"
        yield f"own addresses on other domains shown: {self.free_mail['shown']} of {self.free_mail['all']}"
        if not misses:
            return
        for name, tally in (*self.fields.items(), ("leads", self.leads)):
            yield from (f"  {name} wrong   {one}" for one in tally.wrong)
            yield from (f"  {name} missed  {one}" for one in tally.missed)
        yield from (f"  shown  {one}" for one in self.trap_values)


def score_made_up(folder: Path, split: str) -> Scores:
    """Of the made-up sites in a folder that belong to a split."""
    sites = [site for site in _lines(folder / "sites.jsonl") if site["split"] == split]
    leads = leads_by_domain(capture for site in sites for capture in _captures(folder, site))
    scores = Scores()
    for label in _lines(folder / "labels.jsonl"):
        if label["split"] == split:
            scores.add(label, leads.get(label["domain"]))
    return scores


def _technology(name: str) -> str:
    """The name that the vocabulary has for it."""
    return next(iter(vocabulary().resolve("technology", name)), name)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _captures(folder: Path, site: dict[str, Any]) -> Iterator[Capture]:
    for page in site["pages"]:
        headers = {"content-type": "text/html", **page.get("headers", {})}
        yield Capture(
            url=page["url"],
            captured_at_ms=0,
            status=200,
            headers=tuple((name.lower(), value) for name, value in headers.items()),
            body=(folder / page["file"]).read_bytes(),
        )


@dataclass
class RealScores:
    """Counts over real businesses, whose labels name phones, faxes, organisations and cities as pages write them."""

    phones: Tally = field(default_factory=Tally)
    faxes_shown: int = 0
    faxes: int = 0
    names: Counter[str] = field(default_factory=Counter)
    cities: Tally = field(default_factory=Tally)
    name_misses: list[str] = field(default_factory=list)
    emails: int = 0

    def add(self, host: str, label: dict[str, list[str]], lead: Lead) -> None:
        """Compare a lead with what its pages are labelled with."""
        telephones, faxes = ({_national(one) for one in label.get(kind, ())} - {""} for kind in ("TEL", "FAX"))
        if telephones or faxes:
            for mine in lead.phones:
                if any(_same(mine, one) for one in telephones):
                    self.phones.right += 1
                else:
                    self.phones.wrong.append(f"{host}: {mine}")
            self.phones.missed += [
                f"{host}: {one}" for one in sorted(telephones) if not any(_same(mine, one) for mine in lead.phones)
            ]
        self.faxes += len(faxes - telephones)
        self.faxes_shown += sum(any(_same(mine, one) for one in faxes - telephones) for mine in lead.phones)
        self.emails += len(lead.emails)
        if organisations := label.get("ORG"):
            places = [*label.get("CITY", ()), *label.get("STATE", ())]
            name, bare = compact(lead.business_name), _bare(lead.business_name, places)
            self.names["labelled"] += 1
            self.names["exact"] += (exact := name in map(compact, organisations))
            self.names["equal apart from form and place"] += (near := bare in {_bare(o, places) for o in organisations})
            if not (exact or near):
                self.name_misses.append(f"{host}: {lead.business_name!r}, labelled {organisations[:4]}")
        if cities := label.get("CITY"):
            self.cities.add_value(host, compact(lead.city), compact(cities[0]), map(compact, cities))

    def lines(self, *, misses: bool) -> Iterator[str]:
        """Totals, and on request each value that is wrong."""
        yield f"phones        {self.phones}"
        yield f"fax numbers shown as phones: {self.faxes_shown} of {self.faxes}"
        yield "name          " + ", ".join(f"{key} {count}" for key, count in self.names.items())
        yield f"city          {self.cities}"
        yield f"emails shown  {self.emails}"
        if misses:
            yield from (f"  phone wrong   {one}" for one in self.phones.wrong)
            yield from (f"  phone missed  {one}" for one in self.phones.missed)
            yield from (f"  name   {one}" for one in self.name_misses)
            yield from (f"  city   {one}" for one in (*self.cities.wrong, *self.cities.missed))


def _national(number: str) -> str:
    """Digits without country code or trunk prefix; "" for what is too short to be dialled."""
    digits = re.sub(r"\D", "", number)
    digits = re.sub(r"^(?:0+|1(?=\d{10}$)|(?:0*44|0*91)(?=\d{9,}))", "", digits).lstrip("0")
    return digits if len(digits) >= MIN_PHONE_DIGITS else ""


def _same(given: str, labelled: str) -> bool:
    """Whether a number is the labelled one, written with or without its country and perhaps with an extension."""
    national = str(phonenumbers.parse(given).national_number)
    return any(labelled.startswith(one) or one.startswith(labelled) for one in (national, given.lstrip("+")))


def _bare(name: str, places: Iterable[str]) -> str:
    for place in places:
        name = re.sub(rf"\b{re.escape(place)}\b", " ", name, flags=re.IGNORECASE)
    return compact(_LEGAL_FORMS.sub(" ", name.replace("&", " and "))) or compact(name)


def score_real(folder: Path) -> RealScores:
    """Of the pages of real businesses: labels name what 322 of 449 pages show, and do not say which."""
    labels: dict[str, dict[str, list[str]]] = json.loads((folder / "labels.json").read_text(encoding="utf-8"))
    archive = read_archive(folder / "business_pages.warc.gz")
    leads = leads_by_domain(capture for capture in archive if isinstance(capture, Capture))
    scores = RealScores()
    for host, label in labels.items():
        try:
            lead = leads.get(registrable(normalise(host)))
        except NotAHost:  # one was saved by its IP address
            continue
        if lead:
            scores.add(host, label, lead)
    return scores


def main() -> None:
    """Print the scores of a set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", choices=(*SETS, "real"))
    parser.add_argument("--misses", action="store_true", help="print each wrong value; never of a closed set")
    parser.add_argument("--pages", type=Path, default=REAL_PAGES, help="folder of the real pages")
    arguments = parser.parse_args()
    scores = score_real(arguments.pages) if arguments.set == "real" else score_made_up(*SETS[arguments.set])
    print("\n".join(scores.lines(misses=arguments.misses and arguments.set not in CLOSED)))


if __name__ == "__main__":
    main()
