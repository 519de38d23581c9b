"""How fast Gatehouse is, measured beside its baselines in one run. `make bench` runs `benchmarks.speed`."""
