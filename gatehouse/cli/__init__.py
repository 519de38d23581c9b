"""What an operator types."""

from gatehouse import server, settings


def main() -> None:
    server.serve(settings.load())
