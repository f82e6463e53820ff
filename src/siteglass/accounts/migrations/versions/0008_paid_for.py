"""What an account ever paid for can be asked for, whatever its plan; read from the ledger when somebody asks."""

from __future__ import annotations

from alembic import op

revision = "0008"
down_revision = "0007"

# Up to which ledger row `paid` knows all that an account paid for. Charges of most plans do not write `paid`: they
# would get slower for a question that few ask.
PAID_UNTIL = """
CREATE TABLE {schema}.paid_until (account_id bigint PRIMARY KEY, seq bigint NOT NULL)
"""

# Answers from `paid` where it can; else first brings it further by at most so many ledger rows. `behind`: how many rows
# are left to read, so that the answer may still be yes.
PAID_FOR = r"""
CREATE FUNCTION {schema}.paid_for(p_account bigint, p_domain text, p_rows integer, OUT paid boolean, OUT behind bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    since bigint;
    until bigint;
    newest bigint;
BEGIN
    behind := 0;
    paid := EXISTS (SELECT FROM {schema}.paid p WHERE p.account_id = p_account AND p.domain = p_domain);
    IF paid THEN
        RETURN;
    END IF;
    INSERT INTO {schema}.paid_until VALUES (p_account, 0) ON CONFLICT DO NOTHING;
    SELECT u.seq INTO since FROM {schema}.paid_until u WHERE u.account_id = p_account FOR UPDATE;
    SELECT b.seq INTO newest FROM {schema}.balances b WHERE b.account_id = p_account;
    until := least(newest, since + p_rows);
    IF until > since THEN
        INSERT INTO {schema}.paid AS p
        SELECT DISTINCT ON (line) p_account, substr(line, 3), l.at, l.seq
        FROM {schema}.ledger l CROSS JOIN unnest(string_to_array(l.domains, E'\n')) line
        WHERE l.account_id = p_account AND l.seq > since AND l.seq <= until AND l.kind = 'charge'
            AND starts_with(line, 'c ')
            AND coalesce((SELECT sum(r.lead) FROM {schema}.ledger r
                WHERE r.account_id = p_account AND r.refers_to = l.seq AND r.kind = 'refund'), 0) < -l.lead
        ORDER BY line, l.seq DESC
        ON CONFLICT (account_id, domain) DO UPDATE SET at = excluded.at, seq = excluded.seq WHERE p.at < excluded.at;
        UPDATE {schema}.paid_until u SET seq = until WHERE u.account_id = p_account;
    END IF;
    behind := newest - until;
    paid := EXISTS (SELECT FROM {schema}.paid p WHERE p.account_id = p_account AND p.domain = p_domain);
END
$$
"""
NOT_PUBLIC = "REVOKE ALL ON FUNCTION {schema}.paid_for FROM PUBLIC"


def upgrade() -> None:
    schema = str(op.get_context().version_table_schema)
    for step in (PAID_UNTIL, PAID_FOR, NOT_PUBLIC):
        op.execute(step.replace("{schema}", schema))
