"""Texts that only we can make and read: for enrolment, passkeys, login by QR code and links to set a password."""
