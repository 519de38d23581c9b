"""What `gatehouse doctor` and the administration page find out about an installation."""
