"""What is true right now, behind one protocol: sessions, used captchas, counters, user epochs."""
