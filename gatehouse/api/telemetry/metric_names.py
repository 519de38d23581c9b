"""The metrics: their names, and what each means.

Names are added, never renamed. `metrics.py` counts, `prometheus_format.py` writes them in the form of Prometheus.
"""

# `docs/observing.md` describes each of them; a test fails when one is missing there.
HELP = {
    "gatehouse_requests": "Requests answered, by operation and code",
    "gatehouse_request_seconds": "Time from the request to its answer, by operation",
    "gatehouse_captcha_draw_seconds": "Time to draw one captcha",
    "gatehouse_events": "Audit events, by event and reason",
    "gatehouse_logins": "Logins by outcome",
    "gatehouse_source_logins": "What directories and providers said to logins, by source and outcome",
    "gatehouse_sessions_opened": "Sessions opened",
    "gatehouse_sessions_ended": "Sessions ended, by reason",
    "gatehouse_state_operations": "Operations of the state store, by kind; cached reads are not counted",
    "gatehouse_hash_pending": "Password hashes running or waiting",
    "gatehouse_audit_queued": "Audit events that wait for the database",
    "gatehouse_audit_lost": "Audit events that reached the log but not the database",
    "gatehouse_workers": "Workers that run",
    "gatehouse_memory_peak_bytes": "Largest resident memory of a worker so far",
    "gatehouse_build": "The version that runs",
}
