-- The tables of the state, in the schema gatehouse_state: beside the accounts in one database, or in one of their own.
-- Only ever added to: a release that does not know a table leaves it alone.
--
-- Columns that change with every refresh or request are in no index, and pages keep some room: so an update stays on
-- its page (a "HOT" update) and writes no index. What expires is found by the day or the hour instead of the second.

CREATE TABLE IF NOT EXISTS gatehouse_state.sessions (
  id text COLLATE "C" PRIMARY KEY,
  user_id bigint NOT NULL,
  generation bigint NOT NULL,
  opened double precision NOT NULL,
  rotated double precision NOT NULL,
  ends double precision NOT NULL,
  latest double precision NOT NULL,
  address text NOT NULL,
  agent text NOT NULL,
  day integer NOT NULL
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE gatehouse_state.sessions ADD COLUMN IF NOT EXISTS proof text NOT NULL DEFAULT '';
CREATE INDEX IF NOT EXISTS sessions_by_user ON gatehouse_state.sessions (user_id, opened);
CREATE INDEX IF NOT EXISTS sessions_by_day ON gatehouse_state.sessions (day);

CREATE TABLE IF NOT EXISTS gatehouse_state.epochs (
  user_id bigint PRIMARY KEY,
  epoch bigint NOT NULL
) WITH (fillfactor = 80);

CREATE TABLE IF NOT EXISTS gatehouse_state.captchas (
  fingerprint bytea PRIMARY KEY,
  expires bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS captchas_by_end ON gatehouse_state.captchas (expires);

-- Unlogged: no write-ahead log, so no disk to wait for. After a crash of the server or a failover the table is empty and
-- every rate starts from zero. Lockouts after failed logins are in another table, and stay.
CREATE UNLOGGED TABLE IF NOT EXISTS gatehouse_state.rates (
  key bytea PRIMARY KEY,
  arrival double precision NOT NULL,
  hour integer NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX IF NOT EXISTS rates_by_hour ON gatehouse_state.rates (hour);

CREATE TABLE IF NOT EXISTS gatehouse_state.failures (
  key bytea PRIMARY KEY,
  failures integer NOT NULL,
  since double precision NOT NULL,
  level integer NOT NULL,
  until double precision NOT NULL,
  expires double precision NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX IF NOT EXISTS failures_by_end ON gatehouse_state.failures (expires);

CREATE TABLE IF NOT EXISTS gatehouse_state.marks (
  key bytea PRIMARY KEY,
  expires double precision NOT NULL
);
CREATE INDEX IF NOT EXISTS marks_by_end ON gatehouse_state.marks (expires);

CREATE TABLE IF NOT EXISTS gatehouse_state.expiring_values (
  key bytea PRIMARY KEY,
  value bytea NOT NULL,
  expires double precision NOT NULL
);
CREATE INDEX IF NOT EXISTS expiring_values_by_end ON gatehouse_state.expiring_values (expires);

-- The log of ended sessions, and one row that says where it ends. A writer locks that row until its commit, so
-- entries become visible in the order of their positions and no reader can miss one.
CREATE TABLE IF NOT EXISTS gatehouse_state.ended_sessions (
  position bigint PRIMARY KEY,
  session text NOT NULL,
  at double precision NOT NULL,
  reason text NOT NULL,
  expires double precision NOT NULL
);
CREATE TABLE IF NOT EXISTS gatehouse_state.ended_log (
  singleton boolean PRIMARY KEY CHECK (singleton),
  newest bigint NOT NULL,
  entries bigint NOT NULL
) WITH (fillfactor = 10);
INSERT INTO gatehouse_state.ended_log VALUES (true, 0, 0) ON CONFLICT DO NOTHING;

CREATE TABLE IF NOT EXISTS gatehouse_state.meta (
  name text PRIMARY KEY,
  value text NOT NULL
);
