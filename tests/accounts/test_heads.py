"""Signed roots outside the database: ways to rewrite history with the role that owns the tables, and who finds them.

The operator compares with the file of roots, the customer a statement with the signed heads of earlier days.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import asyncpg
import pytest
from click.testing import CliRunner

from siteglass.access import accounts, audit_chain
from siteglass.access.keys import Caller
from siteglass.billing import credits, heads, receipts, roots
from siteglass.billing.ledger import FIRST_PREVIOUS, entry_hash
from siteglass.billing.ledger_csv import written
from siteglass.billing.receipts import EntryFilter
from siteglass.cli.main import cli
from siteglass.errors import Unavailable
from siteglass.platform.backends import Clock
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings, SettingsError, environment_of, load_settings
from siteglass_client.cli.program import sgl
from testing.accounts import drop_schema, make_schema, open_account, owner, pay

Result = TypeVar("Result")

KEY, OTHER_KEY = secrets.token_hex(32), secrets.token_hex(32)
START = datetime(2026, 11, 1, 12, tzinfo=UTC)
TABLES = ("ledger", "balances", "expiring", "audit", "audit_chain", "roots", "signed_heads")


class Days(Clock):
    """Noon of a day."""

    day = 0

    def now_ms(self) -> int:
        return int((START + timedelta(days=self.day)).timestamp() * 1000)


@dataclass(slots=True)
class History:
    """Three days of two accounts, sealed each day, and what is there after the last one."""

    settings: Settings
    postgres: Postgres
    insider: asyncpg.Connection[asyncpg.Record]
    runner: asyncio.Runner
    sealer: heads.Sealer
    clock: Days
    customer: int
    folder: Path

    @property
    def file(self) -> Path:
        """What is outside the database."""
        return Path(self.settings.root_file)

    def do(self, work: Awaitable[Result]) -> Result:
        async def run() -> Result:
            return await work

        return self.runner.run(run())

    async def sql(self, *statements: str) -> None:
        """Statements of the owner; {a} is the customer's number."""
        for statement in statements:
            text = statement.replace("{schema}", self.settings.postgres_schema).replace("{a}", str(self.customer))
            await self.insider.execute(text)

    async def copy(self, start: str, *, back: bool = False, only: tuple[str, ...] = TABLES) -> None:
        """Keep the tables under names that start so, or put them back."""
        for table in only:
            here, kept = f"{{schema}}.{table}", f"{{schema}}.{start}_{table}"
            if back:
                insert = f"INSERT INTO {here} OVERRIDING SYSTEM VALUE SELECT * FROM {kept}"
                await self.sql(f"DELETE FROM {here}", insert)
            else:
                await self.sql(f"CREATE TABLE {kept} AS SELECT * FROM {here}")

    def verify(self) -> tuple[int, str]:
        """The operator's command."""
        words = ["credits", "verify", "--against", str(self.file)]
        done = CliRunner().invoke(cli, words, env=environment_of(self.settings))
        return done.exit_code, done.output

    def keep_head(self) -> None:
        """The customer keeps the signed head of the day, beside those of other days."""
        line = self.do(heads.signed_head(self.postgres, self.customer))
        if line is not None:
            with (self.folder / "kept.head").open("a") as file:
                file.write(f"x-ledger-head: {line}\n")

    def check(self) -> tuple[int, str]:
        """The customer's command, with a new statement and all heads."""

        async def statement() -> str:
            wanted = EntryFilter(1_000)
            return written(await receipts.entries(self.postgres, self.customer, wanted))

        (self.folder / "now.csv").write_text(self.do(statement()), newline="")
        public = roots.RootKeys([KEY]).public
        words = [
            "verify",
            str(self.folder / "now.csv"),
            "--head",
            str(self.folder / "kept.head"),
            "--public-key",
            public,
        ]
        done = CliRunner().invoke(sgl, words, standalone_mode=False)
        return (1 if done.exception else 0), done.output + str(done.exception or "")


async def rehash(history: History, renumber: bool = False) -> None:
    """All hashes of the customer's ledger, and the balance, as the service would have made them."""
    schema, insider = history.settings.postgres_schema, history.insider
    rows = await insider.fetch(
        f"SELECT *, kind::text, operation::text, actor_kind::text, ctid::text, tableoid::regclass::text AS part"
        f" FROM {schema}.ledger WHERE account_id = $1 ORDER BY seq, at",
        history.customer,
    )
    head, made = FIRST_PREVIOUS, []
    for number, row in enumerate(rows, 1):
        entry = {**row, "previous_hash": head, "seq": number if renumber else row["seq"]}
        head = entry["hash"] = entry_hash(entry)
        made.append(entry)
    await insider.execute(f"DELETE FROM {schema}.ledger WHERE account_id = $1", history.customer)
    for entry in made:
        names = [name for name in entry if name not in ("ctid", "part")]
        places = [
            f"${place}::text::{schema}.{kinds[name]}" if name in kinds else f"${place}"
            for place, name in enumerate(names, 1)
        ]
        await insider.execute(
            f"INSERT INTO {schema}.ledger ({', '.join(names)}) VALUES ({', '.join(places)})",
            *(entry[name] for name in names),
        )
    await insider.execute(
        f"UPDATE {schema}.balances SET seq = $2, head = $3, api = $4, lead = $5 WHERE account_id = $1",
        history.customer, made[-1]["seq"] if made else 0, head,
        sum(entry["api"] for entry in made), sum(entry["lead"] for entry in made),
    )  # fmt: skip


kinds = {"kind": "entry_kind", "operation": "entry_operation", "actor_kind": "actor_kind"}


def rewritten(*statements: str, renumber: bool = False) -> Callable[[History], Awaitable[None]]:
    """Rows of the ledger are changed, and everything that follows from them."""

    async def way(history: History) -> None:
        await history.sql(*statements)
        await rehash(history, renumber)

    return way


def plain(*statements: str) -> Callable[[History], Awaitable[None]]:
    """Statements and nothing else."""
    return lambda history: history.sql(*statements)


async def older_state(history: History) -> None:
    await history.copy("older", back=True)


async def older_account(history: History) -> None:
    await history.copy("older", back=True, only=("ledger", "balances", "expiring", "signed_heads"))


async def rechained(history: History) -> None:
    await history.sql("DELETE FROM {schema}.audit WHERE id = 2", "DELETE FROM {schema}.audit_chain")
    await audit_chain.extend_chain(history.postgres)


def forged(*, of_head: bool) -> Callable[[History], Awaitable[None]]:
    """Signed by somebody else."""

    async def way(history: History) -> None:
        keys = roots.RootKeys([OTHER_KEY])
        read = roots.RootKeys([KEY]).read_roots(history.file.read_text())
        newest = roots.newest_heads(read)
        raised = replace(newest[history.customer], api=1_000_000)
        if of_head:
            table, line = "signed_heads", keys.sign_head(read[-1], history.customer, raised)
            where = "account_id = {a}"
        else:
            root = keys.sign_root(START, read[-1].audit, {history.customer: raised}, read[-2])
            table, line, where = "roots", root.line, f"number = {len(read)}"
        await history.sql(f"UPDATE {{schema}}.{table} SET line = '{line}' WHERE {where}")

    return way


_LEDGER = "UPDATE {schema}.ledger SET "
_ROW = " WHERE account_id = {a} AND seq = "
_SWAP = (_LEDGER + "seq = -1" + _ROW + "2", _LEDGER + "seq = 2" + _ROW + "3", _LEDGER + "seq = 3" + _ROW + "-1")
_INSERT = (
    "INSERT INTO {schema}.ledger SELECT account_id, seq, at + interval '1 microsecond', kind, operation, api, lead,"
    " expires_at, refers_to, actor_kind, actor_id, 'made up', domains, previous_hash, hash FROM {schema}.ledger"
    + _ROW + "3"
)  # fmt: skip
# What the insider does, what the operator reads, and whether the customer's own ledger is concerned.
WAYS: dict[str, tuple[Callable[[History], Awaitable[None]], str, bool]] = {
    "a grant is raised": (rewritten(_LEDGER + "api = 1000000" + _ROW + "1"), "row 3: is not as root 1", True),
    "credits move between rows": (
        rewritten(_LEDGER + "lead = lead + 1" + _ROW + "1", _LEDGER + "lead = lead - 1" + _ROW + "2"),
        "one of the rows 1 to 3", True,
    ),
    "a charge of the second day is smaller": (
        rewritten(_LEDGER + "lead = 0" + _ROW + "4"), "row 5: is not as root 2 sealed it: one of the rows 4 to 5", True
    ),
    "a charge names other domains": (rewritten(_LEDGER + "domains = 'n x.example'" + _ROW + "2"), "row 3", True),
    "another one paid": (rewritten(_LEDGER + "actor_id = '99'" + _ROW + "2"), "row 3", True),
    "another request was paid": (rewritten(_LEDGER + "request_id = 'other'" + _ROW + "2"), "row 3", True),
    "a grant expires": (rewritten(_LEDGER + "expires_at = '2040-01-01'" + _ROW + "1"), "row 3", True),
    "rows are earlier": (rewritten(_LEDGER + "at = at - interval '1 second'" + _ROW + "1"), "row 3", True),
    "rows are swapped": (rewritten(*_SWAP), "row 3", True),
    "a row is left out": (
        rewritten("DELETE FROM {schema}.ledger" + _ROW + "2", renumber=True), "row 3", True
    ),
    "a row is inserted": (rewritten(_INSERT, renumber=True), "row 5: is not as root 2", True),
    "the last rows are gone": (
        rewritten("DELETE FROM {schema}.ledger WHERE account_id = {a} AND seq > 4"), "row 5: was sealed by root 2", True
    ),
    "a ledger begins again": (
        rewritten("DELETE FROM {schema}.ledger WHERE account_id = {a}"), "row 3: was sealed by root 1", True
    ),
    "an amount is changed alone": (plain(_LEDGER + "api = 0" + _ROW + "2"), "row 2: was changed", True),
    "an amount of the last day is changed alone": (plain(_LEDGER + "api = 0" + _ROW + "6"), "row 6: was changed", True),
    "an older state": (older_state, "table roots, root 2", True),
    "an older state of the accounts": (older_account, "row 5: was sealed by root 2 and is missing", True),
    "a row of the audit log is gone": (plain("DELETE FROM {schema}.audit WHERE id = 2"), "audit log, rows 1 to", False),
    "the end of the audit log is gone": (
        plain("DELETE FROM {schema}.audit WHERE id > 5"), "audit log, rows", False
    ),
    "the audit log is chained again": (rechained, "audit log, rows 1 to", False),
    "another one acted": (
        plain("UPDATE {schema}.audit SET actor_id = 'mallory' WHERE id = 3"), "audit log, rows 1 to", False
    ),
    "an action is inserted": (
        plain(
            "INSERT INTO {schema}.audit (id, actor_kind, actor_id, action) OVERRIDING SYSTEM VALUE"
            " VALUES (-1, 'operator', 'x', 'credits.grant')"
        ),
        "audit log, rows", False,
    ),
    "the roots are gone": (plain("DELETE FROM {schema}.roots"), "table roots, root 1: is not what", False),
    "the newest root is gone": (plain("DELETE FROM {schema}.roots WHERE number = 3"), "table roots, root 3", False),
    "a root is changed": (
        plain("""UPDATE {schema}.roots SET line = replace(line, '"at"', '"At"') WHERE number = 2"""), "root 2", False
    ),
    "a root is forged": (forged(of_head=False), "table roots, root 3", False),
    "a signed head is forged": (forged(of_head=True), "signed head: is not of root 3", True),
    "an older signed head": (
        plain("UPDATE {schema}.signed_heads n SET seq = o.seq, line = o.line FROM {schema}.older_signed_heads o"
              " WHERE o.account_id = n.account_id"),
        "signed head: is missing, or older", False,
    ),
}  # fmt: skip


async def _open(history: History) -> list[Caller]:
    """The customer and another account, in tables that an insider can change."""
    callers = [await open_account(history.postgres, api=100, lead=100), await open_account(history.postgres, api=5)]
    history.customer = callers[0].account_id
    parts = await history.insider.fetch(
        "SELECT relid::regclass::text AS name FROM pg_partition_tree($1::text::regclass)",
        f"{history.settings.postgres_schema}.ledger",
    )
    for name in (*(part["name"] for part in parts), "{schema}.audit"):
        await history.sql(f"ALTER TABLE {name} DISABLE TRIGGER USER")
    return callers


async def _one_day(history: History, day: int, customer: Caller, other: Caller) -> None:
    history.clock.day = day
    await pay(history.postgres, customer, 1, 2)
    await pay(history.postgres, customer if day < 3 else other, 1, 0)
    await history.sealer.seal()
    await history.sealer.seal()  # once a day


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[History]:
    folder, name = tmp_path_factory.mktemp("heads"), f"test_{secrets.token_hex(6)}"
    base = load_settings()
    settings = replace(
        base, postgres_schema=name, root_keys=(KEY,), root_file=str(folder / "roots.jsonl"), key_secrets=("x" * 40,)
    )
    asyncio.run(make_schema(base.postgres_dsn, name))
    with asyncio.Runner() as runner:
        postgres = Postgres(base.postgres_dsn, name, max_connections=2)
        insider = runner.run(asyncpg.connect(owner(base.postgres_dsn)))
        clock = Days()
        sealer = heads.Sealer(postgres, clock, roots.RootKeys([KEY]), Path(settings.root_file))
        made = History(settings, postgres, insider, runner, sealer, clock, 0, folder)
        callers = made.do(_open(made))
        for day in (1, 2, 3):
            made.do(_one_day(made, day, *callers))
            made.keep_head()
            if day == 1:
                made.do(made.copy("older"))
        # After the last root: a charge of the first day is given back, which changes no sealed row.
        made.do(credits.refund(postgres, made.customer, 2, None, None, "tests", "ticket 1", "tests"))
        made.do(made.copy("true"))
        yield made
        runner.run(insider.close())
        runner.run(postgres.close())
    asyncio.run(drop_schema(base.postgres_dsn, name))


@pytest.fixture
def true(history: History) -> Iterator[History]:
    """What was there, put back afterwards."""
    kept = (history.folder / "kept.head").read_text()
    yield history
    history.do(history.copy("true", back=True))
    (history.folder / "kept.head").write_text(kept)


@pytest.mark.promise("heads.true")
def test_nothing_is_found_in_what_was_not_rewritten(true: History) -> None:
    code, output = true.verify()
    assert (code, output.splitlines()[-1]) == (0, "9 rows of 2 accounts read and compared with 3 roots, 0 problems.")
    code, output = true.check()
    assert (code, output) == (
        0,
        f"Rows 1 to 6 of account {true.customer} are as signed. 1 later rows are not signed yet.\n",
    )


@pytest.mark.promise("heads.found")
@pytest.mark.parametrize("name", WAYS)
def test_a_rewritten_history_is_found(true: History, name: str) -> None:
    way, expected, concerns_customer = WAYS[name]
    true.do(way(true))
    code, output = true.verify()
    assert code == 1
    assert expected in output
    true.keep_head()
    code, output = true.check()
    assert bool(code) == concerns_customer, output


@pytest.mark.promise("heads.refused")
@pytest.mark.parametrize(
    "name",
    [
        "a grant is raised", "an amount of the last day is changed alone", "an older state", "the roots are gone",
        "a root is forged", "a row of the audit log is gone", "another one acted", "the audit log is chained again",
    ],
)  # fmt: skip
def test_what_was_rewritten_is_not_signed(true: History, name: str) -> None:
    before = true.file.read_bytes()
    true.do(WAYS[name][0](true))
    true.clock.day = 4
    with pytest.raises(Unavailable) as refused:
        true.do(true.sealer.seal())
    assert f"run `siteglass credits verify --against {true.file}`" in refused.value.reason
    assert true.file.read_bytes() == before


def test_another_machine_continues_in_its_own_file(true: History) -> None:
    """The first lines come from the table, also where a crash cut one."""
    other = true.folder / "other.jsonl"
    lines = true.file.read_text().splitlines()
    other.write_text(lines[0] + "\n" + lines[1][:50])
    sealer = heads.Sealer(true.postgres, true.clock, roots.RootKeys([KEY]), other)
    true.clock.day = 3
    true.do(sealer.seal())
    keys = roots.RootKeys([OTHER_KEY, KEY])
    assert [root.line for root in keys.read_roots(other.read_text())] == lines
    with pytest.raises(roots.RootError, match="root 1: its signature"):
        roots.RootKeys([OTHER_KEY]).read_roots(other.read_text())


def test_roots_of_three_keys_are_read_by_the_public_keys_of_the_older_ones() -> None:
    keys, text = [KEY, OTHER_KEY, secrets.token_hex(32)], ""
    for count in (1, 2, 3):
        newest, *older = reversed(keys[:count])
        listed = (newest, *(f"public:{roots.RootKeys([key]).public}" for key in older))
        opened = roots.open_root_keys(replace(load_settings(), root_keys=listed, root_file="x"))
        assert opened is not None
        before = opened.read_roots(text)
        assert (len(before), opened.public) == (count - 1, roots.RootKeys([newest]).public)
        text += opened.sign_root(START, audit_chain.AuditHead(), {}, before[-1] if before else None).line + "\n"


@pytest.mark.parametrize(
    ("keys", "file", "reason"),
    [
        (("short",), "x", "64 hexadecimal"),
        ((f"public:{KEY}",), "x", "64 hexadecimal"),
        ((KEY,), "", "is not: name the file"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(keys: tuple[str, ...], file: str, reason: str) -> None:
    with pytest.raises(SettingsError, match=reason):
        roots.open_root_keys(replace(load_settings(), root_keys=keys, root_file=file))


def test_an_audit_log_is_chained_in_batches(true: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("siteglass.access.audit_chain.ROWS_AT_ONCE", 2)

    async def chained() -> list[bytes]:
        for number in range(5):
            await accounts.create_account(true.postgres, f"Contoso {number}", "standard", actor="tests")
        head = await audit_chain.extend_chain(true.postgres)
        [again] = await audit_chain.heads_at(true.postgres, [head.last_id])
        return [head.hash, again.hash]

    first, second = true.do(chained())
    assert first == second
