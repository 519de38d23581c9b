"""The statements of the engine. Each is one round trip and one transaction.

A batched statement takes an array for each value, and the first column of its rows is the ordinal in these arrays. Its
first value is the key of the row that it locks.
"""
# ruff: noqa: S608 - the texts are put together from constants

from __future__ import annotations


class Statement:
    def __init__(self, sql: str, *, batched: bool = False) -> None:
        self.sql = sql
        self.batched = batched


# A session as `Session` has it, of whatever is called s.
_SESSION = (
    "s.id, s.user_id, s.generation, s.opened, s.rotated, s.ends, s.latest, s.address, s.agent, s.proof,"
    " coalesce((SELECT e.epoch FROM epochs e WHERE e.user_id = s.user_id), 0)"
)

SESSION_STATUS = Statement(
    "SELECT asked.ordinal, s.user_id, s.ends, coalesce(e.epoch, 0)"
    " FROM unnest($1::text[]) WITH ORDINALITY AS asked (id, ordinal)"
    " JOIN sessions s ON s.id = asked.id LEFT JOIN epochs e ON e.user_id = s.user_id",
    batched=True,
)
OPEN_SESSION = Statement(
    f"SELECT {_SESSION} FROM open_session("
    "ROW($2::text, $1::bigint, $3::bigint, $4::float8, $5::float8, $6::float8, $7::float8, $8::text, $9::text,"
    " floor($6::float8 / 86400)::integer, $10::text)::sessions, $11, $12, $13, $14, $15) AS s"
)
# Without an entry in the log. For a move of a million sessions.
OPEN_SESSIONS = Statement(
    f"SELECT new.ordinal, {_SESSION}"
    " FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::float8[], $5::float8[], $6::float8[], $7::float8[],"
    " $8::text[], $9::text[], $10::text[], $11::bigint[]) WITH ORDINALITY"
    " AS new (user_id, id, generation, opened, rotated, ends, latest, address, agent, proof, allowed, ordinal),"
    " LATERAL open_session(ROW(new.id, new.user_id, new.generation, new.opened, new.rotated, new.ends, new.latest,"
    " new.address, new.agent, floor(new.ends / 86400)::integer, new.proof)::sessions,"
    " new.allowed, NULL, NULL, NULL, NULL) AS s",
    batched=True,
)
ROTATE_SESSION = Statement(
    f"SELECT done.ordinal, done.rotated_now, done.was_reused, {_SESSION}"
    " FROM rotate_sessions($1, $2, $3, $4, $5, $6, $7, ($8::integer[])[1]) AS done,"
    " LATERAL (SELECT (done.session).*) AS s WHERE s.id IS NOT NULL",
    batched=True,
)
TOUCH_SESSION = Statement(
    f"SELECT asked.ordinal, {_SESSION}"
    " FROM unnest($1::text[], $2::float8[], $3::float8[], $4::float8[], $5::text[]) WITH ORDINALITY"
    " AS asked (id, moment, ends, opened, proof, ordinal),"
    " LATERAL touch_session(asked.id, asked.moment, asked.ends, asked.opened, asked.proof) AS s",
    batched=True,
)
# Asked twice for the same session, the first gets it.
END_SESSION = Statement(
    f"SELECT asked.ordinal, {_SESSION} FROM end_sessions($1, $2, $3, $4, ($5::integer[])[1]) AS s"
    " JOIN (SELECT id, min(ordinal) AS ordinal FROM unnest($1::text[]) WITH ORDINALITY AS each (id, ordinal)"
    " GROUP BY id) AS asked ON asked.id = s.id",
    batched=True,
)
SESSIONS_OF = Statement(f"SELECT {_SESSION} FROM sessions s WHERE s.user_id = $1")
END_SESSIONS_OF = Statement(f"SELECT {_SESSION} FROM end_sessions_of($1, $2, $3, $4, $5, $6, $7) AS s")

ENDED_SESSIONS = Statement(
    "SELECT l.newest, l.entries, (SELECT min(position) FROM ended_sessions) AS oldest,"
    " e.position, e.session, e.at, e.reason FROM ended_log l LEFT JOIN LATERAL"
    " (SELECT * FROM ended_sessions WHERE position > $1 ORDER BY position LIMIT $2) AS e ON true ORDER BY e.position"
)
ENDED_POSITION = Statement("SELECT newest FROM ended_log")

RAISE_EPOCHS = Statement(
    "INSERT INTO epochs AS e SELECT DISTINCT u, $2::bigint FROM unnest($1::bigint[]) AS u ORDER BY u"
    " ON CONFLICT (user_id) DO UPDATE SET epoch = greatest(e.epoch + 1, excluded.epoch)"
)

USE_CAPTCHA = Statement("INSERT INTO captchas VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING true")

RATE_LIMIT = Statement(
    "SELECT asked.ordinal, rate_limit(asked.key, asked.moment, asked.emission_interval, asked.span)"
    " FROM unnest($1::bytea[], $2::float8[], $3::float8[], $4::float8[]) WITH ORDINALITY"
    " AS asked (key, moment, emission_interval, span, ordinal)",
    batched=True,
)
RATE_LEVEL = Statement(
    "SELECT asked.ordinal, r.arrival FROM unnest($1::bytea[]) WITH ORDINALITY AS asked (key, ordinal)"
    " JOIN rates r ON r.key = asked.key",
    batched=True,
)
ADD_TO_RATE = Statement(
    "SELECT asked.ordinal, add_to_rate(asked.key, asked.moment, asked.seconds, asked.ceiling)"
    " FROM unnest($1::bytea[], $2::float8[], $3::float8[], $4::float8[]) WITH ORDINALITY"
    " AS asked (key, moment, seconds, ceiling, ordinal)",
    batched=True,
)
_FAILURES = "key, failures, since, level, until"
RECORD_FAILURE = Statement(f"SELECT {_FAILURES} FROM record_failure($1, $2, $3, $4, $5, $6)")
FAILURES = Statement(f"SELECT {_FAILURES} FROM failures WHERE key = $1")
CLEAR_FAILURES = Statement("DELETE FROM failures WHERE key = $1 RETURNING true")
LOCKED = Statement(f"SELECT {_FAILURES} FROM failures WHERE until > $1 ORDER BY until DESC")

SET_FLAG = Statement("INSERT INTO marks VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET expires = excluded.expires")
HAS_FLAG = Statement("SELECT true FROM marks WHERE key = $1 AND expires > $2")

VALUE = Statement("SELECT value FROM expiring_values WHERE key = $1 AND expires > $2")
SET_VALUE = Statement(
    "INSERT INTO expiring_values AS v VALUES ($1, $2, $3) ON CONFLICT (key)"
    " DO UPDATE SET value = excluded.value, expires = excluded.expires WHERE v.expires <= $4 RETURNING true"
)
REPLACE_VALUE = Statement(
    "UPDATE expiring_values SET value = $2, expires = $3 WHERE key = $1 AND expires > $4 AND value = $5 RETURNING true"
)

SWEEP = Statement(f"SELECT {_SESSION} FROM sweep($1, $2, $3) AS s")
MORE_TO_SWEEP = Statement(
    "SELECT EXISTS (SELECT FROM captchas WHERE expires <= $1)"
    " OR EXISTS (SELECT FROM rates WHERE hour < floor($1 / 3600))"
    " OR EXISTS (SELECT FROM failures WHERE expires <= $1) OR EXISTS (SELECT FROM marks WHERE expires <= $1)"
    " OR EXISTS (SELECT FROM expiring_values WHERE expires <= $1) OR EXISTS"
    " (SELECT FROM (SELECT expires FROM ended_sessions ORDER BY position LIMIT 1) AS oldest WHERE expires <= $1)"
)
PING = Statement(
    "INSERT INTO meta VALUES ('ping', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value RETURNING true"
)
IDENTITY = Statement(
    "INSERT INTO meta AS m VALUES ('identity', $1) ON CONFLICT (name) DO UPDATE SET value = m.value RETURNING value"
)
SETTINGS = Statement("SELECT name, setting FROM pg_settings WHERE name = ANY ($1::text[])")
