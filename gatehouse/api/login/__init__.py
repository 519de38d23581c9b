"""Login and what belongs to it: captcha, refresh, logout, passkeys, QR codes, links that set a password."""
