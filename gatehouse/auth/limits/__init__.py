"""Rate limits by address, name and in all, and the lockout of names after failed logins."""
