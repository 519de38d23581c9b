"""Short-lived data that all workers share, behind one protocol: sessions, used captchas, counters, user epochs."""
