"""The program `diarist` that travels in the package."""

import os
import sys
from pathlib import Path
from typing import NoReturn


def main() -> NoReturn:
    """Becomes the program; the console script `diarist` and `python -m diarist` come here."""
    program = Path(__file__).with_name("bin") / "diarist"
    if not program.is_file():
        sys.exit(
            f"diarist: {program} is missing: this package was built without the program; "
            "install diarist anew"
        )
    # `diarist models pull open` asks the pip of this very Python, unless told otherwise.
    environment = {"DIARIST_PYTHON": sys.executable or "python3", **os.environ}
    os.execve(program, ["diarist", *sys.argv[1:]], environment)
