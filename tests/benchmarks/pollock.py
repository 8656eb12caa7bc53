"""Scores of reading delimited files on the public sets: Pollock, dialect detection, csv-spectrum.

    python tests/benchmarks/pollock.py [--shared FOLDER] [--keep FOLDER]

`--shared` is the folder that holds `bench/dev` (beside the repository by default). Pollock's own scorer there needs
the packages python-dateutil and price-parser; the other two sets need nothing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]
sys.path.insert(0, str(REPOSITORY))

from qa.data.sniff import read_grid, write_cells  # noqa: E402
from qa.errors import QAError  # noqa: E402

ENCODINGS = {"utf8": ("utf-8",), "windows-1251": ("cp1251",), "ansi": ("cp1252", "cp1250", "mac_roman")}
"""What the annotations call an encoding, and what reads such a file right. Of those called ansi one is Czech, one Mac Roman."""


def lines(path: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())


def pollock(dev: Path, keep: Path) -> None:
    """Read every file of the set, write it back, and let the set's own scorer judge."""
    with tarfile.open(dev / "pollock" / "polluted.tar.xz") as archive:
        archive.extractall(keep, filter="data")
    out = keep / "converted"
    out.mkdir(exist_ok=True)
    for record in lines(dev / "pollock" / "manifest.jsonl"):
        base = keep if record["dataset"] == "polluted" else dev / "pollock"
        target = out / f"{record['name']}_converted.csv"
        try:
            write_cells(read_grid(base / record["file"]), target)
        except QAError:
            target.write_text("Application Error\n", encoding="utf-8")
    for name in ("manifest.jsonl", "survey"):
        if not (keep / name).exists():
            (keep / name).symlink_to(dev / "pollock" / name)
    subprocess.run([sys.executable, dev.parent / "pollock_score.py", keep, out], check=True)


def dialects(dev: Path) -> dict[str, Any]:
    """How often delimiter and quote, and the encoding, are those of the annotation; a file without either counts as , and \"."""
    wrong: list[str] = []
    other: list[str] = []
    files = list(lines(dev / "csv_dialect" / "manifest.jsonl"))
    for record in files:
        data = (dev / "csv_dialect" / record["file"]).read_bytes()
        grid = read_grid(data)
        if ((grid.delimiter or ","), (grid.quote or '"')) != (record["delimiter"], record["quotechar"]):
            wrong.append(record["name"])
        expected = ENCODINGS[record["encoding"]]
        if grid.encoding not in expected and not (record["encoding"] == "ansi" and data.isascii()):
            other.append(record["name"])
    total = len(files)
    return {
        "files": total,
        "dialect_right": round(1 - len(wrong) / total, 4),
        "encoding_right": round(1 - len(other) / total, 4),
        "dialect_other": wrong,
        "encoding_other": other,
    }


def spectrum(dev: Path) -> dict[str, Any]:
    """Files whose cells are those of the JSON beside them; a line end inside a cell may be spelled either way."""
    differing: list[str] = []
    files = sorted((dev / "csv_spectrum" / "csvs").glob("*.csv"))
    for path in files:
        grid = read_grid(path)
        rows = [dict(zip(grid.headers, (cell or "" for cell in row), strict=True)) for row in grid.frame.iter_rows()]
        gold = json.loads((dev / "csv_spectrum" / "json" / f"{path.stem}.json").read_text(encoding="utf-8"))
        gold = [gold] if isinstance(gold, dict) else gold
        if json.dumps(rows).replace("\\r\\n", "\\n") != json.dumps(gold).replace("\\r\\n", "\\n"):
            differing.append(path.name)
    return {"files": len(files), "right": len(files) - len(differing), "differing": differing}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=REPOSITORY.parent / "shared")
    parser.add_argument("--keep", type=Path, help="folder for the files written; a temporary one without it")
    given = parser.parse_args()
    dev = given.shared / "bench" / "dev"
    print("csv_dialect", json.dumps(dialects(dev)))
    print("csv_spectrum", json.dumps(spectrum(dev)))
    with tempfile.TemporaryDirectory() as temporary:
        keep = given.keep or Path(temporary)
        keep.mkdir(parents=True, exist_ok=True)
        pollock(dev, keep)


if __name__ == "__main__":
    main()
