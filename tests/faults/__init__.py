"""Does Gatehouse keep its promises while everything it stands on is being killed? In the manner of Jepsen.

Clients talk to several nodes over PostgreSQL and Redis, to several over PostgreSQL alone, or to the embedded default
(`engine_sets`), and write down what they did and saw (`history`, `clients`). Meanwhile nodes and servers are killed,
restarted and paused (`fault_injection`). Afterwards a checker reads the history and names every promise that was broken
(`checker`). `python -m tests.faults --help`, or `make faults`.
"""
