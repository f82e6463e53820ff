"""What an account ever paid for can be asked for, whatever its plan; read from the ledger when somebody asks."""

from __future__ import annotations

from alembic import op

revision = "0008"
down_revision = "0007"

# Leads by the charges that took a credit for them, up to a row of the ledger. Charges do not write it: they would get
# slower for a question that few ask. Nor is it `paid`, which knows the last charge of a lead only, on few plans.
BOUGHT = """
CREATE TABLE {schema}.bought (
    account_id bigint NOT NULL,
    domain text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    PRIMARY KEY (account_id, domain, seq)
)
"""
BOUGHT_UNTIL = """
CREATE TABLE {schema}.bought_until (account_id bigint PRIMARY KEY, seq bigint NOT NULL)
"""

# A charge counts as long as not all of its leads were given back.
HAS_BOUGHT = """
CREATE FUNCTION {schema}.has_bought(p_account bigint, p_domain text) RETURNS boolean STABLE LANGUAGE sql AS $$
SELECT EXISTS (
    SELECT FROM {schema}.bought b JOIN {schema}.ledger l ON l.account_id = b.account_id AND l.seq = b.seq
    WHERE b.account_id = p_account AND b.domain = p_domain
        AND coalesce((SELECT sum(r.lead) FROM {schema}.ledger r
            WHERE r.account_id = p_account AND r.refers_to = b.seq AND r.kind = 'refund'), 0) < -l.lead
)
$$
"""

# Answers from `bought` where it can; else first brings it further by at most so many ledger rows. `behind`: how many
# rows are left to read, so that the answer may still be yes.
PAID_FOR = r"""
CREATE FUNCTION {schema}.paid_for(p_account bigint, p_domain text, p_rows integer, OUT paid boolean, OUT behind bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    since bigint;
    until bigint;
    newest bigint;
BEGIN
    behind := 0;
    paid := {schema}.has_bought(p_account, p_domain);
    IF paid THEN
        RETURN;
    END IF;
    INSERT INTO {schema}.bought_until VALUES (p_account, 0) ON CONFLICT DO NOTHING;
    SELECT u.seq INTO since FROM {schema}.bought_until u WHERE u.account_id = p_account FOR UPDATE;
    SELECT b.seq INTO newest FROM {schema}.balances b WHERE b.account_id = p_account;
    until := least(newest, since + p_rows);
    IF until > since THEN
        INSERT INTO {schema}.bought
        SELECT DISTINCT p_account, substr(line, 3), l.seq
        FROM {schema}.ledger l CROSS JOIN unnest(string_to_array(l.domains, E'\n')) line
        WHERE l.account_id = p_account AND l.seq > since AND l.seq <= until AND l.kind = 'charge'
            AND starts_with(line, 'c ')
        ON CONFLICT DO NOTHING;
        UPDATE {schema}.bought_until u SET seq = until WHERE u.account_id = p_account;
    END IF;
    behind := newest - until;
    paid := {schema}.has_bought(p_account, p_domain);
END
$$
"""
# Two that empty the same slot wait for each other; on a busy machine that is found out before either has waited too
# long. Either way one of them comes again.
FORGET_ANSWERS = """
CREATE OR REPLACE FUNCTION {schema}.forget_answers(p_slot integer, OUT emptied boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    slot_table text := '{schema}.answers_' || p_slot;
    old text := 'SELECT coalesce(max(at) < clock_timestamp() - interval ''24 hours'', false) FROM ' || slot_table;
BEGIN
    EXECUTE old INTO emptied;
    IF emptied THEN
        PERFORM set_config('lock_timeout', '50', true);
        EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', slot_table);
        EXECUTE old INTO emptied;
    END IF;
    IF emptied THEN
        EXECUTE format('TRUNCATE %s', slot_table);
    END IF;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
    emptied := false;
END
$$
"""
NOT_PUBLIC = "REVOKE ALL ON FUNCTION {schema}.paid_for, {schema}.has_bought FROM PUBLIC"


def upgrade() -> None:
    schema = str(op.get_context().version_table_schema)
    for step in (BOUGHT, BOUGHT_UNTIL, HAS_BOUGHT, PAID_FOR, FORGET_ANSWERS, NOT_PUBLIC):
        op.execute(step.replace("{schema}", schema))
