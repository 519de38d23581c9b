"""python -m tests.examples.toolchains: says which examples will run, and which are left out for want of which tool."""

from __future__ import annotations

from tests.examples.adapters import ADAPTERS


def main() -> None:
    print("Examples on this machine (a first build downloads its packages, for some minutes):")
    for adapter in ADAPTERS:
        missing = " and ".join(adapter.missing)
        print(f"  {adapter.name:<12} {f'LEFT OUT: {missing} not installed' if missing else 'runs'}")


if __name__ == "__main__":
    main()
