"""From a username, a password and a captcha to a session."""
