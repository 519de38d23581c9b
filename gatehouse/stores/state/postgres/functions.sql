-- Operations of several statements that must be one round trip, and one transaction.
--
-- Locks are taken in one order, so that no two calls wait for each other: rates by key; the user; sessions by id; the log
-- of ended sessions. A call over many sessions or rates gets them in that order.

-- Add to the log of ended sessions. The arrays belong together.
CREATE FUNCTION append_ended(
  gone text[], moments double precision[], reasons text[], lifetimes integer[], max_entries integer
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  added bigint := cardinality(gone);
  last bigint;
  total bigint;
BEGIN
  IF added = 0 THEN RETURN; END IF;
  -- Positions follow the clock and never go back: a number lost in a failover is not given out again.
  UPDATE ended_log
  SET newest = greatest(newest, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) + added,
      entries = entries + added
  RETURNING newest, entries INTO last, total;
  INSERT INTO ended_sessions
  SELECT last - added + ordinal, session, moment, reason, moment + kept_seconds
  FROM unnest(gone, moments, reasons, lifetimes)
    WITH ORDINALITY AS listed (session, moment, reason, kept_seconds, ordinal);
  IF total >= max_entries + greatest(max_entries / 10, 1) THEN
    DELETE FROM ended_sessions
    WHERE position = ANY (ARRAY(SELECT position FROM ended_sessions ORDER BY position LIMIT total - max_entries));
    UPDATE ended_log SET entries = max_entries;
  END IF;
END $$;

-- Only one at a time opens or ends sessions of a user.
CREATE FUNCTION lock_user(number bigint) RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(7267802, hashint8(number));
$$;

-- Remove sessions, each for its own reason, and log those that had not ended by time before. No time: not logged.
CREATE FUNCTION end_sessions(
  ids text[], moments double precision[], reasons text[], lifetimes integer[], max_entries integer
) RETURNS SETOF sessions LANGUAGE plpgsql AS $$
DECLARE
  removed sessions[];
  early integer[];
BEGIN
  removed := ARRAY(SELECT s FROM sessions s WHERE s.id = ANY (ids) ORDER BY s.id FOR UPDATE);
  DELETE FROM sessions s WHERE s.id = ANY (ARRAY(SELECT r.id FROM unnest(removed) AS r));
  early := ARRAY(
    SELECT min(n) FROM unnest(ids) WITH ORDINALITY AS listed (id, n) JOIN unnest(removed) AS r ON r.id = listed.id
    WHERE r.ends > moments[n] GROUP BY r.id, r.opened ORDER BY r.opened, r.id
  );
  PERFORM append_ended(
    ARRAY(SELECT ids[n] FROM unnest(early) WITH ORDINALITY AS e (n, ordinal) ORDER BY ordinal),
    ARRAY(SELECT moments[n] FROM unnest(early) WITH ORDINALITY AS e (n, ordinal) ORDER BY ordinal),
    ARRAY(SELECT reasons[n] FROM unnest(early) WITH ORDINALITY AS e (n, ordinal) ORDER BY ordinal),
    ARRAY(SELECT lifetimes[n] FROM unnest(early) WITH ORDINALITY AS e (n, ordinal) ORDER BY ordinal),
    max_entries
  );
  RETURN QUERY SELECT * FROM unnest(removed);
END $$;

-- The same for several sessions and one reason.
CREATE FUNCTION remove_sessions(
  removed_ids text[], moment double precision, reason text, kept_seconds integer, max_entries integer
) RETURNS SETOF sessions LANGUAGE sql AS $$
  SELECT * FROM end_sessions(
    removed_ids, array_fill(moment, ARRAY[cardinality(removed_ids)]), array_fill(reason, ARRAY[cardinality(removed_ids)]),
    array_fill(kept_seconds, ARRAY[cardinality(removed_ids)]), max_entries
  );
$$;

-- Store a new session. Returns it, and the oldest of its user, which go to keep as many as are allowed.
CREATE FUNCTION open_session(
  session sessions, sessions_per_user bigint, moment double precision, reason text, kept_seconds integer,
  max_entries integer
) RETURNS SETOF sessions LANGUAGE plpgsql AS $$
DECLARE
  removed_ids text[];
  number bigint;
BEGIN
  PERFORM lock_user(session.user_id);
  INSERT INTO sessions SELECT session.* ON CONFLICT (id) DO NOTHING;
  SELECT count(*) INTO number FROM sessions s WHERE s.user_id = session.user_id;
  RETURN QUERY SELECT * FROM sessions s WHERE s.id = session.id;
  IF number <= sessions_per_user THEN RETURN; END IF;
  removed_ids := ARRAY(
    SELECT s.id FROM sessions s WHERE s.user_id = session.user_id AND s.id <> session.id
    ORDER BY s.opened, s.id LIMIT number - sessions_per_user
  );
  RETURN QUERY SELECT * FROM remove_sessions(removed_ids, moment, reason, kept_seconds, max_entries);
END $$;

-- Remove every session of a user but one. `credential_changed`: the user is an entry of the log, too.
CREATE FUNCTION end_sessions_of(
  owner bigint, except_id text, credential_changed boolean, moment double precision, reason text,
  kept_seconds integer, max_entries integer
) RETURNS SETOF sessions LANGUAGE plpgsql AS $$
DECLARE
  removed_ids text[];
BEGIN
  PERFORM lock_user(owner);
  removed_ids := ARRAY(
    SELECT s.id FROM sessions s WHERE s.user_id = owner AND s.id IS DISTINCT FROM except_id ORDER BY s.id FOR UPDATE
  );
  IF credential_changed THEN
    PERFORM append_ended(ARRAY[owner::text], ARRAY[moment], ARRAY[reason], ARRAY[kept_seconds], max_entries);
  END IF;
  RETURN QUERY SELECT * FROM remove_sessions(removed_ids, moment, reason, kept_seconds, max_entries);
END $$;

-- Advance a session by one generation, if it still is the one that was presented and the session lives. `was_reused` is
-- `is_reused` of refresh_reuse.py, or false without a grace window; a property test holds the two together. Then the
-- session is locked, for the caller to end it.
CREATE FUNCTION rotate_session(
  session_id text, presented bigint, moment double precision, new_ends double precision, grace double precision,
  OUT rotated_now boolean, OUT was_reused boolean, OUT session sessions
) LANGUAGE plpgsql AS $$
BEGIN
  UPDATE sessions s
  SET generation = s.generation + 1, rotated = moment, ends = least(new_ends, s.latest),
      day = floor(least(new_ends, s.latest) / 86400)
  WHERE s.id = session_id AND s.generation = presented AND s.ends > moment
  RETURNING s.* INTO session;
  rotated_now := FOUND;
  was_reused := false;
  IF FOUND THEN RETURN; END IF;
  SELECT s.* INTO session FROM sessions s WHERE s.id = session_id FOR UPDATE;
  was_reused := coalesce(
    session.ends > moment AND presented <> session.generation
      AND (presented <> session.generation - 1 OR moment >= session.rotated + grace) AND grace IS NOT NULL,
    false
  );
END $$;

-- Extend a session that lives, without rotating it. `new_opened` and `new_proof` are those of a further login, or null.
CREATE FUNCTION touch_session(
  session_id text, moment double precision, new_ends double precision, new_opened double precision, new_proof text
) RETURNS SETOF sessions LANGUAGE sql AS $$
  UPDATE sessions s
  SET ends = greatest(s.ends, least(new_ends, s.latest)),
      day = floor(greatest(s.ends, least(new_ends, s.latest)) / 86400),
      opened = coalesce(new_opened, s.opened), proof = coalesce(new_proof, s.proof)
  WHERE s.id = session_id AND s.ends > moment
  RETURNING s.*;
$$;

-- Count one event against a rate: `gcra` of limit_rules.py; a property test holds the two together.
CREATE FUNCTION rate_limit(
  name bytea, moment double precision, emission_interval double precision, span double precision
) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
  kept double precision;
BEGIN
  INSERT INTO rates AS r VALUES (name, moment + emission_interval, floor((moment + emission_interval) / 3600))
  ON CONFLICT (key) DO UPDATE
  SET arrival = greatest(r.arrival, moment) + emission_interval,
      hour = floor((greatest(r.arrival, moment) + emission_interval) / 3600)
  WHERE greatest(r.arrival, moment) + emission_interval - span - moment <= 1e-9;
  IF FOUND THEN RETURN 0; END IF;
  SELECT greatest(r.arrival, moment) INTO kept FROM rates r WHERE r.key = name;
  RETURN kept + emission_interval - span - moment;
END $$;

-- Add to the level of a rate, or take out: `filled` of limit_rules.py; a property test holds the two together.
-- Returns when the rate would be idle again.
CREATE FUNCTION add_to_rate(
  name bytea, moment double precision, seconds double precision, ceiling double precision
) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
  kept double precision := least(greatest(moment + seconds, moment), moment + ceiling);
BEGIN
  INSERT INTO rates AS r VALUES (name, kept, floor(kept / 3600))
  ON CONFLICT (key) DO UPDATE
  SET arrival = least(greatest(greatest(r.arrival, moment) + seconds, moment), moment + ceiling),
      hour = floor(least(greatest(greatest(r.arrival, moment) + seconds, moment), moment + ceiling) / 3600)
  RETURNING r.arrival INTO kept;
  RETURN kept;
END $$;

-- What became of one of several rotations.
CREATE TYPE rotation AS (ordinal integer, rotated_now boolean, was_reused boolean, session sessions);

-- Rotate sessions. Those whose token was reused end together, after all others were rotated: the log is locked after the
-- sessions. Without a reason the end is not logged.
CREATE FUNCTION rotate_sessions(
  ids text[], generations bigint[], moments double precision[], new_ends double precision[],
  graces double precision[], reasons text[], lifetimes integer[], max_entries integer
) RETURNS SETOF rotation LANGUAGE plpgsql AS $$
DECLARE
  done rotation[];
  reused integer[];
BEGIN
  done := ARRAY(
    SELECT ROW(p, r.rotated_now, r.was_reused, r.session)::rotation
    FROM generate_subscripts(ids, 1) AS p,
      LATERAL rotate_session(ids[p], generations[p], moments[p], new_ends[p], graces[p]) AS r
  );
  reused := ARRAY(SELECT d.ordinal FROM unnest(done) AS d WHERE d.was_reused ORDER BY d.ordinal);
  IF cardinality(reused) > 0 THEN
    PERFORM end_sessions(
      ARRAY(SELECT ids[p] FROM unnest(reused) AS p),
      ARRAY(SELECT CASE WHEN reasons[p] IS NOT NULL THEN moments[p] END FROM unnest(reused) AS p),
      ARRAY(SELECT reasons[p] FROM unnest(reused) AS p), ARRAY(SELECT lifetimes[p] FROM unnest(reused) AS p),
      max_entries
    );
  END IF;
  RETURN QUERY SELECT * FROM unnest(done);
END $$;

-- Count one failure: `next_failures` of limit_rules.py; a property test holds the two together.
-- No row: the key is locked.
CREATE FUNCTION record_failure(
  name bytea, moment double precision, failure_limit integer, span integer, kept_seconds integer,
  lockout_seconds integer[]
) RETURNS SETOF failures LANGUAGE plpgsql AS $$
DECLARE
  f failures;
BEGIN
  INSERT INTO failures VALUES (name, 0, moment, 0, 0, moment) ON CONFLICT DO NOTHING;
  SELECT * INTO f FROM failures WHERE key = name FOR UPDATE;
  IF moment >= (CASE WHEN f.level = 0 THEN f.since + span ELSE f.until + kept_seconds END) THEN
    f := (name, 0, moment, 0, 0, moment);
  END IF;
  IF f.until > moment THEN RETURN; END IF;
  f.failures := f.failures + 1;
  IF f.level > 0 OR f.failures >= failure_limit THEN
    f.since := moment;
    f.until := moment + lockout_seconds[least(f.level, cardinality(lockout_seconds) - 1) + 1];
    f.level := f.level + 1;
  END IF;
  f.expires := CASE WHEN f.level = 0 THEN f.since + span ELSE f.until + kept_seconds END;
  UPDATE failures
  SET failures = f.failures, since = f.since, level = f.level, until = f.until, expires = f.expires
  WHERE key = name;
  RETURN NEXT f;
END $$;

-- Remove a small batch of what has expired, without waiting for locked rows; returns the sessions among it.
CREATE FUNCTION sweep(moment double precision, ended_before double precision, batch integer)
RETURNS SETOF sessions LANGUAGE plpgsql AS $$
DECLARE
  gone bigint;
BEGIN
  DELETE FROM captchas WHERE fingerprint = ANY (ARRAY(
    SELECT fingerprint FROM captchas WHERE expires <= moment ORDER BY expires LIMIT batch FOR UPDATE SKIP LOCKED));
  DELETE FROM rates WHERE key = ANY (ARRAY(
    SELECT key FROM rates WHERE hour < floor(moment / 3600)
    ORDER BY hour LIMIT batch FOR UPDATE SKIP LOCKED));
  DELETE FROM failures WHERE key = ANY (ARRAY(
    SELECT key FROM failures WHERE expires <= moment ORDER BY expires LIMIT batch FOR UPDATE SKIP LOCKED));
  DELETE FROM marks WHERE key = ANY (ARRAY(
    SELECT key FROM marks WHERE expires <= moment ORDER BY expires LIMIT batch FOR UPDATE SKIP LOCKED));
  DELETE FROM expiring_values WHERE key = ANY (ARRAY(
    SELECT key FROM expiring_values WHERE expires <= moment ORDER BY expires LIMIT batch FOR UPDATE SKIP LOCKED));
  RETURN QUERY DELETE FROM sessions WHERE id = ANY (ARRAY(
    SELECT id FROM sessions WHERE day <= floor(ended_before / 86400) AND ends <= ended_before
    ORDER BY day LIMIT batch FOR UPDATE SKIP LOCKED)) RETURNING *;
  -- Oldest first, and no further than the first that still matters: a reader's position stays meaningful.
  IF EXISTS (SELECT FROM (SELECT expires FROM ended_sessions ORDER BY position LIMIT 1) AS oldest WHERE expires <= moment) THEN
    PERFORM FROM ended_log FOR UPDATE;
    DELETE FROM ended_sessions WHERE position = ANY (ARRAY(
      SELECT position FROM (SELECT * FROM ended_sessions ORDER BY position LIMIT batch) AS oldest
      WHERE expires <= moment));
    GET DIAGNOSTICS gone = ROW_COUNT;
    UPDATE ended_log SET entries = entries - gone;
  END IF;
END $$;
