"""The table is found among titles, notes, totals, units and other tables; nothing goes without a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from qa.data.sniff import read_grid, write_cells

HEADERS = [
    ("a plain header", "name,age\nAnn,31\nBob,42\n", ("name", "age"), 2),
    ("no header over numbers", "1,2.5\n2,3.5\n3,4.5\n", ("", ""), 1),
    ("no header over dates and codes", "2024-01-01,A17\n2024-01-02,B22\n2024-01-03,C31\n", ("", ""), 1),
    ("years over numbers are a header", "country,2019,2020,2021\nDE,1.5,2.5,3.5\nFR,4.5,5.5,6.5\n", ("country", "2019", "2020", "2021"), 2),
    ("column numbers are a header", ",0,1,2\n0,5.5,6.5,7.5\n1,8.5,9.5,3.5\n", ("", "0", "1", "2"), 2),
    ("a blank first name", ",year,games\n1,1995,10\n2,1996,12\n", ("", "year", "games"), 2),
    ("a title above", "Sales report\n\nregion,sales,n\nNorth,10,1\nSouth,20,2\n", ("region", "sales", "n"), 4),
    ("a padded title above", "Sales report,,\n,,\nregion,sales,n\nNorth,10,1\nSouth,20,2\n", ("region", "sales", "n"), 4),
    ("key: value lines above", "From:,2024-01-01\nTo:,2024-02-01\nregion,sales,n\nNorth,10,1\nSouth,20,2\n", ("region", "sales", "n"), 4),
    ("a title with commas", "Made by Ann, Sunday, May 5, for Bob\nnm,%T\n400.5,98.7\n401.5,98.8\n402.5,98.9\n", ("nm", "%T"), 3),
    ("comment lines above", "# made by x\n# on, monday, early\nx,y\n1,2\n3,4\n", ("x", "y"), 4),
    ("a header in a comment", "# energy, flux\n0.1,0.5\n0.2,0.6\n", ("# energy", " flux"), 2),
    ("two header rows", "Name,Date,Sum\nfull,of order,in total\nAnn,2024-01-01,5\nBob,2024-01-02,6\n", ("Name full", "Date of order", "Sum in total"), 3),
    ("the header twice", "Club,Played,Won\nClub,Played,Won\nAshford,22,20\nBarton,22,17\nCopley,22,15\n", ("Club", "Played", "Won"), 3),
    ("a section title under the header", "Class,Wheels,Built\nUnder Mr Gray,Under Mr Gray,Under Mr Gray\nA1,0-4-2,1871\nB2,2-4-0,1874\n", ("Class", "Wheels", "Built"), 2),
    ("names with numbers over dates", "Episode #,Title,Part 1,Part 2\n1.0,Ants,\"May 1, 2007\",\"May 4, 2007\"\n2.0,Bees,\"May 8, 2007\",\"May 11, 2007\"\n", ("Episode #", "Title", "Part 1", "Part 2"), 2),
    ("a name that every cell repeats", "Race,Date,Report\nTarga,18 May,Report\nCorsa,25 May,Report\n", ("Race", "Date", "Report"), 2),
    ("years with a percent sign", "Group,2001 people,2001 %\nNorth,427471,87.0\nSouth,62411,13.0\n", ("Group", "2001 people", "2001 %"), 2),
    ("groups over three of the names", "Club,Season,League,League\nClub,Season,Division,Goals\nAsh,2001,One,5\nBar,2002,Two,7\nCod,2003,One,6\nDee,2004,Two,9\n", ("Club", "Season", "League Division", "League Goals"), 3),
    ("group names above", "north,,south,\nx,y,x,y\n1.5,2,3,4\n5,6,7,8\n9,8,7,6\n", ("north x", "north y", "south x", "south y"), 3),
    ("groups over the columns right of the keys", ",2019,,2020,\nname,men,women,men,women\na,1,2,3,4\nb,5,6,7,8\n", ("name", "2019 men", "2019 women", "2020 men", "2020 women"), 3),
    ("a longer name below", "team,total,total\n,,restated\nA,672,641\nB,119,115\nC,242,231\n", ("team", "total", "total restated"), 3),
    ("blanks around names stay", " a ,b \n1,2\n3,4\n", (" a ", "b "), 2),
    ("a name with a line end", '"line\nbreak",b\n1,2\n', ("line\nbreak", "b"), 2),
    ("repeated names", "a,a,A\n1,2,3\n4,5,6\n", ("a", "a", "A"), 2),
    ("a header and nothing else", "a,b,c\n", ("a", "b", "c"), 0),
    ("words over words", "first,last\nAnn,Lee\nBob,Ray\n", ("first", "last"), 2),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "headers", "first"), [case[1:] for case in HEADERS], ids=[case[0] for case in HEADERS]
)
def test_the_header_is_found(text: str, headers: tuple[str, ...], first: int) -> None:
    grid = read_grid(text.encode())
    assert (grid.headers, grid.first_row_number) == (headers, first)
    assert grid.header_found == any(headers)


BESIDE = [
    (
        "a total that adds up",
        "region,sales\nNorth,100\nSouth,250\nTotal,350\n",
        [("North", "100"), ("South", "250")],
        [(4, "total of the rows above")],
    ),
    (
        "a total in another language with thousands",
        "Ort;Umsatz\nA;1.000,50\nB;2.000,25\nSumme;3.000,75\n",
        [("A", "1.000,50"), ("B", "2.000,25")],
        [(4, "total of the rows above")],
    ),
    (
        "subtotals and a grand total",
        "g,n,v\na,x,1\na,y,2\nSubtotal,,3\nb,x,4\nb,y,5\nSubtotal,,9\nGrand total,,12\n",
        [("a", "x", "1"), ("a", "y", "2"), ("b", "x", "4"), ("b", "y", "5")],
        [(4, "total of the rows above"), (7, "total of the rows above"), (8, "total of the rows above")],
    ),
    (
        "a total without a label",
        "g,v,w\na,10,1\nb,20,2\nc,30,3\n,60,6\n",
        [("a", "10", "1"), ("b", "20", "2"), ("c", "30", "3")],
        [(5, "total of the rows above")],
    ),
    (
        "an average at the end",
        "g,n,v\na,x,10\nb,y,20\nc,z,30\nAverage,,20\n",
        [("a", "x", "10"), ("b", "y", "20"), ("c", "z", "30")],
        [(5, "total of the rows above")],
    ),
    (
        "notes below",
        "g,n,v\na,x,10\nb,y,20\n\n* preliminary,,\nSource: the office,,\n",
        [("a", "x", "10"), ("b", "y", "20")],
        [(5, "below the table"), (6, "below the table")],
    ),
    (
        "the header repeated",
        "g,v\na,1\nb,2\ng,v\nc,3\n",
        [("a", "1"), ("b", "2"), ("c", "3")],
        [(4, "header repeated")],
    ),
    (
        "blank rows",
        "g,v\n\na,1\n,\n\nb,2\n\n\n",
        [("a", "1"), ("b", "2")],
        [],
    ),
]


@pytest.mark.parametrize(("text", "rows", "skipped"), [case[1:] for case in BESIDE], ids=[case[0] for case in BESIDE])
def test_what_is_no_data_is_left_out_and_listed(
    text: str, rows: list[tuple[str, ...]], skipped: list[tuple[int, str]]
) -> None:
    grid = read_grid(text.encode())
    assert grid.frame.rows() == rows
    assert [(row, why) for row, why, _ in grid.skipped] == skipped


KEPT = [
    ("a category called Total that adds up nothing", "brand,n,v\nShell,x,5\nTotal,y,7\nBP,z,4\nEsso,u,9\n"),
    ("a thin row in the middle", "a,b,c\n1,2,3\n4,,\n5,6,7\n8,9,1\n"),
    ("numbers that happen to repeat", "k,v\na,1\nb,1\nc,2\nd,9\n"),
    ("one suppressed cell", "tube,jan,feb\nC1,18,19\nC2,missing,missing\nC3,20,21\n"),
]


@pytest.mark.parametrize("text", [case[1] for case in KEPT], ids=[case[0] for case in KEPT])
def test_data_rows_are_never_left_out(text: str) -> None:
    grid = read_grid(text.encode())
    assert (grid.height, grid.skipped) == (text.count("\n") - 1, ())


def test_a_row_called_total_that_stays_is_reported() -> None:
    grid = read_grid(KEPT[0][1].encode())
    assert [(note.code, note.damage) for note in grid.notes if note.damage == 3] == [("kept_totals", 3)]


def test_units_stand_apart_from_names_and_values() -> None:
    grid = read_grid(b"time,speed,mass\ns,m/s,kg\n1,2.5,3\n2,3.5,4\n")
    assert (grid.headers, grid.units) == (("time", "speed", "mass"), ("s", "m/s", "kg"))
    assert grid.height == 2


def test_short_rows_are_filled_and_reported() -> None:
    grid = read_grid(b"id,name,amount\n1,Ann,10\n2,Bob\n3,Cy,30\n")
    assert grid.frame.rows() == [("1", "Ann", "10"), ("2", "Bob", None), ("3", "Cy", "30")]
    assert [note.message for note in grid.notes] == ["1 with fewer cells than the table, the rest missing: row 3."]


def test_surplus_cells_are_reported_not_lost() -> None:
    grid = read_grid(b"id,name,amount\n1,Ann,10\n2,Bob\n3,Cy,30,late note\n4,Di,40\n5,Ed,50,,\n")
    assert grid.frame["c2"].to_list() == ["10", None, "30", "40", "50"]
    assert grid.surplus[0] == (4, ("late note",))
    assert any("late note" in note.message for note in grid.notes)


def test_columns_that_many_rows_have_are_kept_without_a_name() -> None:
    grid = read_grid(b"a,b\n1,2,x\n3,4,y\n5,6,z\n")
    assert (grid.headers, grid.frame["c2"].to_list()) == (("a", "b", ""), ["x", "y", "z"])


def test_a_blank_name_that_no_row_has_a_cell_for_is_dropped() -> None:
    assert read_grid(b"d,,n,v\n2024-01-01,1,x\n2024-01-02,2,y\n2024-01-03,3,z\n").headers == ("d", "n", "v")


def test_a_delimiter_at_the_end_of_each_row_makes_no_column_but_a_note() -> None:
    grid = read_grid(b"a,b\n1,2,\n3,4,\n5,6,\n")
    assert (grid.headers, grid.width) == (("a", "b"), 2)
    assert "short_header" in [note.code for note in grid.notes]


def test_a_header_one_name_short_leaves_the_first_column_unnamed() -> None:
    grid = read_grid(b'"mpg","cyl"\n"Mazda",21,6\n"Datsun",22.8,4\n"Hornet",21.4,6\n')
    assert grid.headers == ("", "mpg", "cyl")
    assert "index_column" in [note.code for note in grid.notes]


MENDED = [
    ("a cell that holds the delimiter", "d,name,n\n2024-01-01,Ann,1\n2024-01-02,Lee, Bob,2\n", 10, ("2024-01-02", "Lee, Bob", "2")),
    ("a missing cell", "d,name,n,e\n2024-01-01,Ann,1,2024-05-01\n2024-01-02,2,2024-05-02\n", 10, ("2024-01-02", None, "2", "2024-05-02")),
    ("another delimiter", "d,name,n\n2024-01-01,Ann,1\n2024-01-02;Bob;2\n", 10, ("2024-01-02", "Bob", "2")),
]  # fmt: skip


@pytest.mark.parametrize(("text", "copies", "row"), [case[1:] for case in MENDED], ids=[case[0] for case in MENDED])
def test_a_row_out_of_step_is_put_right_and_reported(text: str, copies: int, row: tuple[str | None, ...]) -> None:
    head, good, odd = text.splitlines(keepends=True)
    grid = read_grid((head + good * copies + odd + good).encode())
    assert grid.frame.row(copies) == row
    assert any(note.message.startswith(f"In row {copies + 2} ") for note in grid.notes if note.code == "mended_rows")


TABLES = [
    ("parted by a blank row", "a,b\n1,2\n3,4\n5,6\n\nx,y,z\n7,8,9\n1,2,3\n", ("a", "b"), 3),
    ("one right under the other", "a,b,c\n1,2,3\n3,4,5\n5,6,7\nx,y\n7,8\n1,2\n", ("a", "b", "c"), 3),
    ("the later one much larger", "a,b\n1,2\n3,4\n\nx,y,z\n" + "7,8,9\n" * 20, ("x", "y", "z"), 20),
    ("the same one twice", "a,b\n1,2\n3,4\n5,6\n" * 2, ("a", "b"), 3),
    ("of one width under other names", "a,b\n1,2\n3,4\n5,6\n\nx,y\n7,8\n1,2\n", ("a", "b"), 3),
]


@pytest.mark.parametrize(("text", "headers", "rows"), [case[1:] for case in TABLES], ids=[case[0] for case in TABLES])
def test_of_several_tables_the_largest_is_read_and_the_rest_named(
    text: str, headers: tuple[str, ...], rows: int
) -> None:
    grid = read_grid(text.encode())
    assert (grid.headers, grid.height) == (headers, rows)
    assert len(grid.other_tables) == 1
    assert [note.code for note in grid.notes if note.damage == 3] == ["other_tables"]
    assert read_grid(text.encode(), table=grid.other_tables[0].number).headers == grid.other_tables[0].headers


def test_row_numbers_count_every_record_of_the_file() -> None:
    grid = read_grid(b"title\n\na,b,c\n1,2,3\n\n4,5,6\n")
    assert grid.rows.to_list() == [4, 6]
    assert grid.rows_in == 6


def test_a_given_header_row_is_obeyed() -> None:
    grid = read_grid(b"x,y\na,b\n1,2\n", header=2)
    assert (grid.headers, grid.height) == (("a", "b"), 1)
    assert read_grid(b"x,y\n1,2\n", header=0).height == 2


def test_an_empty_cell_is_missing_and_a_blank_one_is_not() -> None:
    assert read_grid(b'a,b\n"",1\n ,2\n,3\n').frame["c0"].to_list() == [None, " ", None]


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf", b" \n \n"])
def test_a_file_without_cells_gives_no_columns(data: bytes) -> None:
    grid = read_grid(data)
    assert (grid.width, grid.height) == (0, 0)


def test_the_cells_written_back_are_the_cells_read(tmp_path: Path) -> None:
    data = b'Report\n\nid;name;n\n1;"a ""b""";5\n2;c;6;late\n3;d;7\n4;e;8\n5;f;9\nTotal;;35\n'
    write_cells(read_grid(data), tmp_path / "out.csv")
    assert (
        tmp_path / "out.csv"
    ).read_bytes() == b'id,name,n\r\n1,"a ""b""",5\r\n2,c,6,late\r\n3,d,7\r\n4,e,8\r\n5,f,9\r\nTotal,,35\r\n'
