"""Who somebody is by the word of a directory or a provider, and what follows from it for our users."""
