"""``python -m netsor`` is the command ``netsor``."""

import sys

from netsor.cli import main

sys.exit(main())
