"""`python -m tests.qa.bench.runners`: the three times and their ratios, in one run."""

from __future__ import annotations

import argparse

from tests.qa.bench.runners import measure


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=200)
    count = parser.parse_args().requests
    times = measure(count)
    for name, seconds in (("newman", times.newman), ("Bruno CLI", times.bruno)):
        print(f"{name}: {seconds:.2f} s, {seconds / times.ours:.2f} times as long")
    print(f"run_collection: {times.ours:.2f} s for {count} requests")


if __name__ == "__main__":
    main()
