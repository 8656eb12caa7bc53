"""What an xlsx file says beside its cells: hidden sheets, rows and columns, merged cells, number formats, stray cells."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from qa.types import Role

_MOST_XML = 300_000_000
_STYLED_ROWS = 400
_GAP = 5_000
_FAR_COLUMN = 2_000
_DENSE_MOST = 40_000_000
_ROW = re.compile(rb"<(?:\w+:)?row\b([^>]*)>")
_NUMBER = re.compile(rb'\br="(\d+)"')
_HIDDEN = re.compile(rb'\bhidden="(?:1|true)"')
_MERGE = re.compile(rb'<(?:\w+:)?mergeCell\s+[^>]*ref="([A-Z]+)(\d+):([A-Z]+)(\d+)"')
_COL = re.compile(rb"<(?:\w+:)?col\b([^>]*)/?>")
_CELL = re.compile(rb'<(?:\w+:)?c\b[^>]*?\br="([A-Z]+)(\d+)"[^>]*?\bs="(\d+)"')
_WIDE_CELL = re.compile(rb'\br="([A-Z]{3})(\d+)"')
_CURRENCIES = (
    ("€", "EUR"),
    ("£", "GBP"),
    ("¥", "JPY"),
    ("₹", "INR"),
    ("USD", "USD"),
    ("EUR", "EUR"),
    ("GBP", "GBP"),
    ("CHF", "CHF"),
    ("$", "USD"),
)
_BUILT_IN = {
    5: "$#,##0",
    6: "$#,##0",
    7: "$#,##0.00",
    8: "$#,##0.00",
    9: "0%",
    10: "0.00%",
    37: "#,##0",
    44: "$#,##0.00",
}


@dataclass(frozen=True)
class SheetFacts:
    """Facts of one sheet; rows and columns count from 0. `facts` are roles that number formats state, by column."""

    hidden_rows: tuple[int, ...] = ()
    hidden_columns: tuple[int, ...] = ()
    merges: tuple[tuple[int, int, int, int], ...] = ()
    """(first row, first column, last row, last column)"""
    facts: dict[int, tuple[Role, str]] = field(default_factory=dict)
    stray: tuple[str, ...] = ()
    """addresses of lonely cells far from the table"""
    last_row: int = 0
    last_column: int = 0


@dataclass(frozen=True)
class Book:
    """Facts of a workbook by sheet name. `data` is the file without its stray cells when it had to be rewritten."""

    sheets: dict[str, SheetFacts]
    base_1904: bool = False
    data: bytes | None = None


NOTHING = Book({})


def book_facts(path: Path) -> Book:
    """The facts of an xlsx or xlsm file; nothing for any other kind of workbook."""
    try:
        with zipfile.ZipFile(path) as archive:
            if "xl/workbook.xml" not in archive.namelist():
                return NOTHING
            return _facts(archive, path)
    except (zipfile.BadZipFile, ElementTree.ParseError, KeyError, ValueError, OSError, NotImplementedError, zlib.error):
        return NOTHING


def _facts(archive: zipfile.ZipFile, path: Path) -> Book:
    root = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    properties = next((element for element in root.iter() if element.tag.endswith("}workbookPr")), None)
    base_1904 = properties is not None and properties.get("date1904") in ("1", "true")
    targets = _targets(archive)
    formats = _formats(archive)
    sheets: dict[str, SheetFacts] = {}
    rewritten: dict[str, bytes] = {}
    for element in root.iter():
        if not element.tag.endswith("}sheet"):
            continue
        part = targets.get(next((value for key, value in element.attrib.items() if key.endswith("}id")), ""), "")
        if part not in archive.namelist() or archive.getinfo(part).file_size > _MOST_XML:
            continue
        xml = archive.read(part)
        facts, shorter = _sheet(xml, formats)
        sheets[element.get("name", "")] = facts
        if shorter is not None:
            rewritten[part] = shorter
    return Book(sheets, base_1904, _rewritten(archive, rewritten) if rewritten else None)


def _targets(archive: zipfile.ZipFile) -> dict[str, str]:
    """Relation id -> part name of the sheets."""
    root = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    result = {}
    for relation in root:
        target = relation.get("Target", "")
        result[relation.get("Id", "")] = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    return result


def _formats(archive: zipfile.ZipFile) -> dict[int, str]:
    """Cell style index -> number format."""
    if "xl/styles.xml" not in archive.namelist():
        return {}
    root = ElementTree.fromstring(archive.read("xl/styles.xml"))
    codes = dict(_BUILT_IN)
    styles: dict[int, str] = {}
    for element in root.iter():
        if element.tag.endswith("}numFmt") and (number := element.get("numFmtId", "")).isdigit():
            codes[int(number)] = element.get("formatCode", "")
        if element.tag.endswith("}cellXfs"):
            for index, style in enumerate(element):
                code = codes.get(int(style.get("numFmtId", "0")), "")
                if code:
                    styles[index] = code
    return styles


def _sheet(xml: bytes, formats: dict[int, str]) -> tuple[SheetFacts, bytes | None]:
    rows = [
        (match.start(), int(number.group(1)), match.group(1))
        for match in _ROW.finditer(xml)
        if (number := _NUMBER.search(match.group(1)))
    ]
    xml_rows, stray, shorter = _without_stray(xml, rows)
    hidden = tuple(number - 1 for _, number, attributes in xml_rows if _HIDDEN.search(attributes))
    merges = tuple(
        (int(r1) - 1, column_number(c1), int(r2) - 1, column_number(c2)) for c1, r1, c2, r2 in _MERGE.findall(xml)
    )
    columns: list[int] = []
    for match in _COL.finditer(xml[: rows[0][0]] if rows else xml):
        text = match.group(1)
        if _HIDDEN.search(text):
            low, high = (
                int(found.group(1)) if (found := re.search(rb'\b%s="(\d+)"' % key, text)) else 0
                for key in (b"min", b"max")
            )
            columns += range(low - 1, min(high, low + 200))
    facts = _format_facts(xml, rows, formats)
    return SheetFacts(hidden, tuple(columns), merges, facts, tuple(stray), xml_rows[-1][1] if xml_rows else 0), shorter


def _without_stray(
    xml: bytes, rows: list[tuple[int, int, bytes]]
) -> tuple[list[tuple[int, int, bytes]], list[str], bytes | None]:
    """Cut lonely rows far below and cells far to the right, which would make a reader set aside a vast empty grid."""
    stray: list[str] = []
    shorter = None
    for index in range(1, len(rows)):
        if rows[index][1] - rows[index - 1][1] > _GAP and len(rows) - index <= 20:
            end = xml.find(b"sheetData>", rows[index][0])
            end = xml.rfind(b"</", 0, end) if end > 0 else len(xml)
            stray += [
                f"{c.decode()}{r.decode()}" for c, r in re.findall(rb'\br="([A-Z]+)(\d+)"', xml[rows[index][0] : end])
            ]
            xml = shorter = xml[: rows[index][0]] + xml[end:]
            rows = rows[:index]
            break
    far = [match for match in _WIDE_CELL.finditer(xml) if column_number(match.group(1)) >= _FAR_COLUMN]
    if far and len(far) <= 20 and len(rows) * column_number(b"XFD") > 1_000_000:
        for match in reversed(far):
            start = xml.rfind(b"<", 0, match.start())
            end = _cell_end(xml, match.end())
            stray.append(f"{match.group(1).decode()}{match.group(2).decode()}")
            xml = shorter = xml[:start] + xml[end:]
    return rows, stray, shorter


def _cell_end(xml: bytes, at: int) -> int:
    close = xml.find(b">", at)
    if xml[close - 1 : close] == b"/":
        return close + 1
    end = re.compile(rb"</(?:\w+:)?c>").search(xml, close)
    return end.end() if end else close + 1


def _format_facts(
    xml: bytes, rows: list[tuple[int, int, bytes]], formats: dict[int, str]
) -> dict[int, tuple[Role, str]]:
    """Percent and currency formats that a column's cells have throughout the first rows."""
    if not formats or not rows:
        return {}
    end = rows[_STYLED_ROWS][0] if len(rows) > _STYLED_ROWS else len(xml)
    seen: dict[int, list[tuple[Role, str] | None]] = {}
    for column, _, style in _CELL.findall(xml[:end]):
        seen.setdefault(column_number(column), []).append(_stated(formats.get(int(style), "")))
    result = {}
    for column, found in seen.items():
        known = [fact for fact in found if fact is not None]
        if known and len(set(known)) == 1 and len(known) >= 0.6 * len(found):
            result[column] = known[0]
    return result


def _stated(code: str) -> tuple[Role, str] | None:
    plain = re.sub(r"\[\$([^\]-]*)[^\]]*\]", r"\1", code)
    if "%" in plain:
        return Role.PERCENT, "fraction"
    return next(((Role.CURRENCY, currency) for sign, currency in _CURRENCIES if sign in plain), None)


def column_number(letters: bytes) -> int:
    """`A` is 0, `AA` is 26."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number - 1


def _rewritten(archive: zipfile.ZipFile, parts: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
        for entry in archive.infolist():
            target.writestr(entry.filename, parts.get(entry.filename) or archive.read(entry))
    return out.getvalue()
