"""Every decision that the reader tells can be undone: by its option, from the command line, from a program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qa.cli import main
from qa.data.read import ReadOptions, load
from qa.data.reversal import OPEN, as_kind, changed, pair

FILES = {
    "dates": "day,n\n01/02/2024,1\n03/04/2024,2\n",
    "short years": "day,n\n15/03/24,1\n16/03/24,2\n",
    "decimals": "x,n\n1.250,1\n2.500,2\n",
    "units": "weight of it,n\n1 kg,1\n500 g,2\n",
    "magnitudes": "revenue,n\n1.2K,1\n3M,2\n",
    "a sentinel": "temp,n\n" + "".join(f"{value},1\n" for value in (-999, 12, 13, 14, 15, -999, 16)),
    "null words": "x,n\nN/A,1\n5,2\n6,3\n",
    "an unreadable cell": "x,n\n" + "5,2\n" * 30 + "oops,1\n",
    "spellings": "country,n\nSouth Sudan,1\nsouth sudan ,2\nSouth Sudan,3\nChad,4\n",
    "a total": "region,n\nN,10\nS,20\nTotal,30\n",
    "called total": "region,n\nTotal,10\nS,20\nN,30\n",
    "two tables": "id,v\n1,2\n2,3\n\nname,age\nA,30\nB,40\nC,50\n",
    "a header further down": "Report of it\n\nid,v\n1,2\n2,3\n",
    "weak header": "name,city\nAlice,Paris\nBob,Rome\n",
    "seconds": "ts,n\n1704067200,1\n1704153600,2\n",
    "codes like powers": "x,n\n1E5,1\n2E3,2\n",
    "shares": "rate,n\n45%,1\n0.12,2\n",
    "minutes": "lap time,n\n3:45,1\n0:59,2\n",
    "offsets": "at,n\n2024-03-31T01:30:00+01:00,1\n2024-03-31T03:30:00+02:00,2\n",
}
STAYS = {"header_row", "other_tables"}
"""What is told whichever way it is decided."""


@pytest.mark.parametrize("name", FILES)
def test_what_is_undone_is_no_longer_told(tmp_path: Path, name: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(FILES[name])
    [table] = load(path)
    undoable = [note for note in table.report.assumptions if note.reversal]
    assert undoable
    for note in undoable:
        options = changed(ReadOptions(), note.reversal or "")
        if options is None:
            assert (note.reversal or "").split()[-1] in OPEN
            continue
        [again] = load(path, options=options)
        left = {(other.code, other.column) for other in again.report.assumptions}
        assert (note.code, note.column) not in left or note.code in STAYS


@pytest.mark.parametrize("column", ["Unit Price", "a=b", "it's", 'say "x"', "x"])
def test_a_reversal_holds_any_column_name(column: str) -> None:
    told = changed(ReadOptions(), as_kind(column, "text"))
    assert told is not None and told.as_kinds == {column: "text"}


def test_the_last_sign_parts_a_column_from_what_is_said_of_it() -> None:
    assert (pair("a=b=text"), pair("-999")) == (("a=b", "text"), ("", "-999"))


@pytest.mark.parametrize(
    "reversal", ["--header N", "--sheet NAME", "--encoding NAME", "--table N", "rubbish", "--as 'x"]
)
def test_what_leaves_a_choice_changes_nothing_by_itself(reversal: str) -> None:
    assert changed(ReadOptions(), reversal) is None


COMMANDS = [
    (["--totals", "keep"], "a total", "rows", 3),
    (["--totals", "all"], "called total", "rows", 2),
    (["--table", "2"], "two tables", "rows", 3),
    (["--header", "0"], "weak header", "rows", 3),
    (["--missing", "temp=-999"], "a sentinel", "missing", 2),
    (["--missing", "-999"], "a sentinel", "missing", 2),
    (["--as", "x=text"], "an unreadable cell", "missing", 0),
    (["--dayfirst", "no"], "dates", "low", "2024-01-02"),
    (["--decimal", ","], "decimals", "low", 1250),
    (["--variants", "no"], "spellings", "distinct", 3),
]


@pytest.mark.parametrize(("options", "name", "what", "expected"), COMMANDS, ids=[" ".join(row[0]) for row in COMMANDS])
def test_the_command_line_undoes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], name: str, what: str, expected: object
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(FILES[name])
    assert main(["profile", str(path), f"{options[0]}={options[1]}", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["profile"]
    assert (told["rows"] if what == "rows" else told["columns"][0][what]) == expected


def test_the_mark_of_decimals_keeps_its_sign() -> None:
    assert changed(ReadOptions(), "--decimal ','") == ReadOptions(decimal=",")
