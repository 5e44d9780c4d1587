"""FILE|DIR...: the programs that a command line names."""

from __future__ import annotations

from pathlib import Path

import click


def program_files(paths: tuple[str, ...]) -> list[str]:
    """Each once, directories as all the *.netsor files in them; ``-`` stands for the standard input."""
    found: dict[str, None] = {}
    for path in paths:
        if path != "-" and Path(path).is_dir():
            inside = sorted(map(str, Path(path).rglob("*.netsor")))
            if not inside:
                raise click.UsageError(f"there are no .netsor files in {path}")
            found |= dict.fromkeys(inside)
        else:
            found[path] = None
    return list(found)
