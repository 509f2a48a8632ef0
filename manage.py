#!/usr/bin/env python
"""Django's command line for the playground."""

import sys

from playground.__main__ import run_command

if __name__ == "__main__":
    run_command(sys.argv)
