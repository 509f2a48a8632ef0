#!/usr/bin/env python
"""Django's command line for the playground."""

import gc
import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "playground.settings")
    # What imports allocate stays. `PlaygroundConfig` enables collection when they are done.
    gc.disable()
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
