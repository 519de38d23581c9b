"""How fast Gatehouse is, measured beside its yardsticks in one run. `make bench` runs `benchmarks.speed`."""
