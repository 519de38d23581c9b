"""What callers see and change of their own account."""
