"""What is odd about a table's data is found, and nothing is found where nothing is odd."""

from __future__ import annotations

from pathlib import Path

import pytest

from qa.data.findings import findings
from tests.data.loading import text

FOUND = [
    ("rows that repeat", "a,b\n1,x\n1,x\n2,y\n2,z\n", {"repeated_rows"}),
    ("a constant", "a,b\n1,x\n2,x\n3,x\n", {"constant"}),
    ("an empty column", "a,b\n1,\n2,\n3,\n", {"empty"}),
    ("mostly missing", "a,b\n1,\n2,\n3,\n4,x\n", {"mostly_missing"}),
    ("far values", "k,v\n" + "".join(f"k{n},{n % 10}\n" for n in range(100)) + "k101,5000\n", {"far_values"}),
    ("a sentinel", "k,v\n" + "".join(f"k{n},{v}\n" for n, v in enumerate([-999, 12, 13, 14, 15, -999, 16])), {"sentinel"}),
    ("nothing odd", "k,v\na,1\nb,2\nc,3\n", set()),
    ("a key makes rows differ", "id,b\n1,x\n2,x\n3,y\n", set()),
]  # fmt: skip


@pytest.mark.parametrize(("content", "codes"), [row[1:] for row in FOUND], ids=[row[0] for row in FOUND])
def test_what_is_odd_is_found(tmp_path: Path, content: str, codes: set[str]) -> None:
    assert {finding.code for finding in findings(text(tmp_path, content))} == codes
