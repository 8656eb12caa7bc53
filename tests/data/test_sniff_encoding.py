"""Bytes become the text that was meant, and what had to be assumed is said."""

from __future__ import annotations

import pytest

from qa.data.sniff import read_grid
from qa.errors import LoadError

WORDS = [
    ("utf-8", "Stadt,n\nKöln,1\nŁódź,2\n"),
    ("utf-8-sig", "Stadt,n\nKöln,1\n"),
    ("utf-16", "Stadt,n\nKöln,1\nŁódź,2\n"),
    ("utf-16-le", "city,n\nKöln,1\nŁódź,2\nParis,3\n"),
    ("utf-16-be", "city,n\nKöln,1\nŁódź,2\nParis,3\n"),
    ("cp1252", "Stadt;Umsatz €\nKöln;100\nDüsseldorf;250\nMünchen;60\n"),
    ("cp1252", "item,price\ntea,£5\ncake,£12\n"),
    ("cp1252", "name,note\nAnn,“good”\nBob,naïve – don’t\n"),
    ("cp1252", "ville,n\nOrléans,1\nBesançon,2\nÉpinal,3\n"),
    ("cp1250", "miasto,n\nŁódź,1\nKraków,2\nGdańsk,3\nWałbrzych,4\n"),
    ("cp1250", "město,n\nPlzeň,1\nČeské Budějovice,2\nJihlava,3\nPříbram,4\n"),
    ("cp1251", "город,n\nМосква,1\nКазань,2\n"),
    ("koi8_r", "город,n\nМосква,1\nКазань,2\n"),
    ("cp1253", "πόλη,n\nΑθήνα,1\nΘεσσαλονίκη,2\n"),
    ("cp1254", "şehir,n\nİstanbul,1\nDiyarbakır,2\nMuğla,3\n"),
    ("mac_roman", "ville,n\nMontréal,1\nQuébec,2\nZürich,3\n"),
    ("cp932", "都市,数量\n東京,1\nりんごの町,2\n"),
    ("euc_jp", "都市,数量\n東京です,1\nりんごの町,2\n"),
    ("gb18030", "城市,数量\n北京,1\n上海,2\n"),
    ("cp949", "도시,수량\n서울,1\n부산,2\n"),
]


@pytest.mark.parametrize(("encoding", "text"), WORDS, ids=[f"{name} {text[:4]}" for name, text in WORDS])
def test_the_encoding_is_found_by_evidence(encoding: str, text: str) -> None:
    grid = read_grid(text.encode(encoding))
    cells = [*grid.headers, *(cell for row in grid.frame.iter_rows() for cell in row)]
    assert cells == text.replace("\n", grid.delimiter or "").split(grid.delimiter or "")[:-1]


def test_a_late_bad_byte_does_not_change_the_rest() -> None:
    data = "name,n\n" + "Zoë,1\nJosé,2\n" * 5000
    grid = read_grid(data.encode() + b"Caf\xe9,3\n")
    assert grid.encoding == "utf-8"
    assert grid.frame["c0"][0] == "Zoë"
    assert grid.frame["c0"][-1] == "Café"
    assert [note.code for note in grid.notes] == ["bad_bytes"]


def test_a_legacy_encoding_is_said_with_its_reversal() -> None:
    (note,) = [note for note in read_grid("n,m\nKöln,1\n".encode("cp1252")).notes if note.code == "encoding"]
    assert note.reversal == "--encoding NAME"
    assert "Windows-1252" in note.message


def test_a_given_encoding_is_obeyed() -> None:
    assert read_grid("n,m\nKöln,1\n".encode("cp1252"), encoding="cp1251").frame["c0"][0] == "Kцln"


def test_an_unknown_encoding_name_is_an_error() -> None:
    with pytest.raises(LoadError, match="No encoding is called 'klingon'"):
        read_grid(b"a,b\n1,2\n", encoding="klingon")


def test_nul_bytes_are_left_out_and_counted() -> None:
    grid = read_grid(b"a,b\n1\0,2\n3,\0\0x\n")
    assert grid.frame.rows() == [("1", "2"), ("3", "x")]
    assert [note.message for note in grid.notes if note.code == "nul_bytes"] == ["3 NUL characters left out."]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40, "not_text"),
        (b"\0\1\2\3" * 500, "not_text"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "not_text"),
        (b"<!DOCTYPE html>\n<html><body>Sign in, please</body></html>\n", "web_page"),
    ],
    ids=["png", "nul", "pdf", "html"],
)
def test_what_is_no_table_of_text_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(LoadError) as caught:
        read_grid(data)
    assert caught.value.issues[0].code == code
