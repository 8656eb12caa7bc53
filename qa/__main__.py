"""`python -m qa`: the terminal door."""

import sys

from qa.cli import main

sys.exit(main())
