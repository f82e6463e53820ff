"""`sgl enrich`: rows and columns stay, what is known is joined to them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet
import pytest

from siteglass.corpus.lead import Lead
from siteglass_client.cli.domain_files import looks_like_site, read_domains
from siteglass_client.plans import COMPANY_COLUMNS
from testing.customers import Bank, Customer
from tests.client.commanding import Desk
from tests.client.conftest import Connect


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
    stopped = desk.run(*words, "--max-lead-credits", "2")
    assert (stopped.code, stopped.json["lead_credits"], stopped.json["stopped"]) == (4, 2, "max_lead_credits")
    done = desk.run(*words)
    assert (done.code, done.json["lead_credits"]) == (0, 4)
    assert customer.balance()[1] == 10_000 - 4
    lines = [json.loads(line) for line in (desk.folder / "out.jsonl").read_text().splitlines()]
    assert [line["domain"] for line in lines] == known
    assert [line["sg_country"] for line in lines] == [lead.country for lead in sold[:4]]
    assert {path.name for path in desk.folder.iterdir()} == {"domains.txt", "out.jsonl"}
    assert [item["domain"] for item in desk.run("enrich", "-", typed="\n".join(known[:2])).lines] == known[:2]


def test_a_table_with_types_keeps_the_cells_as_text(desk: Desk, customer: Customer, sold: list[Lead]) -> None:
    known = [lead for lead in sold if lead.emails and lead.score is not None][:3]
    rows = [["007", "a", known[0].domain, "x"], ["8", "b", "", "y"], ["9", "c", known[1].domain, "z"]]
    rows.append(["10", "d", known[2].domain, ""])
    with (desk.folder / "crm.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["score", "name", "site", "name"], *rows])
    words = ("enrich", "crm.csv", "-o", "out.parquet", "--select", "score,emails,crawled_at")
    stopped = desk.run(*words, "--max-lead-credits", "2")
    assert (stopped.code, stopped.json["stopped"]) == (4, "max_lead_credits")
    done = desk.run(*words)  # resumes: two were paid for
    assert done.json == {"file": "out.parquet", "rows": 4, "lead_credits": 3, "api_credits": 2, "stopped": "end"}
    assert customer.balance()[1] == 10_000 - 3
    assert {path.name for path in desk.folder.iterdir()} == {"crm.csv", "out.parquet"}
    table = pyarrow.parquet.read_table(desk.folder / "out.parquet")
    added = ["sg_status", "sg_message", "sg_found_domain", "sg_score", "sg_emails", "sg_crawled_at"]
    assert table.column_names == ["score", "name", "site", "name_2", *added]
    kinds = [str(table.schema.field(name).type) for name in ("score", "sg_score", "sg_crawled_at")]
    assert kinds == ["string", "int64", "timestamp[ms, tz=UTC]"]
    found = table.to_pylist()
    assert [[row[name] for name in ("score", "name", "site", "name_2")] for row in found] == rows
    assert [row["sg_score"] for row in found] == [known[0].score, None, known[1].score, known[2].score]
    assert [row["sg_emails"] for row in found] == [
        list(known[0].emails),
        None,
        list(known[1].emails),
        list(known[2].emails),
    ]


def test_columns_that_were_there_stay_beside_those_that_are_added(desk: Desk, sold: list[Lead]) -> None:
    (desk.folder / "once.csv").write_text(f"domain,sg_status\n{sold[0].domain},old\n")
    assert desk.run("enrich", "once.csv", "--select", "country", "-o", "twice.jsonl").code == 0
    line = json.loads((desk.folder / "twice.jsonl").read_text())
    assert (line["sg_status"], line["sg_status_2"]) == ("old", "success")


def test_addresses_say_the_domain(desk: Desk, customer: Customer, sold: list[Lead]) -> None:
    known = sold[0].domain
    mails = [f"eve@{known}", f"Bob <bob@{known.upper()}>", "carol@gmail.com", "", "dan@nobody.example"]
    (desk.folder / "people.csv").write_text("name,mail\n" + "".join(f"x,{mail}\n" for mail in mails))
    done = desk.run("enrich", "people.csv", "--select", "country", "-o", "out.jsonl")
    assert done.err == (
        "Domains are taken from the e-mail addresses in the column 'mail'. Rows skipped because of mail providers "
        "such as gmail.com: 1.\n"
    )
    assert (done.json["lead_credits"], done.json["api_credits"]) == (1, 1)
    lines = [json.loads(line) for line in (desk.folder / "out.jsonl").read_text().splitlines()]
    assert [line["mail"] for line in lines] == mails
    assert [line.get("sg_status") for line in lines] == ["success", "success", None, None, "not_found"]


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
    (desk.folder / "people.csv").write_text("name,phone\nEve,+49 89 1\n")
    with customer.untouched():
        told = desk.refused(2, "enrich", "people.csv", "-o", "out.csv")
        assert told == (
            "sgl: people.csv has no column of domains or email addresses. Name one with --column; the columns are: "
            "name, phone."
        )
        told = desk.refused(2, "enrich", "people.csv", "-o", "out.csv", "--column", "site")
        assert told == "sgl: people.csv has no column 'site'. It has: name, phone."


@pytest.mark.parametrize(
    ("text", "heading", "domains"),
    [
        ("a.com\nb.co.uk\n", ["domain"], ["a.com", "b.co.uk"]),
        ("domain\na.com\n", ["domain"], ["a.com"]),
        ("n\tsource\turl\n1\tads.com\ta.com\n2\tads\tb.com\n", ["n", "source", "url"], ["a.com", "b.com"]),
        ("landing,website\nx.com/a,x.com\n", ["landing", "website"], ["x.com"]),
        ("1,a.com\n2,b.com\n", ["column_1", "domain"], ["a.com", "b.com"]),
        ("mail,web\ne@x.com,a.com\nf@y.com,\n", ["mail", "web"], ["a.com", ""]),
        ("e@a.com\nmailto:f@b.com\ng@yahoo.co.uk; h@c.com\n", ["domain"], ["a.com", "b.com", ""]),
        ("site\nhttps://a.com/@team.x\ninfo@b.com\nc.com\n", ["site"], ["a.com", "b.com", "c.com"]),
        (
            "site\nhttps://www.A.com:80/x?y\nwww.com\nshop.b.com.\nn/a\n",
            ["site"],
            ["a.com", "www.com", "shop.b.com", "n/a"],
        ),
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
