"""Shows that the suite guards the most dangerous rules: each is broken by hand, and a test must fail."""
