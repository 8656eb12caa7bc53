"""Delimiter, quote and escape are found from the bytes."""

from __future__ import annotations

import pytest

from qa.data.sniff import read_grid

CASES = [
    ("comma", "a,b,c\n1,2,3\n4,5,6\n", ",", [("1", "2", "3"), ("4", "5", "6")]),
    ("semicolon with decimal commas", "a;b\n1,5;2,25\n3,5;4,75\n", ";", [("1,5", "2,25"), ("3,5", "4,75")]),
    ("tab with commas in text", "name\tplace\nA, B\tX\nC, D\tY\n", "\t", [("A, B", "X"), ("C, D", "Y")]),
    ("pipe", "id|v\n1|x\n2|y\n", "|", [("1", "x"), ("2", "y")]),
    ("caret", "id^v^w\n1^2^3\n4^5^6\n", "^", [("1", "2", "3"), ("4", "5", "6")]),
    ("tilde", "id~v~w\n1~a~3\n4~b~6\n", "~", [("1", "a", "3"), ("4", "b", "6")]),
    ("section sign", "id§v\n1§a\n2§b\n3§c\n", "§", [("1", "a"), ("2", "b"), ("3", "c")]),
    ("two pipes", "id||v||w\n1||a|b||3\n4||c||6\n5||d||7\n", "||", [("1", "a|b", "3"), ("4", "c", "6"), ("5", "d", "7")]),
    ("two colons", "id::v\n1::a:b\n2::c\n", "::", [("1", "a:b"), ("2", "c")]),
    ("runs of blanks", "x    y   z\n1    2   3\n10   20  30\n", " ", [("1", "2", "3"), ("10", "20", "30")]),
    ("times are not parted at the colon", "t,v\n10:15:00,1\n10:16:00,2\n", ",", [("10:15:00", "1"), ("10:16:00", "2")]),
    ("lists inside cells", "id,tags\n1,a;b;c\n2,d;e\n3,f;g;h\n", ",", [("1", "a;b;c"), ("2", "d;e"), ("3", "f;g;h")]),
    ("quoted delimiters", 'a,b\n"1,0","x, y"\n"2,0","z"\n', ",", [("1,0", "x, y"), ("2,0", "z")]),
    ("single quotes", "a,b\n'1,0','x, y'\n'2,0','z'\n", ",", [("1,0", "x, y"), ("2,0", "z")]),
    ("doubled quotes", 'a,b\n1,"say ""hi"", now"\n2,"b"\n', ",", [("1", 'say "hi", now'), ("2", "b")]),
    ("backslash escapes", 'a,b\n1,"say \\"hi\\", now"\n2,"c:\\\\x"\n', ",", [("1", 'say "hi", now'), ("2", "c:\\x")]),
    ("a backslash that escapes nothing", 'a,b\n1,"5\\" \\n"\n2,"say \\"x\\" y"\n', ",", [("1", '5" \\n'), ("2", 'say "x" y')]),
    ("blank after each delimiter", 'a, b, c\n1, "x, y", 3\n2, z, 4\n', ",", [("1", "x, y", "3"), ("2", "z", "4")]),
    ("quoted line ends", 'a,b\n1,"x\ny"\n2,"z\r\nw"\n', ",", [("1", "x\ny"), ("2", "z\r\nw")]),
    ("apostrophes are no quotes", "name,n\nO'Brien,1\nD'Arcy,2\n", ",", [("O'Brien", "1"), ("D'Arcy", "2")]),
    ("an inch sign in the middle", 'size,n\n5" pipe,1\n6" pipe,2\n', ",", [('5" pipe', "1"), ('6" pipe', "2")]),
    ("a sep line", "sep=;\na;b\n1,5;2\n", ";", [("1,5", "2")]),
    ("a quoted sep line", '"sep=|"\r\na|b\r\n1|2\r\n', "|", [("1", "2")]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "delimiter", "rows"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_the_delimiter_and_quote_are_found(text: str, delimiter: str, rows: list[tuple[str, ...]]) -> None:
    grid = read_grid(text.encode())
    assert (grid.delimiter, grid.frame.rows()) == (delimiter, rows)


def test_one_column_has_no_delimiter() -> None:
    grid = read_grid(b"name\nAnn Lee\nBob Ray\nCy Dent\n")
    assert (grid.delimiter, grid.headers, grid.height) == (None, ("name",), 3)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_any_line_end_parts_records(end: str) -> None:
    grid = read_grid(end.join(["a,b", "1,2", "3,4", ""]).encode())
    assert grid.frame.rows() == [("1", "2"), ("3", "4")]


def test_mixed_line_ends_part_records() -> None:
    assert read_grid(b"a,b\r\n1,2\n3,4\r5,6\n\r\n7,8").frame.rows() == [("1", "2"), ("3", "4"), ("5", "6"), ("7", "8")]


def test_what_is_given_is_obeyed() -> None:
    grid = read_grid(b"a;b,c\n1;2,3\n", delimiter=",")
    assert grid.headers == ("a;b", "c")
    assert read_grid(b"a,'b\n1,'2\n", quote="").headers == ("a", "'b")


STRAY = [
    (
        "a quote that is never closed",
        b'id,v,w\n1,"x,2\n2,y,3\n3,z,4\n',
        [("1", '"x', "2"), ("2", "y", "3"), ("3", "z", "4")],
    ),
    (
        "a quote that swallows whole records",
        b'id,v,w\n1,"x,2\n2,y,3\n3,z"\n4,u,5\n5,t,6\n',
        [("1", '"x', "2"), ("2", "y", "3"), ("3", 'z"', None), ("4", "u", "5"), ("5", "t", "6")],
    ),
]


@pytest.mark.parametrize(("data", "rows"), [case[1:] for case in STRAY], ids=[case[0] for case in STRAY])
def test_a_stray_quote_costs_no_rows(data: bytes, rows: list[tuple[str | None, ...]]) -> None:
    assert read_grid(data).frame.rows() == rows


def test_quoted_newlines_do_not_split_records() -> None:
    data = "i,t,n\n" + "".join(f'{i},"line one\nline two",2\n' for i in range(1041))
    grid = read_grid(data.encode())
    assert (grid.height, sum(int(n) for n in grid.frame["c2"])) == (1041, 2082)


def test_a_very_long_line_is_read_whole() -> None:
    grid = read_grid(b"a,b\n1," + b"x" * 3_000_000 + b"\n2,y\n")
    assert len(grid.frame["c1"][0]) == 3_000_000


def test_many_columns_are_read() -> None:
    wide = ",".join(f"n{i}" for i in range(3000)) + "\n" + ",".join("1" for _ in range(3000)) + "\n"
    assert read_grid(wide.encode()).width == 3000
