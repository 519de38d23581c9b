"""HTTP and the envelope. Calls the rules in `auth`, never a store."""
