"""HTTP and the envelope. Changes go through the rules in `auth`; lists are read from stores, whatever their engine."""
