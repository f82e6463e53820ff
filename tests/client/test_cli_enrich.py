"""`sg enrich`: rows and columns stay, what is known is joined to them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from siteglass.lead import Lead
from siteglass_client.cli.domain_files import looks_like_site, read_domains
from siteglass_client.plans import COMPANY_COLUMNS
from tests.api.paying import Bank, Customer
from tests.client.commanding import Desk
from tests.client.conftest import Connect

pytestmark = pytest.mark.xdist_group("client")


def test_a_crm_export_keeps_its_rows(desk: Desk, connect: Connect, customer: Customer, sold: list[Lead]) -> None:
    known = [lead.domain for lead in sold[:3]]
    rows = [
        ["7", "=A1 & Söhne", "a@mail.example", f"https://www.{known[0]}/shop?x=1", "so; so"],
        ["8", "Nobody", "", "nobody.example", ""],
        ["9", "No site", "b@mail.example", "", "two\nlines"],
        ["10", "Again", "", known[1], ""],
        ["7", "Twice", "", known[1].upper(), ""],
    ]
    with (desk.folder / "crm.csv").open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file, delimiter=";").writerows([["id", "name", "email", "Web site", "title"], *rows])
    before = customer.balance()
    price = desk.run("enrich", "crm.csv", "--dry-run").json
    assert (price["api_credits"], price["lead_credits"], price["exact"]) == (1, 2, True)
    assert customer.balance() == before
    done = desk.run("enrich", "crm.csv", "-o", "out.csv")
    assert done.json == {"file": "out.csv", "rows": 5, "lead_credits": 2, "api_credits": 1, "stopped": "end"}
    assert (done.code, done.err) == (0, "Domains are taken from the column 'Web site'.\n")
    with (desk.folder / "out.csv").open(newline="", encoding="utf-8") as file:
        heading, *found = csv.reader(file)
    added = [f"sg_{name}" for name in ("status", "message", "found_domain", *COMPANY_COLUMNS)]
    assert heading == ["id", "name", "email", "Web site", "title", *added]
    assert [row[:5] for row in found] == rows
    shown = [dict(zip(heading, row, strict=True)) for row in found]
    assert [row["sg_status"] for row in shown] == ["success", "not_found", "", "success", "success"]
    assert [row["sg_found_domain"] for row in shown] == [known[0], "", "", known[1], known[1]]
    assert shown[1]["sg_message"] == "No data found for nobody.example"
    (item,) = connect(customer).enrich([known[0]])
    assert item.data is not None
    assert shown[0]["sg_title"] == item.data.title
    assert {path.name for path in desk.folder.iterdir()} == {"crm.csv", "out.csv"}


def test_a_list_a_budget_and_json_lines(desk: Desk, customer: Customer, sold: list[Lead]) -> None:
    known = [lead.domain for lead in sold[:4]]
    (desk.folder / "domains.txt").write_text("\n".join(known) + "\n")
    words = ("enrich", "domains.txt", "-o", "out.jsonl", "--select", "country")
    stopped = desk.run(*words, "--max-credits", "2")
    assert (stopped.code, stopped.json["lead_credits"], stopped.json["stopped"]) == (4, 2, "max_credits")
    done = desk.run(*words)
    assert (done.code, done.json["lead_credits"]) == (0, 4)
    assert customer.balance()[1] == 10_000 - 4
    lines = [json.loads(line) for line in (desk.folder / "out.jsonl").read_text().splitlines()]
    assert [line["domain"] for line in lines] == known
    assert [line["sg_country"] for line in lines] == [lead.country for lead in sold[:4]]
    assert {path.name for path in desk.folder.iterdir()} == {"domains.txt", "out.jsonl"}
    assert [item["domain"] for item in desk.run("enrich", "-", typed="\n".join(known[:2])).lines] == known[:2]


def test_a_killed_enrichment_goes_on(bank: Bank, sold: list[Lead], tmp_path: Path) -> None:
    # The rate makes it wait after two of three batches, so that it is under way when it is killed.
    customer = bank.customer(api=100, lead=1_000, plan=bank.plan(20, 2))
    desk = Desk(tmp_path, bank.base_url, customer.key)
    known = [lead.domain for lead in sold[:250]]
    (tmp_path / "domains.txt").write_text("\n".join(known))
    words = ("enrich", "domains.txt", "-o", "out.csv", "--select", "country")
    command = desk.started(tmp_path / "out.csv.items.jsonl", *words)
    command.kill()
    command.communicate(timeout=30)
    assert command.returncode == -9
    assert not (tmp_path / "out.csv").exists()
    assert desk.run(*words).code == 0
    with (tmp_path / "out.csv").open(newline="") as file:
        assert [row["sg_found_domain"] for row in csv.DictReader(file)] == known
    assert customer.balance() == (100 - 3, 1_000 - 250)
    assert {path.name for path in tmp_path.iterdir()} == {"domains.txt", "out.csv"}


def test_no_column_found(desk: Desk, customer: Customer) -> None:
    (desk.folder / "people.csv").write_text("name,mail\nEve,eve@shop.example\n")
    with customer.untouched():
        told = desk.refused(2, "enrich", "people.csv", "-o", "out.csv")
        assert told == ("sg: people.csv has no column of domains. Name it with --column; there are: name, mail.")
        told = desk.refused(2, "enrich", "people.csv", "-o", "out.csv", "--column", "site")
        assert told == "sg: people.csv has no column 'site'. It has: name, mail."


@pytest.mark.parametrize(
    ("text", "heading", "domains"),
    [
        ("a.com\nb.co.uk\n", ["domain"], ["a.com", "b.co.uk"]),
        ("domain\na.com\n", ["domain"], ["a.com"]),
        ("n\tsource\turl\n1\tads.com\ta.com\n2\tads\tb.com\n", ["n", "source", "url"], ["a.com", "b.com"]),
        ("landing,website\nx.com/a,x.com\n", ["landing", "website"], ["x.com"]),
        ("1,a.com\n2,b.com\n", ["column_1", "domain"], ["a.com", "b.com"]),
        ('name,site\n"a, b",a.com\nshort\n,\n\n', ["name", "site"], ["a.com", "", ""]),
    ],
)
def test_the_column_is_found(tmp_path: Path, text: str, heading: list[str], domains: list[str]) -> None:
    (tmp_path / "file.csv").write_text(text)
    file = read_domains(tmp_path / "file.csv", None)
    assert (file.heading, file.domains) == (heading, domains)


def test_what_looks_like_a_site() -> None:
    sites = ("a.com", "https://www.a.co.uk/x?y=1", "bücher.de", "xn--bcher-kva.example", "A.COM.", "a.com:8080/x")
    assert all(map(looks_like_site, sites))
    others = ("eve@a.com", "a", "1.5", "10.0.0.1", "Dr. No", "", "3.11.2026", "a b.com")
    assert not any(map(looks_like_site, others))
