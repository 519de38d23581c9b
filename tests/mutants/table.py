"""The rules, how each is broken, and the tests that must fail then.

`old` stands exactly once in the file. A change to that line makes the table stale, and the run says so: write down the
line as it is now, and break it again.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """`needs_all` says why no test that `make test` runs can notice; empty: one does."""

    rule: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    needs_all: str = ""

    @property
    def command(self) -> str:
        return f"make test-all: {self.needs_all}" if self.needs_all else "make test"

    @property
    def selection(self) -> tuple[str, ...]:
        """The options with which pytest runs no other tests than that command does."""
        return ("--all",) if self.needs_all else ("-m", "not full")


SQLITE = "gatehouse/stores/state/sqlite/engine.py"
SESSION_RULES = "gatehouse/stores/state/refresh_reuse.py"
SESSIONS = "gatehouse/auth/sessions/sessions.py"
TOKENS = "gatehouse/auth/sessions/tokens.py"
JWS = "gatehouse/auth/keys/jws.py"
OAUTH = "gatehouse/auth/oauth"
OAUTH_PAGES = "gatehouse/api/oauth"
PROFILES = "gatehouse/auth/sessions/profile_cache.py"
AUTHENTICATOR = "gatehouse/auth/authentication.py"
LOGIN = "gatehouse/auth/login/login.py"
PASSWORDS = "gatehouse/auth/identity/password_check.py"
PEOPLE = "gatehouse/management/source_people.py"
DIRECTORY = "gatehouse/identity_sources/directory"
CAPTCHA = "gatehouse/auth/login/captcha_check.py"
QR = "gatehouse/auth/login/qr_login.py"
SECOND_FACTOR = "gatehouse/auth/login/second_factor_step.py"
LOCKOUT = "gatehouse/auth/limits/lockout.py"
ACCOUNT_CHANGE = "gatehouse/management/account_changes.py"
USERS = "gatehouse/management/users.py"
APP = "gatehouse/api/app.py"
REQUEST = "gatehouse/api/http/request.py"
PROVIDER = "gatehouse/identity_sources/provider"
COMPANY = "gatehouse/auth/login"
SESSION_ENDS = "gatehouse/auth/oauth/session_ends.py"
BACKCHANNEL = "gatehouse/auth/oauth/backchannel.py"

DIRECTORY_LOGIN_TESTS = "tests/auth/identity/test_directory_login.py"
SESSION_TESTS = "tests/auth/sessions/test_sessions.py"
TOKEN_TESTS = "tests/auth/sessions/test_tokens.py"
CONTRACT_TESTS = "tests/api/test_contract.py"
STORED_SESSION_TESTS = "tests/stores/test_sessions.py"
FACTOR_TESTS = "tests/auth/login/test_second_factor.py"
QR_TESTS = "tests/auth/login/test_qr_login.py"
THROTTLE_TESTS = "tests/auth/limits/test_throttle.py"
ADDRESS_TESTS = "tests/auth/limits/test_one_address.py"
ESCALATION_TESTS = "tests/api/console/test_escalation.py"
RANK_TESTS = "tests/api/console/test_rank.py"
PROOF_TESTS = "tests/auth/sessions/test_proof.py"
OUTBOX_TESTS = "tests/auth/test_outbox.py"
AUDIT_TESTS = "tests/auth/test_audit.py"
PASSWORD_TESTS = "tests/management/test_password_change.py"
NAME_TESTS = "tests/auth/login/test_names_stay_hidden.py"
PROVIDER_TESTS = "tests/identity_sources/provider"
OAUTH_TESTS = "tests/api/oauth"
ATTACK_TESTS = "tests/api/oauth/attacks"
COMPANY_TESTS = "tests/api/company_login"
SESSION_END_TESTS = "tests/auth/oauth/test_session_ends.py"
BACKCHANNEL_TESTS = "tests/auth/oauth/test_backchannel.py"

REFRESH_TOKENS = (
    Mutant(
        "a refresh rotates the refresh token",
        SQLITE,
        "SET generation = generation + 1, rotated",
        "SET generation = generation, rotated",
        (f"{CONTRACT_TESTS}::test_refresh_in_both_variants_rotates",),
    ),
    Mutant(
        "of several refreshes with one token one rotates",
        SQLITE,
        " WHERE id = ?1 AND generation = ?4 AND ends > ?2",
        " WHERE id = ?1 AND generation >= ?4 AND ends > ?2",
        (f"{CONTRACT_TESTS}::test_the_parent_of_the_current_token_is_answered_with_the_current_one",),
    ),
    Mutant(
        "reuse outside the grace ends the session",
        SQLITE,
        "                    _remove(db, [session], reuse.end_record)\n",
        "                    pass\n",
        (f"{SESSION_TESTS}::test_the_grace_window_does_not_slide",),
    ),
    Mutant(
        "the end of a session is stored",
        SQLITE,
        '    db.executemany("DELETE FROM sessions WHERE id = ?", [(session.id,) for session in sessions])\n',
        "",
        (f"{CONTRACT_TESTS}::test_an_older_token_is_theft_and_the_end_is_stored",),
    ),
    Mutant(
        "the grace is for the immediate parent alone",
        SESSION_RULES,
        "generation != session.generation - 1 or",
        "generation > session.generation or",
        (f"{CONTRACT_TESTS}::test_an_older_token_is_theft_and_the_end_is_stored",),
    ),
    Mutant(
        "the grace has an end",
        SESSION_RULES,
        " or now >= session.rotated + grace",
        "",
        (f"{SESSION_TESTS}::test_the_grace_window_does_not_slide",),
    ),
    Mutant(
        "the grace does not slide with each use",
        SQLITE,
        "            for row in db.execute(_READ, (session_id,)).fetchall():\n",
        '            db.execute("UPDATE sessions SET rotated = ? WHERE id = ?", (now, session_id))\n'
        "            for row in db.execute(_READ, (session_id,)).fetchall():\n",
        (f"{SESSION_TESTS}::test_the_grace_window_does_not_slide",),
    ),
    Mutant(
        "a session that ended by time is not refreshed",
        SQLITE,
        " AND generation = ?4 AND ends > ?2 RETURNING",
        " AND generation = ?4 RETURNING",
        (f"{STORED_SESSION_TESTS}::test_a_session_that_has_ended_is_not_rotated",),
    ),
    Mutant(
        "no refresh goes beyond the longest life of a session",
        SQLITE,
        "ends = min(?3, latest)",
        "ends = ?3",
        (f"{STORED_SESSION_TESTS}::test_a_rotation_never_goes_beyond_the_latest_end",),
    ),
    Mutant(
        "a refresh token is ours alone to make",
        TOKENS,
        "            if hmac.compare_digest(_mac(key, body), found[3]):\n",
        "            if len(_mac(key, body)) == len(found[3]):\n",
        (f"{TOKEN_TESTS}::test_nobody_else_makes_a_refresh_token",),
    ),
)

LOGOUT = (
    Mutant(
        "a logout ends access tokens",
        AUTHENTICATOR,
        '            raise AccessTokenInvalid("the session has ended")\n',
        "            epoch = 0\n",
        (f"{TOKEN_TESTS}::test_a_token_that_was_remembered_is_still_looked_up",),
    ),
    Mutant(
        "a logout ends the session and its refresh tokens",
        AUTHENTICATOR,
        "        if not await self.end(claims.session, client):",
        "        if not claims.session:",
        (f"{CONTRACT_TESTS}::test_logout_in_both_variants_ends_all_tokens_of_the_session_at_once",),
    ),
    Mutant(
        "a logout is seen by another worker at once",
        SQLITE,
        "if self._commits is None or self._commits.any_new():",
        "if self._commits is None:",
        (f"{STORED_SESSION_TESTS}::test_an_end_is_seen_by_another_node_at_once",),
    ),
    Mutant(
        "every commit of another process is noticed",
        "gatehouse/stores/state/sqlite/wal_changes.py",
        "        if headers == self._seen:\n",
        "        if headers[:8] == self._seen[:8]:\n",
        (f"{STORED_SESSION_TESTS}::test_every_commit_of_another_process_is_seen_at_once",),
    ),
    Mutant(
        "a change of the account shows on the next request, in every worker",
        PROFILES,
        "entry.epoch == epoch and ",
        "",
        (f"{SESSION_TESTS}::test_roles_and_perms_are_read_anew_and_show_on_the_next_request",),
    ),
    Mutant(
        "an acknowledged write is committed",
        "gatehouse/stores/state/sqlite/writer_thread.py",
        '            connection.execute("COMMIT")\n',
        '            _deliver(jobs, results)\n            connection.execute("COMMIT")\n',
        ("tests/stores/test_writer.py::test_a_disk_that_takes_nothing_is_told_by_a_ping_and_leaves_no_second_error",),
    ),
    Mutant(
        "nobody ends the session of another",
        "gatehouse/management/self_service.py",
        "if not any(session.id == session_id for session in await self._sessions.of_user(principal.claims.user)):",
        "if not session_id:",
        (f"{SESSION_TESTS}::test_nobody_ends_the_session_of_another",),
    ),
)

ACCESS_TOKENS = (
    Mutant(
        "an access token expires",
        TOKENS,
        "if now >= claims.expires:",
        "if now >= claims.expires + 60:",
        (f"{TOKEN_TESTS}::test_expiry_is_to_the_second_and_skew_gives_nothing",),
    ),
    Mutant(
        "the signature of an access token is verified",
        JWS,
        '                "verify_exp": False,\n',
        '                "verify_exp": False,\n                "verify_signature": False,\n',
        (f"{TOKEN_TESTS}::test_every_changed_bit_breaks_it",),
    ),
    Mutant(
        "the verifying key is the one of our own set that `kid` names",
        JWS,
        "        key = await ring.find(kid)\n",
        "        key = await ring.find(kid) or next(iter(ring._public.values()))\n",
        (f"{TOKEN_TESTS}::test_no_other_header",),
    ),
    Mutant(
        "the algorithm comes from the key: `none` is no algorithm",
        JWS,
        '                "verify_iat": False,\n',
        '                "verify_iat": False,\n'
        '                "verify_signature": str(header.get("alg")).lower() != "none",\n',
        (f"{TOKEN_TESTS}::test_no_other_algorithm",),
    ),
    Mutant(
        "the algorithm comes from the key and not from the token",
        JWS,
        "algorithms=[key.algorithm],",
        'algorithms=[header["alg"]],',
        (f"{TOKEN_TESTS}::test_no_other_algorithm",),
    ),
    Mutant(
        "only a token of the type of access tokens is one",
        JWS,
        'if header.get("typ") not in token_types or not isinstance(kid, str):',
        "if not isinstance(kid, str):",
        (f"{TOKEN_TESTS}::test_no_other_header",),
    ),
    Mutant(
        "an access token is no refresh token",
        AUTHENTICATOR,
        "        known = self._refresh.decode(token)\n",
        "        known = self._refresh.decode(token)\n"
        "        if claims := await self._access.verify(token, self._clock()):\n"
        "            known = (claims.session, 1)\n",
        (f"{CONTRACT_TESTS}::test_neither_token_passes_for_the_other",),
    ),
    Mutant(
        "a retired key opens nothing, not even what was verified before",
        TOKENS,
        "            self._verified.clear()\n",
        "",
        ("tests/auth/keys/test_rotation.py::test_a_retired_key_opens_nothing_and_sessions_live_on",),
    ),
    Mutant(
        "verify: only a token of the type of access tokens is one",
        "packages/python/src/gatehouse/verify/verifier.py",
        'header.get("typ") != self._token_type or ',
        "",
        ("tests/verify/test_algorithms.py::test_every_token_of_the_shared_table",),
    ),
    Mutant(
        "verify: a key is good for the algorithm of its kind alone",
        "packages/python/src/gatehouse/verify/jwk.py",
        'return key if jwk.get("alg", key.algorithm) == key.algorithm else None',
        'return key._replace(algorithm=jwk.get("alg", key.algorithm))',
        ("tests/verify/test_algorithms.py::test_a_jwk_is_good_for_the_algorithm_of_its_kind_and_no_other",),
    ),
)

FEED = (
    Mutant(
        "verify: a gap in the feed of ended sessions puts older tokens in doubt",
        "packages/python/src/gatehouse/verify/ended_sessions.py",
        'self._missing_before = max(self._missing_before, float(data["missing_before"]))',
        "pass",
        ("tests/verify/test_ended_sessions.py::test_a_gap_puts_older_tokens_in_doubt_and_newer_ones_not",),
    ),
    Mutant(
        "verify: a feed that is cut fails closed",
        "packages/python/src/gatehouse/verify/ended_sessions.py",
        "        if not self.fresh:\n",
        "        if not self.fresh and not self._ended:\n",
        (
            "tests/verify/test_ended_sessions.py::test_a_feed_that_is_cut_fails_closed_unless_the_caller_chose_otherwise",
        ),
    ),
    Mutant(
        "the service says where its feed of ended sessions has a gap",
        "gatehouse/auth/sessions/ended_sessions_feed.py",
        'return FeedPage(page.entries, f"{feed_id}:{page.position}", self._clock())',
        'return FeedPage(page.entries, f"{feed_id}:{page.position}")',
        ("tests/api/test_ended_sessions.py::test_a_recipient_whose_log_is_lost_gets_a_gap_and_goes_on",),
    ),
    Mutant(
        "the log keeps an ended session as long as any token of it may live",
        SESSIONS,
        "EndRecord(self._clock(), reason, ENDED_KEPT_SECONDS, credential_changed)",
        "EndRecord(self._clock(), reason, 120, credential_changed)",
        ("tests/api/test_ended_sessions.py::test_a_lower_access_ttl_does_not_revive_the_tokens_of_ended_sessions",),
    ),
    Mutant(
        "followers keep an ended session for the longest life in force on any node",
        "gatehouse/auth/sessions/longest_token_life.py",
        "self.seconds, self._since = max(lives), since",
        "self.seconds, self._since = self._access_ttl, since",
        ("tests/api/test_ended_sessions.py::test_what_a_follower_shall_keep_is_the_longest_life_in_force_on_any_node",),
    ),
)

PROOFS_AND_TRACES = (
    Mutant(
        "a required factor ends a session without one on the next request",
        AUTHENTICATOR,
        "        if self._session_policy.requires_some and not",
        "        if False and not",
        (f"{PROOF_TESTS}::test_a_role_that_needs_a_factor_ends_a_session_without_one_on_the_next_request",),
    ),
    Mutant(
        "a required factor holds at a refresh and an exchange",
        AUTHENTICATOR,
        "        if not await self._session_policy.accepts(profile, unpack_methods(session.proof)):",
        "        if False:",
        (f"{PROOF_TESTS}::test_at_a_refresh_as_well",),
    ),
    Mutant(
        "a QR code proves no more than the session that confirmed it",
        "gatehouse/auth/sessions/amr.py",
        'return (*proof.split("+"), Method.QR) if proof else ()',
        'return (*proof.split("+"), Method.CODE, Method.QR)',
        (f"{PROOF_TESTS}::test_a_qr_code_carries_no_further_than_the_session_that_confirms_it",),
    ),
    Mutant(
        "the event of a change is written with it",
        ACCOUNT_CHANGE,
        "            await transaction.record(change.entries)\n",
        "",
        (f"{OUTBOX_TESTS}::test_a_change_while_state_is_full_is_recorded_and_takes_effect_when_it_is_back",),
    ),
    Mutant(
        "what state could not be told is delivered later",
        "gatehouse/auth/outbox.py",
        "        await self._kinds[delivery.kind](delivery)\n        await self._store.remove(delivery)\n",
        "        await self._store.remove(delivery)\n        await self._kinds[delivery.kind](delivery)\n",
        (f"{OUTBOX_TESTS}::test_a_change_while_state_is_full_is_recorded_and_takes_effect_when_it_is_back",),
    ),
    Mutant(
        "a sheet is authorised again when its turn comes",
        "gatehouse/api/console/user_import_and_export.py",
        '            principal = await self._authorize_again(request, "sys:user:import")\n',
        "            principal = _principal\n",
        (
            "tests/api/console/test_user_import_and_export.py::test_whoever_loses_the_right_while_the_sheet_waits_adds_nobody",
        ),
    ),
)

CAPTCHAS = (
    Mutant(
        "a captcha is good for one login",
        SQLITE,
        "(fingerprint, expires))\n            return db.changes() == 1\n",
        "(fingerprint, expires))\n            return True\n",
        (f"{CONTRACT_TESTS}::test_a_wrong_password_uses_up_the_captcha_too",),
    ),
    Mutant(
        "a wrong answer uses the captcha up as well",
        CAPTCHA,
        "        if not await self._state.use_captcha(",
        "        if not is_second_factor_code and not self._challenges.matches(challenge, answer):\n"
        "            return CaptchaWrong()\n"
        "        if not await self._state.use_captcha(",
        (f"{CONTRACT_TESTS}::test_captcha_is_used_up_by_the_first_login_that_names_it",),
    ),
    Mutant(
        "a captcha expires",
        "gatehouse/auth/login/captcha/challenge.py",
        "if not now < expires <= now",
        "if not expires <= now",
        (f"{SESSION_TESTS}::test_a_captcha_expires",),
    ),
)

SECOND_FACTORS = (
    Mutant(
        "who has a second factor must show it",
        SECOND_FACTOR,
        "        if found.totp is None:\n",
        "        if found.totp is None or not given.typed:\n",
        (f"{FACTOR_TESTS}::test_without_a_code_the_message_says_where_to_type_it",),
    ),
    Mutant(
        "the code of an app is accepted once",
        "gatehouse/auth/factors/code_verifier.py",
        'key, None, "used",',
        'key, await self._state.value(key, now), "used",',
        (f"{FACTOR_TESTS}::test_a_code_is_good_once",),
    ),
    Mutant(
        "a recovery code is accepted once",
        "gatehouse/stores/database/totp_and_recovery_codes.py",
        '    recovery_codes.c.digest == bindparam("given"),\n    recovery_codes.c.used.is_(None),\n',
        '    recovery_codes.c.digest == bindparam("given"),\n',
        (f"{FACTOR_TESTS}::test_a_code_is_good_once",),
    ),
    Mutant(
        "a wrong code counts as a failure of the name",
        SECOND_FACTOR,
        "            await self._lockout.record_failure(attempt, LoginFailure.SECOND_FACTOR)\n",
        "",
        (f"{FACTOR_TESTS}::test_wrong_codes_count_as_failures_of_the_name",),
    ),
    Mutant(
        "with an app the password alone changes no factor",
        "gatehouse/auth/factors/factor_change_proof.py",
        "        if stored is not None and stored.confirmed is not None:\n",
        "        if stored is not None and proof.code:\n",
        ("tests/auth/factors/test_passkeys.py::test_with_an_app_the_password_alone_changes_no_factor",),
    ),
    Mutant(
        "with passkeys and no app the password alone changes no factor",
        "gatehouse/auth/factors/factor_change_proof.py",
        "        elif await self._passkeys.of_user(principal.claims.user):\n",
        "        elif not principal.claims.user:\n",
        ("tests/auth/factors/test_passkeys.py::test_with_passkeys_and_no_app_the_password_alone_changes_no_factor",),
    ),
    Mutant(
        "a factor that is switched on during a login is seen",
        LOGIN,
        " if self._second_factor.is_same(checked, current) else LoginFailure.SECOND_FACTOR_MISSING",
        "",
        (f"{FACTOR_TESTS}::test_an_app_that_is_switched_on_during_a_login_is_asked_for",),
    ),
    Mutant(
        "an enrolment takes five codes",
        "gatehouse/auth/factors/app_enrolment.py",
        "            if left <= 0:\n",
        "            if left <= -100:\n",
        ("tests/auth/factors/test_enrolment.py::test_five_wrong_codes_end_an_enrolment",),
    ),
    Mutant(
        "the challenge of a passkey is answered once",
        "gatehouse/auth/factors/passkey_ceremonies.py",
        'if not await self._state.compare_and_set(f"passkey|{ticket.id}", None, "used", expires, self._clock()):',
        "if expires < self._clock():",
        ("tests/auth/factors/test_passkeys.py::test_a_challenge_is_answered_once_and_in_time",),
    ),
    Mutant(
        "a QR ticket opens one session",
        QR,
        "if not await self._swap_status(ticket, _text(confirmed), _text(StoredStatus(QrStatus.LOGGED_IN))):",
        "if confirmed.status is QrStatus.LOGGED_IN:",
        (f"{QR_TESTS}::test_the_whole_way",),
    ),
    Mutant(
        "a QR ticket is good in the browser that asked for it",
        QR,
        "if ticket is None or ticket.content.binding != binding_of(client):\n            self._audit",
        "if ticket is None:\n            self._audit",
        (f"{QR_TESTS}::test_it_is_worth_nothing_to_whoever_else_holds_it",),
    ),
    Mutant(
        "what goes by compare-and-swap happens once",
        SQLITE,
        "            if (row[0] if row else None) != expected:\n",
        "            if row and expected and row[0] != expected:\n",
        ("tests/stores/test_values.py::test_of_many_at_once_one_succeeds",),
    ),
)

LIMITS = (
    Mutant(
        "failed logins are counted and lock the name",
        "gatehouse/stores/state/limit_rules.py",
        "failures = before.failures + 1",
        "failures = before.failures",
        (f"{THROTTLE_TESTS}::test_a_name_must_wait_whether_it_exists_or_not",),
    ),
    Mutant(
        "failed logins at once are each counted",
        LOCKOUT,
        "            await self.raise_if_locked(attempt)\n            raise self._locked(attempt, 1)\n",
        "            return\n",
        (f"{THROTTLE_TESTS}::test_parallel_wrong_guesses_count_as_many_as_they_are",),
    ),
    Mutant(
        "the right guess among many at once is refused as well",
        LOGIN,
        "        # that parallel guesses learn no more than guesses in a row.\n"
        "        await self._lockout.raise_if_locked(attempt)\n",
        "",
        (f"{THROTTLE_TESTS}::test_a_burst_that_holds_the_right_guess_learns_no_more_than_a_row_of_guesses",),
    ),
    Mutant(
        "a success resets the counter of the name",
        LOCKOUT,
        "            self._clear({attempt.key, attempt.key.removesuffix(WITH_CODE)}),\n",
        "            asyncio.sleep(0),\n",
        (f"{THROTTLE_TESTS}::test_success_resets_the_name",),
    ),
    Mutant(
        "a success resets the counter of no other place",
        LOCKOUT,
        "            self._clear({attempt.key, attempt.key.removesuffix(WITH_CODE)}),\n",
        "            self.lift(attempt.name, [address]),\n",
        (f"{THROTTLE_TESTS}::test_an_attacker_elsewhere_does_not_lock_the_owner_out_at_home",),
    ),
    Mutant(
        "failed logins are limited by address",
        LOGIN,
        "            self._throttle.admit_login(client.address, solved=solved),\n",
        "            asyncio.sleep(0),\n",
        (f"{THROTTLE_TESTS}::test_logins_by_address",),
    ),
    Mutant(
        "a failed login counts for its address",
        LOCKOUT,
        "        await self._throttle.record_login_failure(attempt.client.address, solved=attempt.solved)\n",
        "",
        (f"{THROTTLE_TESTS}::test_logins_by_address",),
    ),
    Mutant(
        "one account gives back once, however often it logs in",
        "gatehouse/auth/limits/throttle.py",
        "now + GIVE_BACK_EVERY_SECONDS, now",
        "now, now",
        (f"{ADDRESS_TESTS}::test_one_account_buys_no_guesses",),
    ),
    Mutant(
        "a wrong picture does not count against solved ones",
        "gatehouse/auth/limits/throttle.py",
        "self._by_address(SOLVED if solved else UNSOLVED,",
        "self._by_address(SOLVED,",
        (f"{ADDRESS_TESTS}::test_who_solves_no_captcha_keeps_nobody_out_who_does",),
    ),
    Mutant(
        "codes without a picture lock only further ones",
        LOCKOUT,
        ' + (WITH_CODE if with_code else "")',
        "",
        (f"{FACTOR_TESTS}::test_codes_without_a_picture_lock_only_further_ones",),
    ),
    Mutant(
        "codes without a picture get a share of the hash queue",
        "gatehouse/auth/passwords/hash_pool.py",
        "math.ceil(self.slots * CODE_SHARE)",
        "self.slots",
        (f"{FACTOR_TESTS}::test_who_solves_captchas_finds_the_hash_queue_open",),
    ),
    Mutant(
        "who guesses elsewhere does not lock the owner out",
        LOCKOUT,
        "key = _key(name.key, source if known else ELSEWHERE)",
        "key = _key(name.key, ELSEWHERE)",
        (f"{THROTTLE_TESTS}::test_an_attacker_elsewhere_does_not_lock_the_owner_out_at_home",),
    ),
    Mutant(
        "a password is guessed at its change no faster than at login",
        "gatehouse/auth/factors/current_password_check.py",
        "            await self._lockout.record_failure(attempt, LoginFailure.PASSWORD)\n",
        "",
        (f"{THROTTLE_TESTS}::test_changing_the_password_is_guessed_at_no_faster_than_at_login",),
    ),
    Mutant(
        "a forwarding header is believed from a trusted proxy alone",
        "gatehouse/api/http/client_address.py",
        "    if not is_trusted(peer, trusted):\n        return peer\n",
        "",
        (f"{THROTTLE_TESTS}::test_beside_a_trusted_proxy_strangers_are_still_not_believed",),
    ),
)

DIRECTORIES = (
    Mutant(
        "an empty password reaches no bind",
        f"{DIRECTORY}/ldap_directory.py",
        'if not password or "\\0" in password or not is_encodable(password):',
        "if not is_encodable(password):",
        (f"{DIRECTORY_LOGIN_TESTS}::test_a_wrong_password_is_refused",),
    ),
    Mutant(
        "somebody else with the name of a linked person is somebody else",
        PASSWORDS,
        "if identity is not None and identity.subject != result.person.subject:",
        "if False:",
        (f"{DIRECTORY_LOGIN_TESTS}::test_another_person_with_the_name_of_one_who_left_is_another_person",),
    ),
    Mutant(
        "a directory that is away is no wrong password",
        PASSWORDS,
        "problem=str(problem))\n            raise\n",
        "problem=str(problem))\n            raise NotAdmitted(LoginFailure.PASSWORD) from None\n",
        (f"{DIRECTORY_LOGIN_TESTS}::test_nobody_is_told_a_wrong_password_and_local_users_log_in",),
    ),
    Mutant(
        "a user of a directory that is disabled has no other password",
        "gatehouse/auth/identity/sources.py",
        "any(row.kind == SourceKind.DIRECTORY for row in stored)",
        "any(row.kind == SourceKind.DIRECTORY and row.enabled for row in stored)",
        (f"{DIRECTORY_LOGIN_TESTS}::test_a_disabled_directory_lets_nobody_in_by_another_way",),
    ),
    Mutant(
        "who was disabled by hand is not enabled by a directory",
        PEOPLE,
        "    if identity.gone is not None:",
        "    if True:",
        (f"{DIRECTORY_LOGIN_TESTS}::test_who_was_disabled_here_by_hand_stays_out",),
    ),
    Mutant(
        "roles that were given by hand stay",
        "gatehouse/stores/database/identity_sources.py",
        "decided = {row.role for row in rows if row.source == source}",
        "decided = {row.role for row in rows}",
        (f"{DIRECTORY_LOGIN_TESTS}::test_roles_of_the_directory_are_refreshed_and_those_by_hand_stay",),
    ),
    Mutant(
        "a refresh asks whether the person is still there",
        AUTHENTICATOR,
        "        await self._directory_recheck.check(user_of_session(session_id), client)\n",
        "",
        (f"{DIRECTORY_LOGIN_TESTS}::test_a_refresh_asks_about_a_person_once_in_a_while",),
    ),
    Mutant(
        "logins that wait for a directory leave slots to others",
        PASSWORDS,
        "if self._asking > self._max_asking:",
        "if False:",
        (f"{DIRECTORY_LOGIN_TESTS}::test_a_directory_that_hangs_leaves_local_logins_alone",),
    ),
)

NAMES = (
    Mutant(
        "an unknown name costs one hash",
        PASSWORDS,
        "        stored = (found and",
        "        if found is None:\n            raise NotAdmitted(LoginFailure.PASSWORD)\n        stored = (found and",
        ("tests/auth/passwords/test_hashing.py::test_an_unknown_name_costs_one_hash",),
    ),
    Mutant(
        "a disabled user costs one hash too",
        PASSWORDS,
        "        stored = (found and",
        "        if found and not found.user.enabled:\n            raise NotAdmitted(LoginFailure.PASSWORD)\n"
        "        stored = (found and",
        (f"{NAME_TESTS}::test_a_login_takes_the_same_work_for_every_name",),
    ),
    Mutant(
        "an unknown name is locked as a known one is",
        LOGIN,
        "            await self._lockout.record_failure(attempt, failure or LoginFailure.UNKNOWN_NAME)\n",
        "            if found is not None:\n"
        "                await self._lockout.record_failure(attempt, failure or LoginFailure.UNKNOWN_NAME)\n",
        (f"{NAME_TESTS}::test_limits_and_headers_are_the_same_for_every_name",),
    ),
    Mutant(
        "a disabled user gets the answer of a wrong password",
        PASSWORDS,
        "    failure = _state_of(found) or (None if check.correct else LoginFailure.PASSWORD)",
        "    failure = None if check.correct else _state_of(found) or LoginFailure.PASSWORD",
        (f"{FACTOR_TESTS}::test_a_disabled_user_is_told_nothing",),
    ),
    Mutant(
        "a user who is disabled during the login gets that answer too",
        AUTHENTICATOR,
        'raise CredentialsWrong("disabled while logging in")',
        'raise AccessTokenInvalid("disabled while logging in")',
        (f"{AUDIT_TESTS}::test_a_login_that_ends_because_the_user_was_just_disabled_is_no_login",),
    ),
    Mutant(
        "a failed login is an audit event",
        LOCKOUT,
        "            raise self._locked(attempt, 1)\n        self._audit_failure(attempt, reason)\n",
        "            raise self._locked(attempt, 1)\n",
        (f"{AUDIT_TESTS}::test_failures_say_why_and_name_only_those_who_exist",),
    ),
    Mutant(
        "the end of a session is an audit event",
        SESSIONS,
        "            self._audit_end(session, reason, client, actor)\n        return session\n",
        "            pass\n        return session\n",
        (f"{AUDIT_TESTS}::test_every_end_of_a_session_says_why",),
    ),
)

ACCOUNTS = (
    Mutant(
        "nobody manages or grants what gives more than they hold",
        "gatehouse/management/authority.py",
        "    if missing := missing_perms(actor, role.perms):\n        return Lack(Need.PERMS, missing)\n",
        "",
        (f"{ESCALATION_TESTS}::test_a_department_is_no_way_around_those_who_hold_more",),
    ),
    Mutant(
        "what is granted with a change of a user is checked",
        USERS,
        "        authority.require_user_change(actor, _holder(target), after, parents)\n",
        "",
        (f"{ESCALATION_TESTS}::test_a_manager_cannot_hand_out_what_the_manager_lacks",),
    ),
    Mutant(
        "nobody changes a user who holds more",
        USERS,
        "        authority.require_manage(actor, _holder(target), await transaction.department_parents())\n",
        "",
        (f"{ESCALATION_TESTS}::test_nobody_touches_somebody_who_holds_more",),
    ),
    Mutant(
        "nobody gives a role more than they hold",
        "gatehouse/management/authority.py",
        "    if missing := missing_perms(actor, frozenset().union(*(state.perms for state in states))):\n"
        "        return Lack(Need.PERMS, missing)\n",
        "",
        ("tests/api/console/test_menus.py::test_nobody_assigns_a_button_whose_perm_they_lack",),
    ),
    Mutant(
        "nobody takes a role from its holders who could not grant it",
        "gatehouse/management/authority.py",
        "(lack_to_manage(actor, loser, parents) for loser in losers)",
        "()",
        (f"{RANK_TESTS}::test_a_role_is_no_way_around_to_its_holders",),
    ),
    Mutant(
        "a button carries no perm that who made it lacks",
        "gatehouse/management/menus.py",
        '            authority.require_perms(actor, {before.perm, after.perm} - {""})\n',
        "",
        (f"{RANK_TESTS}::test_a_perm_cannot_be_planted_in_what_a_role_already_shows",),
    ),
    Mutant(
        "nobody deletes a department beyond their reach",
        "gatehouse/management/departments.py",
        "            authority.require_department_change(actor, departments, await transaction.department_parents())\n",
        "",
        (f"{RANK_TESTS}::test_departments_are_moved_within_reach_alone",),
    ),
    Mutant(
        "nobody adds a button whose perm they lack",
        "gatehouse/management/menus.py",
        '            authority.require_perms(actor, {new.perm} - {""})\n',
        "",
        (f"{RANK_TESTS}::test_a_perm_cannot_be_planted_in_what_a_role_already_shows",),
    ),
    Mutant(
        "nobody changes their own department",
        "gatehouse/management/authority.py",
        "        forbid_own_account(actor, [before.user])\n",
        "",
        (f"{RANK_TESTS}::test_nobody_changes_their_own_department_or_roles",),
    ),
    Mutant(
        "the last administrator stays",
        "gatehouse/stores/database/account_transactions.py",
        "if before and not await self._has_administrator(db):",
        "if not before and not await self._has_administrator(db):",
        (f"{ESCALATION_TESTS}::test_the_last_administrator_stays",),
    ),
    Mutant(
        "a disabled user gets no refresh",
        PROFILES,
        "if profile is None or not profile.user.enabled:",
        "if profile is None:",
        (f"{AUDIT_TESTS}::test_a_refresh_by_a_disabled_user_is_a_failure",),
    ),
    Mutant(
        "disabling a user ends the sessions",
        USERS,
        "                change.end_sessions(user, SessionEndReason.DISABLED)\n",
        "                pass\n",
        (f"{AUDIT_TESTS}::test_disabling_and_deleting_are_told_apart",),
    ),
    Mutant(
        "a new password ends the other sessions, before it is written too",
        USERS,
        "        await self._changes.end_sessions_before(actor, user, except_session=except_session)\n",
        "",
        (f"{PASSWORD_TESTS}::test_a_store_that_fails_right_after_the_write_leaves_no_other_session",),
    ),
    Mutant(
        "a new password ends the sessions that opened meanwhile",
        USERS,
        "    change.end_sessions(user, SessionEndReason.PASSWORD, except_session=except_session)\n",
        "",
        (f"{PASSWORD_TESTS}::test_a_login_just_before_the_new_password_is_written_ends_with_the_others",),
    ),
    Mutant(
        "a login with a password that changes meanwhile leaves no session",
        LOGIN,
        "        await self._recheck(attempt, found, password, session)\n",
        "",
        (f"{PASSWORD_TESTS}::test_a_login_whose_password_changes_meanwhile_leaves_no_session",),
    ),
    Mutant(
        "a new password leaves no session but the one that set it",
        SQLITE,
        "if session.id != except_session]",
        "if session.id == except_session]",
        (f"{SESSION_TESTS}::test_changing_the_password_needs_the_current_one_and_ends_the_other_sessions",),
    ),
    Mutant(
        "a change of the password takes the current one",
        "gatehouse/auth/factors/current_password_check.py",
        "if found is None or not await self._passwords.is_right(found, given):",
        "if found is None:",
        (f"{SESSION_TESTS}::test_changing_the_password_needs_the_current_one_and_ends_the_other_sessions",),
    ),
)

HTTP = (
    Mutant(
        "each operation checks the perm that it needs",
        APP,
        "        if route.perms:\n            _check_perm(principal, route)\n",
        "",
        ("tests/api/console/test_perms.py::test_refused_without_the_perm",),
    ),
    Mutant(
        "a caller is checked again when the body has arrived",
        APP,
        "                await request.body(route.body_limit)\n"
        "                principal = await self._authorize(request, route)\n",
        "                await request.body(route.body_limit)\n",
        ("tests/api/test_late_bodies.py::test_a_caller_who_lost_the_right_meanwhile_is_refused",),
    ),
    Mutant(
        "unknown paths under /api/v1 are answered in the envelope",
        APP,
        "        if path.startswith(self._api_prefix) and",
        "        if self._routes.exact(path) and",
        (f"{CONTRACT_TESTS}::test_the_envelope_holds_on_unknown_paths",),
    ),
    Mutant(
        "a body is 64 KiB at most, by its length",
        REQUEST,
        "length.isdecimal() and int(length) <= limit and not chunked:",
        "length.isdecimal() and not chunked:",
        ("tests/api/test_hostile_input.py::test_bodies",),
    ),
    Mutant(
        "a body is 64 KiB at most, as it arrives",
        REQUEST,
        "        if size > limit:\n",
        "        if size > DRAIN_LIMIT:\n",
        ("tests/api/test_hostile_input.py::test_bodies",),
    ),
    Mutant(
        "two bearers are none",
        REQUEST,
        "        if len(values) != 1:\n",
        "        if not values:\n",
        ("tests/api/test_hostile_input.py::test_two_authorization_headers_are_none",),
    ),
    Mutant(
        "other origins are not answered",
        "gatehouse/api/http/cors.py",
        "return self._any or origin in self._origins",
        "return True",
        ("tests/server/test_server.py::test_configured_origins_are_answered_and_others_are_not",),
    ),
)

SECRETS = (
    Mutant(
        "a short secret is refused",
        "gatehouse/settings/master_secret.py",
        "MIN_LENGTH = 32",
        "MIN_LENGTH = 4",
        ("tests/auth/keys/test_rotation.py::test_weak_secrets_are_refused_wherever_they_stand",),
    ),
    Mutant(
        "a secret that can be guessed is refused",
        "gatehouse/settings/master_secret.py",
        "if len(set(text)) < MIN_DISTINCT or any(sample in text.lower() for sample in _SAMPLES):",
        "if len(set(text)) < MIN_DISTINCT:",
        ("tests/management/test_bootstrap.py::test_weak_secrets_are_refused",),
    ),
    Mutant(
        "the secret file is for its owner alone",
        "gatehouse/settings/master_secret.py",
        "0o600",
        "0o644",
        ("tests/management/test_bootstrap.py::test_everything_in_the_folder_is_for_the_owner_only",),
    ),
    Mutant(
        "the switches for tests work on this machine alone",
        "gatehouse/settings/cross_checks.py",
        "if not settings.listens_on_loopback or not settings.known_on_loopback:",
        "if not settings.listens_on_loopback:",
        ("tests/test_settings.py::test_test_switches_are_refused_behind_a_proxy_on_the_same_host",),
    ),
    Mutant(
        "the query string of a refresh reaches no log",
        APP,
        "        principal: Principal | None = None\n",
        "        principal: Principal | None = None\n"
        '        log.debug("asked", path=request.path, query=request._scope.query_string)\n',
        ("tests/auth/keys/test_secrets.py::test_logs_audit_and_metrics_hold_no_secret",),
    ),
)

PROVIDERS = (
    Mutant(
        "a callback belongs to the login that began here",
        f"{PROVIDER}/authorization.py",
        "    if not request.state or not compare_digest(",
        "    if False and not compare_digest(",
        (f"{PROVIDER_TESTS}/test_login.py::test_a_callback_that_is_not_ours_is_refused",),
    ),
    Mutant(
        "a callback of another provider is refused",
        f"{PROVIDER}/openid_provider.py",
        "            self._check_issuer(query, metadata)\n",
        "",
        (f"{PROVIDER_TESTS}/test_login.py::test_iss_is_required_where_the_provider_says_that_it_sends_it",),
    ),
    Mutant(
        "an ID token is for one login",
        f"{PROVIDER}/id_token.py",
        "    if not nonce or not compare_digest(",
        "    if not nonce and not compare_digest(",
        (f"{PROVIDER_TESTS}/test_login.py::test_somebody_elses_id_token_is_refused_by_its_nonce",),
    ),
    Mutant(
        "a token of a provider is for us",
        f"{PROVIDER}/signed_tokens.py",
        "    _check_audience(claims, recipient.client_id)\n",
        "",
        (f"{PROVIDER_TESTS}/test_tokens.py::test_an_id_token_that_breaks_a_rule_is_refused",),
    ),
    Mutant(
        "the kind of a provider's key decides about the algorithm",
        "gatehouse/common/jwk.py",
        '    ("EC", "P-256"): ("ES256",),\n',
        '    ("EC", "P-256"): ("ES256",),\n    ("oct", None): ("HS256",),\n',
        (f"{PROVIDER_TESTS}/test_outages.py::test_a_description_that_must_not_be_used",),
    ),
    Mutant(
        "a provider speaks for its own issuer alone",
        f"{PROVIDER}/discovery.py",
        "    if metadata.issuer != issuer:",
        "    if not metadata.issuer:",
        (f"{PROVIDER_TESTS}/test_outages.py::test_the_issuer_is_compared_exactly",),
    ),
    Mutant(
        "userinfo speaks of the person of the ID token",
        f"{PROVIDER}/openid_provider.py",
        '        if answer.body.get("sub") != subject:',
        '        if not answer.body.get("sub"):',
        (f"{PROVIDER_TESTS}/test_login.py::test_userinfo_adds_claims_and_must_speak_of_the_same_person",),
    ),
    Mutant(
        "an ID token logs nobody out",
        f"{PROVIDER}/logout_token.py",
        "    if not isinstance(events, dict) or not isinstance(events.get(EVENT), dict):",
        "    if False:",
        (f"{PROVIDER_TESTS}/test_tokens.py::test_an_id_token_logs_nobody_out_and_a_logout_token_logs_nobody_in",),
    ),
    Mutant(
        "invented key ids make us fetch once in a while",
        f"{PROVIDER}/fetched.py",
        "            allowed = self._paid_until - self._clock() <= (REFETCH_BURST - 1) * REFETCH_PAUSE",
        "            allowed = True",
        (f"{PROVIDER_TESTS}/test_tokens.py::test_new_keys_are_fetched_when_a_token_names_one_but_not_for_every_token",),
    ),
)

COMPANY_LOGINS = (
    Mutant(
        "an answer for one provider is not taken by another",
        f"{COMPANY}/company_login.py",
        "        if ticket is None or ticket.content.source != source.id:",
        "        if ticket is None:",
        (f"{COMPANY_TESTS}/test_attacks.py::test_an_answer_of_one_provider_is_not_taken_for_that_of_another",),
    ),
    Mutant(
        "an answer of a provider is taken once",
        f"{COMPANY}/company_login.py",
        'compare_and_set(f"callback|{ticket.id}", None, "used", until, self._clock())',
        'compare_and_set(f"callback|{ticket.text}", None, "used", 0, self._clock())',
        (f"{COMPANY_TESTS}/test_attacks.py::test_an_answer_is_taken_once",),
    ),
    Mutant(
        "a login with a provider is no open redirect",
        f"{COMPANY}/return_addresses.py",
        " not in self._origins:",
        ' in {"", "://"}:',
        (f"{COMPANY_TESTS}/test_attacks.py::test_nobody_is_sent_to_another_site",),
    ),
    Mutant(
        "a ticket belongs to the browser that came back",
        f"{COMPANY}/company_tickets.py",
        "        if ticket is None or ticket.content.binding != binding_of(client):",
        "        if ticket is None:",
        (f"{COMPANY_TESTS}/test_attacks.py::test_a_stolen_ticket_is_no_use",),
    ),
    Mutant(
        "of many exchanges one gets a session",
        f"{COMPANY}/company_tickets.py",
        "        if not await self._swap(ticket, value, TAKEN):",
        "        if not await self._swap(ticket, value, value):",
        (f"{COMPANY_TESTS}/test_attacks.py::test_of_many_exchanges_at_once_one_gets_a_session",),
    ),
    Mutant(
        "a user who is disabled stays out of providers' logins",
        f"{COMPANY}/company_login.py",
        "        return found if found is not None and found.user.enabled else None",
        "        return found",
        (f"{COMPANY_TESTS}/test_attacks.py::test_a_disabled_user_stays_out",),
    ),
    Mutant(
        "an identity that was unlinked opens nothing",
        f"{COMPANY}/company_login.py",
        "            if identity is None or identity.user != arrival.user:",
        "            if arrival.user < 0:",
        (f"{COMPANY_TESTS}/test_attacks.py::test_a_ticket_is_void_once_its_identity_or_source_is",),
    ),
    Mutant(
        "our second factor is asked for after a provider",
        f"{COMPANY}/company_login.py",
        "        if not vouched and await self._second_factor.is_needed(found):",
        "        if not vouched and found.user.id < 0:",
        (f"{COMPANY_TESTS}/test_second_factor.py::test_whoever_has_an_app_is_asked_for_its_code",),
    ),
    Mutant(
        "a provider's factor counts by a setting alone",
        "gatehouse/auth/identity/provider_methods.py",
        "    if not config.trust_factors:",
        "    if not config.client_id:",
        (f"{COMPANY_TESTS}/test_second_factor.py::test_a_factor_that_the_provider_vouches_for_counts_by_a_setting",),
    ),
    Mutant(
        "an identity is linked by a session that lives",
        f"{COMPANY}/company_login.py",
        "        if await self._sessions.live_epoch(link.session, link.user, self._clock()) is None:",
        "        if not link.session:",
        (f"{COMPANY_TESTS}/test_links.py::test_the_session_that_asked_must_still_live",),
    ),
    Mutant(
        "linking needs a fresh proof",
        "gatehouse/api/own_account/own_identities.py",
        "        await self._proof.require(principal, proof, request.client)\n        source = ",
        "        source = ",
        (f"{COMPANY_TESTS}/test_links.py::test_an_open_session_alone_links_nothing",),
    ),
    Mutant(
        "a logout token is good once",
        "gatehouse/auth/identity/provider_logout.py",
        "        if await self._state.has_flag(used, now):",
        "        if not used:",
        (f"{COMPANY_TESTS}/test_logout.py::test_a_logout_token_is_good_once",),
    ),
    Mutant(
        "a logout at the provider ends a login under way",
        "gatehouse/auth/identity/provider_logout.py",
        "        return any(float(value) >= since for value in values if value)",
        "        return False",
        (f"{COMPANY_TESTS}/test_logout.py::test_a_logout_while_a_login_is_under_way_ends_that_too",),
    ),
)

SESSION_ENDINGS = (
    Mutant(
        "a session that has expired is not extended",
        SQLITE,
        'f" WHERE id = ?1 AND ends > ?2 RETURNING {_WITH_EPOCH}, day"',
        'f" WHERE id = ?1 AND ?2 RETURNING {_WITH_EPOCH}, day"',
        (f"{STORED_SESSION_TESTS}::test_a_session_that_has_ended_is_not_touched",),
    ),
    Mutant(
        "a session is never extended beyond its absolute end",
        SQLITE,
        "SET ends = max(ends, min(?3, latest))",
        "SET ends = max(ends, ?3)",
        (f"{STORED_SESSION_TESTS}::test_a_touch_goes_neither_beyond_the_latest_end_nor_back",),
    ),
    Mutant(
        "applications are told of the end of a session",
        "gatehouse/stores/database/grants.py",
        "                await outbox.add(db, notice)\n",
        "                pass\n",
        (f"{SESSION_END_TESTS}::test_each_application_hears_once_of_a_session_that_ends",),
    ),
    Mutant(
        "an application is told once, however many grants it has",
        "gatehouse/stores/database/grants.py",
        "told = {(row.client, row.user) for row in await db.execute(ended)}",
        "told = [(row.client, row.user) for row in await db.execute(ended)]",
        (f"{SESSION_END_TESTS}::test_each_application_hears_once_of_a_session_that_ends",),
    ),
    Mutant(
        "whoever ends all other sessions stays",
        SESSION_ENDS,
        "        if reason not in OF_ONE_SESSION:\n",
        "        if True:\n",
        (f"{SESSION_END_TESTS}::test_whoever_ends_all_other_sessions_stays",),
    ),
    Mutant(
        "entries of the log that were missed are made up for",
        SESSION_ENDS,
        "            if page.missing_before is not None:\n",
        "            if False:\n",
        (f"{SESSION_END_TESTS}::test_entries_that_were_missed_are_made_up_for",),
    ),
    Mutant(
        "a logout token that is sent again has the same jti",
        BACKCHANNEL,
        '"jti": notice.jti,',
        '"jti": secrets.token_urlsafe(16),',
        (f"{BACKCHANNEL_TESTS}::test_what_may_pass_is_tried_again_with_the_same_jti_and_a_fresh_time",),
    ),
    Mutant(
        "one application that does not answer holds up nobody else",
        "gatehouse/auth/outbox.py",
        "return await self._store.claim(now, now + LEASE_SECONDS, busy)",
        "return await self._store.claim(now, now + LEASE_SECONDS)",
        (f"{BACKCHANNEL_TESTS}::test_one_that_does_not_answer_holds_up_nobody_else",),
    ),
    Mutant(
        "what is under way when the service stops comes to its end",
        "gatehouse/auth/outbox.py",
        "            await asyncio.wait(self._running, timeout=CLOSE_SECONDS)\n",
        "            pass\n",
        (f"{BACKCHANNEL_TESTS}::test_a_stop_lets_what_is_under_way_come_to_its_end",),
    ),
)

APPLICATIONS = (
    Mutant(
        "a token that names an application opens nothing of our API",
        TOKENS,
        "        if claims is None or not claims.keys().isdisjoint(APPLICATION_CLAIMS):",
        "        if claims is None:",
        (f"{OAUTH_TESTS}/test_token_confusion.py::test_not_even_one_with_our_audience",),
    ),
    Mutant(
        "refresh tokens of applications have a key of their own",
        "gatehouse/composition/token_parts.py",
        'APPLICATIONS = "refresh tokens of applications"',
        'APPLICATIONS = "refresh tokens"',
        (f"{OAUTH_TESTS}/test_tokens.py::test_refresh_tokens_of_both_kinds_are_not_taken_for_each_other",),
    ),
    Mutant(
        "a code is for one application",
        f"{OAUTH}/token_exchange.py",
        "    if content.client != client.id:",
        "    if content.client < 0:",
        (f"{OAUTH_TESTS}/test_tokens.py::test_a_code_of_another_application_is_refused_and_not_used_up",),
    ),
    Mutant(
        "a code goes back where it was asked for",
        f"{OAUTH}/token_exchange.py",
        "    if redirect_uri != content.redirect_uri and (redirect_uri or not content.challenge):",
        "    if not content.redirect_uri:",
        (f"{OAUTH_TESTS}/test_tokens.py::test_a_code_wants_what_it_was_made_with",),
    ),
    Mutant(
        "a verifier without a challenge is refused, and the other way round",
        f"{OAUTH}/token_exchange.py",
        "    if bool(verifier) != bool(content.challenge):",
        "    if content.client < 0:",
        (f"{OAUTH_TESTS}/test_tokens.py::test_a_code_wants_what_it_was_made_with",),
    ),
    Mutant(
        "the verifier fits the challenge",
        f"{OAUTH}/token_exchange.py",
        "(_VERIFIER.fullmatch(verifier) and hmac.compare_digest(_s256(verifier), content.challenge))",
        "_VERIFIER.fullmatch(verifier)",
        (f"{OAUTH_TESTS}/test_tokens.py::test_a_code_wants_what_it_was_made_with",),
    ),
    Mutant(
        "a code is used once",
        f"{OAUTH}/authorization_codes.py",
        "return await self._state.compare_and_set(_key(ticket), None, ticket.content.grant, _until(ticket), now)",
        "return bool(ticket.id)",
        (f"{OAUTH_TESTS}/test_tokens.py::test_a_code_that_comes_twice_ends_what_it_gave",),
    ),
    Mutant(
        "a code that comes twice ends what it gave",
        f"{OAUTH}/token_exchange.py",
        "            if await self._codes.mark_reused(ticket):",
        "            if not ticket.id:",
        (f"{OAUTH_TESTS}/test_tokens.py::test_a_code_that_comes_twice_ends_what_it_gave",),
    ),
    Mutant(
        "the first who used a code looks whether it came again",
        f"{OAUTH}/token_exchange.py",
        "        if await self._codes.was_reused(ticket):",
        "        if not ticket.id:",
        (f"{OAUTH_TESTS}/test_races.py::test_a_code_that_comes_again_in_between_leaves_nothing",),
    ),
    Mutant(
        "a session that ends while a grant is opened takes it along",
        f"{OAUTH}/grants.py",
        "        if await self._sessions.live_epoch(parent.id, parent.user, self._clock()) is None:",
        "        if not parent.id:",
        (f"{OAUTH_TESTS}/test_races.py::test_a_session_that_ends_meanwhile_leaves_no_token",),
    ),
    Mutant(
        "nothing that was granted is of use without its session",
        f"{OAUTH}/grants.py",
        "        return await self._sessions.live_epoch(grant.session, grant.user, now)",
        "        return 0",
        (f"{OAUTH_TESTS}/test_tokens.py::test_a_logout_ends_everything_at_once",),
    ),
    Mutant(
        "a reused refresh token of an application ends the session",
        f"{OAUTH}/grants.py",
        "            if refusal.reason is RefreshFailure.REUSE:",
        "            if refusal.reason is RefreshFailure.DISABLED:",
        (f"{OAUTH_TESTS}/test_tokens.py::test_a_reused_refresh_token_ends_the_session_and_all_that_hangs_on_it",),
    ),
    Mutant(
        "a refresh token is of one application",
        f"{OAUTH}/grants.py",
        "        return stored if stored is not None and stored.client == client else None",
        "        return stored",
        (f"{OAUTH_TESTS}/test_tokens.py::test_a_refresh_token_is_of_its_application_alone",),
    ),
    Mutant(
        "who may use an application is asked at every refresh",
        f"{OAUTH}/token_exchange.py",
        "        if not client.admits(profile.roles):",
        "        if not client.id:",
        (f"{OAUTH_TESTS}/test_tokens.py::test_who_may_not_any_more_gets_nothing",),
    ),
    Mutant(
        "an application authenticates as it is registered",
        f"{OAUTH}/client_authentication.py",
        "        if credentials.method is not client.config.auth:",
        "        if not client.id:",
        (f"{OAUTH_TESTS}/test_client_authentication.py::test_each_uses_the_kind_that_it_is_registered_with",),
    ),
    Mutant(
        "a replaced secret of an application expires",
        f"{OAUTH}/client_authentication.py",
        "if each.expires is None or now < each.expires]",
        "if each.expires is None or now]",
        (f"{OAUTH_TESTS}/test_client_authentication.py::test_two_secrets_are_valid_while_one_replaces_the_other",),
    ),
    Mutant(
        "an assertion is used once",
        f"{OAUTH}/client_authentication.py",
        "        if not await self._state.compare_and_set(used, None, ",
        "        if not used and not await self._state.compare_and_set(used, None, ",
        (f"{OAUTH_TESTS}/test_client_authentication.py::test_an_assertion_is_good_once",),
    ),
)

ATTACKS = (
    Mutant(
        "a redirect address is registered character by character",
        f"{OAUTH}/redirect_uris.py",
        "    if uri in config.redirect_uris:",
        "    if any(uri.startswith(each) for each in config.redirect_uris):",
        (f"{ATTACK_TESTS}/test_redirects.py::test_an_address_that_only_looks_registered_gets_nothing",),
    ),
    Mutant(
        "an application with a secret has no free port",
        f"{OAUTH}/redirect_uris.py",
        "    if config.auth is not ClientAuth.NONE or not _LOOPBACK.match(uri):",
        "    if not _LOOPBACK.match(uri):",
        (f"{ATTACK_TESTS}/test_redirects.py::test_an_application_with_a_secret_has_no_free_port",),
    ),
    Mutant(
        "an answer to an application says who it is from",
        f"{OAUTH_PAGES}/answers.py",
        '{"state": to.state, "iss": self._issuer}',
        '{"state": to.state}',
        (f"{ATTACK_TESTS}/test_redirects.py::test_every_answer_says_who_it_is_from",),
    ),
    Mutant(
        "a login leads on by a 303",
        f"{OAUTH_PAGES}/browser_logins.py",
        "self._cookies.set_session(cookie), status=303)",
        "self._cookies.set_session(cookie), status=307)",
        (f"{ATTACK_TESTS}/test_redirects.py::test_credentials_are_not_posted_on",),
    ),
    Mutant(
        "after a logout only to an address that is registered for it",
        f"{OAUTH}/logout_requests.py",
        "        if client is None or uri not in client.config.post_logout_redirect_uris:",
        "        if client is None:",
        (f"{ATTACK_TESTS}/test_redirects.py::test_after_a_logout_only_to_an_address_that_is_registered_for_it",),
    ),
    Mutant(
        "a console's address is a configured one",
        f"{OAUTH_PAGES}/flows.py",
        "            to = self._addresses.check(to)",
        '            self._addresses.check("")',
        (f"{ATTACK_TESTS}/test_redirects.py::test_no_address_from_outside_is_gone_to",),
    ),
    Mutant(
        "a parameter in the query comes once",
        REQUEST,
        'raise FieldInvalid("query", "a name comes twice")',
        "pairs = [*pairs]",
        (f"{ATTACK_TESTS}/test_redirects.py::test_a_parameter_that_comes_twice_is_not_chosen_from",),
    ),
    Mutant(
        "a field of an application's form comes once",
        REQUEST,
        'raise FieldInvalid("body", "a name comes twice")',
        "pairs = [*pairs]",
        (f"{ATTACK_TESTS}/test_injected_text.py::test_a_field_that_comes_twice_is_not_chosen_from",),
    ),
    Mutant(
        "PKCE is S256 alone",
        f"{OAUTH}/authorization_requests.py",
        '(method != "S256" or not',
        '(method not in {"S256", "plain", ""} or not',
        (f"{ATTACK_TESTS}/test_codes.py::test_no_other_method_than_s256",),
    ),
    Mutant(
        "who must use PKCE cannot do without",
        f"{OAUTH}/authorization_requests.py",
        "    if pkce is Pkce.REQUIRED:",
        "    if pkce is Pkce.OPTIONAL:",
        (f"{ATTACK_TESTS}/test_codes.py::test_who_must_use_pkce_cannot_do_without",),
    ),
    Mutant(
        "a sealed request is of one application",
        f"{OAUTH}/authorization_requests.py",
        "        if request is None or request.client != client.id:",
        "        if request is None:",
        (f"{ATTACK_TESTS}/test_request_uris.py::test_it_belongs_to_the_application_that_pushed_it",),
    ),
    Mutant(
        "a sealed request is checked again",
        f"{OAUTH}/authorization_requests.py",
        "        if not is_registered(request.redirect_uri, client.config):",
        "        if not request.redirect_uri:",
        (f"{ATTACK_TESTS}/test_request_uris.py::test_it_is_checked_again_when_it_is_opened",),
    ),
    Mutant(
        "a pushed request gives one code",
        f"{OAUTH}/authorization.py",
        "        if not await self._pushed.use(request):",
        "        if not request.client:",
        (f"{ATTACK_TESTS}/test_request_uris.py::test_it_gives_one_code",),
    ),
    Mutant(
        "a pushed request must be opened soon",
        f"{OAUTH}/authorization_requests.py",
        '"authorization requests", AuthorizationRequest, PUSHED_SECONDS, clock)',
        '"authorization requests", AuthorizationRequest, SIGN_IN_SECONDS, clock)',
        (f"{ATTACK_TESTS}/test_request_uris.py::test_it_must_be_opened_soon",),
    ),
    Mutant(
        "no form of another browser logs anybody in",
        f"{OAUTH_PAGES}/sign_in.py",
        "        if not self._is_ours(request, form):\n            stale",
        "        if not form:\n            stale",
        (f"{ATTACK_TESTS}/test_forged_forms.py::test_the_form_of_an_attacker_logs_nobody_in",),
    ),
    Mutant(
        "a form token is made from a cookie of the browser",
        f"{OAUTH}/form_tokens.py",
        'f"{browser}\\n{purpose}"',
        "purpose",
        (f"{ATTACK_TESTS}/test_forged_forms.py::test_the_form_of_an_attacker_logs_nobody_in",),
    ),
    Mutant(
        "a consent is the person's own",
        f"{OAUTH_PAGES}/authorize.py",
        '        if who is None or not self._form_tokens.fits(form.get("form", ""), browser, _consent_of(who)):',
        "        if who is None or not browser:",
        (f"{ATTACK_TESTS}/test_forged_forms.py::test_nobody_consents_by_the_form_of_another_site",),
    ),
    Mutant(
        "more scopes are consented to anew",
        f"{OAUTH}/authorization_decision.py",
        "    return not set(scopes_to_allow(request)) <= set(consent.scopes)",
        "    return not set(scopes_to_allow(request)).intersection(consent.scopes)",
        (f"{ATTACK_TESTS}/test_forged_forms.py::test_a_consent_is_for_what_it_showed",),
    ),
    Mutant(
        "another site logs nobody out",
        f"{OAUTH_PAGES}/logout.py",
        "        if who is None or who.session.id == asked.session:",
        "        if who is None or who.session.id:",
        (f"{ATTACK_TESTS}/test_forged_forms.py::test_another_site_logs_nobody_out",),
    ),
    Mutant(
        "a logout is confirmed by our own form",
        f"{OAUTH_PAGES}/logout.py",
        "self.parts.cookies.browser(request), _logout_of(who)):",
        "self.parts.cookies.browser(request), _logout_of(who)) and not form:",
        (f"{ATTACK_TESTS}/test_forged_forms.py::test_another_site_logs_nobody_out",),
    ),
    Mutant(
        "no page shows in a frame",
        "gatehouse/api/pages/file_response.py",
        "frame-ancestors 'none'; ",
        "",
        (f"{ATTACK_TESTS}/test_forged_forms.py::test_no_page_shows_in_a_frame",),
    ),
    Mutant(
        "a login makes older cookies void",
        f"{OAUTH}/browser_sessions.py",
        "session if session is not None and session.opened == ticket.content.opened else None",
        "session",
        (f"{ATTACK_TESTS}/test_forged_forms.py::test_an_own_session_is_not_shared_by_a_cookie_from_before",),
    ),
    Mutant(
        "a planted session ends with the login",
        f"{OAUTH}/browser_sessions.py",
        "        if before is not None and before.id != session.id:",
        "        if before is not None and not before.id:",
        (f"{ATTACK_TESTS}/test_forged_forms.py::test_a_session_that_was_planted_is_not_the_victims",),
    ),
    Mutant(
        "cookies of our pages are of this host alone",
        "gatehouse/api/http/browser_cookies.py",
        'prefix = "__Host-" if self._secure else ""',
        'prefix = ""',
        (f"{ATTACK_TESTS}/test_forged_forms.py::test_a_cookie_without_the_prefix_is_not_read",),
    ),
    Mutant(
        "an assertion is for nobody else",
        f"{OAUTH}/client_authentication.py",
        "bool(named) and ours == named",
        "bool(ours)",
        (f"{ATTACK_TESTS}/test_client_assertions.py::test_an_assertion_for_somebody_else_is_refused",),
    ),
    Mutant(
        "an assertion is remembered as long as it could be used",
        f"{OAUTH}/client_authentication.py",
        "expires + 2 * CLOCK_SKEW_SECONDS, now",
        "now + 60, now",
        (f"{ATTACK_TESTS}/test_client_assertions.py::test_it_is_remembered_as_long_as_it_could_be_used",),
    ),
    Mutant(
        "an application shows one kind of proof",
        f"{OAUTH}/client_authentication.py",
        "    if len(brought) > 1:",
        "    if len(brought) > 2:",
        (f"{ATTACK_TESTS}/test_client_assertions.py::test_two_kinds_at_once_are_refused",),
    ),
    Mutant(
        "a hint is an ID token",
        f"{OAUTH}/id_tokens.py",
        "read_own_jwt(self._ring, token, (TOKEN_TYPE,), self._issuer,",
        'read_own_jwt(self._ring, token, (TOKEN_TYPE, "logout+jwt"), self._issuer,',
        (f"{ATTACK_TESTS}/test_substituted_tokens.py::test_what_is_no_id_token_of_ours_is_no_hint",),
    ),
    Mutant(
        "who is asked for by a hint is the one who gets a code",
        f"{OAUTH}/authorization_decision.py",
        "    if request.subject and request.subject != str(person.session.user):",
        '    if request.subject == "":',
        (f"{ATTACK_TESTS}/test_substituted_tokens.py::test_a_hint_of_another_person_gives_no_code",),
    ),
    Mutant(
        "an essential acr is met or no code is given",
        f"{OAUTH}/authorization_decision.py",
        "    if request.required_acr is not None and _acr(person) not in request.required_acr:",
        "    if request.required_acr == ():",
        ("tests/api/oauth/test_authorize.py::test_an_acr_that_is_essential_is_met_or_no_code_is_given",),
    ),
    Mutant(
        "an application that was switched off meanwhile is granted nothing",
        "gatehouse/stores/database/grants.py",
        "where(oauth_clients.c.id == grant.client, oauth_clients.c.enabled)",
        "where(oauth_clients.c.id == grant.client)",
        ("tests/api/oauth/test_races.py::test_an_application_that_ends_meanwhile_gets_no_token",),
    ),
    Mutant(
        "who has left an application is not brought back by a code",
        "gatehouse/stores/database/grants.py",
        "return [client, consent] if needs_consent else [client]",
        "return [client]",
        ("tests/api/oauth/test_races.py::test_a_code_is_worth_nothing_once_its_user_has_left_the_application",),
    ),
    Mutant(
        "a change of an application keeps what another has changed",
        "gatehouse/management/oauth_clients.py",
        "    if before is UNSET:",
        "    if before is not None:",
        ("tests/api/console/test_applications.py::test_a_change_takes_nothing_back_that_another_makes_meanwhile",),
    ),
    Mutant(
        "a code gives no scopes that were taken back",
        f"{OAUTH}/token_exchange.py",
        "        scopes = client.still_allowed(content.scopes)",
        "        scopes = content.scopes",
        (f"{ATTACK_TESTS}/test_substituted_tokens.py::test_and_from_a_login_that_is_under_way",),
    ),
    Mutant(
        "a refresh gives no more scopes",
        f"{OAUTH}/token_exchange.py",
        "    if not wanted <= set(granted) or (asked.split() and not wanted):",
        "    if asked.split() and not wanted:",
        (f"{ATTACK_TESTS}/test_substituted_tokens.py::test_no_scope_is_won_by_a_refresh",),
    ),
    Mutant(
        "scopes that are taken back are gone",
        f"{OAUTH}/clients.py",
        "        return tuple(scope for scope in scopes if scope in self.config.scopes)",
        "        return tuple(scopes)",
        (f"{ATTACK_TESTS}/test_substituted_tokens.py::test_scopes_that_are_taken_back_are_gone_at_once",),
    ),
    Mutant(
        "an application introspects its own tokens alone",
        "gatehouse/api/other_services/introspection.py",
        "        if access.client.id != client.id:",
        "        if not client.id:",
        (f"{ATTACK_TESTS}/test_substituted_tokens.py::test_tokens_of_another_application_are_worth_nothing",),
    ),
    Mutant(
        "a fresh login is one of this request",
        f"{OAUTH}/authorization_decision.py",
        '    return "login" in request.prompt or too_old or',
        "    return too_old or",
        (f"{ATTACK_TESTS}/test_guesses.py::test_a_fresh_login_is_asked_for_each_time",),
    ),
    Mutant(
        "what shows a password is for one browser",
        "gatehouse/auth/login/code_after_password.py",
        "            if ticket is None or ticket.content.browser != _digest(browser):",
        "            if ticket is None:",
        (f"{ATTACK_TESTS}/test_guesses.py::test_the_ticket_between_the_steps_is_for_one_browser_and_some_minutes",),
    ),
    Mutant(
        "a value on a plain page is text",
        "gatehouse/api/pages/value_filling.py",
        'html.escape(values.get(found[1], ""))',
        'values.get(found[1], "")',
        (f"{ATTACK_TESTS}/test_injected_text.py::test_parameters_are_text_on_our_pages",),
    ),
    Mutant(
        "a value in a posted answer is text",
        f"{OAUTH_PAGES}/answers.py",
        'value="{html.escape(value)}"',
        'value="{value}"',
        (f"{ATTACK_TESTS}/test_injected_text.py::test_state_is_text_in_a_form_that_is_posted_on",),
    ),
    Mutant(
        "no page of another origin calls for an application",
        f"{OAUTH}/public_origins.py",
        "        return origin in self._origins",
        "        return bool(origin)",
        (f"{ATTACK_TESTS}/test_origins_and_silence.py::test_no_page_of_another_origin_reads_an_answer",),
    ),
)

SIGN_IN_PAGES = (
    Mutant(
        "a form needs the token of its browser",
        f"{OAUTH}/form_tokens.py",
        "        return any(hmac.compare_digest",
        "        return True or any(hmac.compare_digest",
        (
            f"{OAUTH_TESTS}/test_page_attacks.py::test_nobody_is_logged_in_by_a_form_of_another_site",
            f"{OAUTH_TESTS}/test_page_attacks.py::test_nobody_consents_by_a_form_of_another_site",
        ),
    ),
    Mutant(
        "a login with a company account goes on in its own browser alone",
        f"{OAUTH}/kept_flows.py",
        "f'{browser} {flow}'",
        "f'{flow}'",
        (f"{OAUTH_TESTS}/test_company_sign_in.py::test_nobody_goes_on_with_the_login_of_another_browser",),
    ),
    Mutant(
        "values of a page are text",
        "gatehouse/api/pages/value_filling.py",
        'html.escape(values.get(found[1], ""))',
        'values.get(found[1], "")',
        (f"{OAUTH_TESTS}/test_page_attacks.py::test_values_are_text",),
    ),
    Mutant(
        "a new login voids the cookie of the old one",
        f"{OAUTH}/browser_sessions.py",
        "session if session is not None and session.opened == ticket.content.opened else None",
        "session",
        (
            f"{OAUTH_TESTS}/test_browser_sessions.py::test_logging_in_again_as_the_same_user_keeps_the_session_and_voids_the_old_cookie",
        ),
    ),
    Mutant(
        "a login as somebody else ends the session before it",
        f"{OAUTH}/browser_sessions.py",
        "if before is not None and before.id != session.id:",
        "if before is not None and not session.id:",
        (
            f"{OAUTH_TESTS}/test_browser_sessions.py::test_logging_in_as_somebody_else_ends_the_old_session_and_its_applications",
            f"{OAUTH_TESTS}/test_page_attacks.py::test_a_planted_session_is_not_the_victims",
        ),
    ),
    Mutant(
        "a login as the same user keeps the session",
        "gatehouse/auth/sessions/sessions.py",
        "if within is not None and within.user == user:",
        "if within is not None and not user:",
        (
            f"{OAUTH_TESTS}/test_browser_sessions.py::test_logging_in_again_as_the_same_user_keeps_the_session_and_voids_the_old_cookie",
        ),
    ),
    Mutant(
        "a password that was shown is good for one browser",
        "gatehouse/auth/login/code_after_password.py",
        "if ticket is None or ticket.content.browser != _digest(browser):",
        "if ticket is None:",
        (f"{OAUTH_TESTS}/test_sign_in.py::test_a_password_that_was_shown_is_good_for_a_while_and_for_this_browser",),
    ),
    Mutant(
        "wrong codes of the second step count as failed logins of the name",
        "gatehouse/auth/login/code_after_password.py",
        "attempt = attempt._replace(user=user.id, solved=True)",
        'attempt = attempt._replace(user=user.id, key="x")',
        (f"{OAUTH_TESTS}/test_sign_in.py::test_wrong_codes_count_as_failed_logins_of_the_name",),
    ),
    Mutant(
        "a ticket into a console is good for its browser alone",
        f"{OAUTH}/console_entry.py",
        "if ticket is None or ticket.content.binding != binding_of(client):",
        "if ticket is None:",
        (f"{OAUTH_TESTS}/test_console_entry.py::test_a_ticket_is_good_for_this_browser_alone",),
    ),
    Mutant(
        "an address after the logout is registered",
        f"{OAUTH}/logout_requests.py",
        "if client is None or uri not in client.config.post_logout_redirect_uris:",
        "if client is None:",
        (f"{OAUTH_TESTS}/test_logout.py::test_an_address_that_is_not_registered_is_never_gone_to",),
    ),
    Mutant(
        "an ID token logs nobody out but its own session without a question",
        "gatehouse/api/oauth/logout.py",
        "if who is None or who.session.id == asked.session:",
        "if who is None or asked.session:",
        (f"{OAUTH_TESTS}/test_logout.py::test_whoever_is_logged_in_as_somebody_else_by_now_is_asked",),
    ),
    Mutant(
        "a form of another site does not take the cookie away",
        "gatehouse/api/oauth/logout.py",
        "if self.parts.cookies.session(request) else []",
        "if self.parts else []",
        (f"{OAUTH_TESTS}/test_page_attacks.py::test_nobody_is_logged_out_by_another_site",),
    ),
    Mutant(
        "a login from before the request does not satisfy prompt=login",
        f"{OAUTH}/authorization_decision.py",
        "    return person.session.opened >= request.at",
        "    return person.session.opened > 0",
        (f"{OAUTH_TESTS}/test_authorize.py::test_prompt_login_asks_again_and_keeps_the_session",),
    ),
    Mutant(
        "roles are asked for at the authorization endpoint",
        f"{OAUTH}/authorization_decision.py",
        "    if not client.admits(person.roles):",
        "    if not client:",
        (f"{OAUTH_TESTS}/test_authorize.py::test_an_application_for_some_roles",),
    ),
)

MUTANTS = (
    *REFRESH_TOKENS,
    *LOGOUT,
    *ACCESS_TOKENS,
    *FEED,
    *PROOFS_AND_TRACES,
    *CAPTCHAS,
    *SECOND_FACTORS,
    *LIMITS,
    *NAMES,
    *DIRECTORIES,
    *ACCOUNTS,
    *HTTP,
    *SECRETS,
    *PROVIDERS,
    *COMPANY_LOGINS,
    *SESSION_ENDINGS,
    *APPLICATIONS,
    *ATTACKS,
    *SIGN_IN_PAGES,
)
