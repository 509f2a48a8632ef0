"""`make judge`: how many deviations the rules find, and how many conforming replies they blame.

`-v` lists each miss, `--only TEXT` judges the mutants whose name contains the text.
"""

from __future__ import annotations

import argparse
import sys

from tests.qa.judge.measurement import explained, judge, rates
from tests.qa.judge.sets import SETS

AIM = 0.99


def main() -> int:
    """Print the rates of each set; return 1 if one of them misses its aim."""
    parser = argparse.ArgumentParser(prog="python -m tests.qa.judge", description=__doc__)
    parser.add_argument("-v", "--verbose", action="store_true", help="list each miss")
    parser.add_argument("--only", default="", help="judge mutants whose name contains this")
    options = parser.parse_args()
    met = True
    for name, mutants in SETS.items():
        judged = [judge(mutant) for mutant in mutants() if options.only in mutant.name]
        print(f"\n{name}\n")
        print(f"{'':22} {'deviations found':>24} {'conforming, blamed':>20}")
        for protocol, both in rates(judged).items():
            deviations, conforming = both.deviations, both.conforming
            found = f"{deviations.right} of {deviations.total}, {deviations.share:.1%}"
            blamed = f"{conforming.total - conforming.right} of {conforming.total}"
            print(f"{protocol:22} {found:>24} {blamed:>20}")
            met &= deviations.share >= AIM and conforming.right == conforming.total
        if options.verbose:
            for each in judged:
                if not each.right:
                    print("\n" + "\n".join(explained(each)))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
