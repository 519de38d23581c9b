"""What proves a person beside the password: codes of an authenticator app, recovery codes, passkeys."""
