"""Tests of this folder may import random_layout.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
