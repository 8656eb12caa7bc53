"""Finds the columns whose digits name a thing: zero-padded codes, long numbers, phone and postal codes."""

from __future__ import annotations

import re

import polars as pl

from qa.data.extremes import largest, smallest
from qa.data.words import Words

_POSTAL = re.compile(
    r"(^|[^a-z])(zip|zipcode|zip code|postcode|post code|postal|postal code|postalcode|plz|postleitzahl|cep|pincode|pin code|eircode)([^a-z]|$)|郵便番号|邮编",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(^|[^a-z])(phone|telephone|tel|mobile|cell|fax|ssn|social security|isbn|issn|ean|gtin|upc|barcode|iban|bic|swift|vin|imei|passport|card number|card no|cardnumber|"
    r"account number|account no|account nr|routing|sku|npi|ein|tax id|vat|mac|siret|siren|credit card|tracking|tracking number|tracking no|serial|"
    r"(?:part|item|article|artikel|material|batch|lot|model|product|drawing)[ _-]?(?:no|nr|number|num|code)\.?)([^a-z]|$)",
    re.IGNORECASE,
)
_ID = re.compile(
    r"(^|[^a-z])(id|ids|uuid|guid|key|pk)$|[a-z](Id|ID|Key)$|^(id|uuid|guid|pk)([^a-z]|$)|(^|[^a-z])(code|serial|ref|reference|ticket|invoice|order|isrc)[ _]?(id|no|nr|number|num|#)\.?$|^#$|^row$",
    re.IGNORECASE,
)
_VERSION = re.compile(r"(^|[^a-z])(version|versions|release|firmware|revision)([^a-z]|$)", re.IGNORECASE)
_ENDS_IN_CODE = re.compile(r"(^|[^a-z])codes?$", re.IGNORECASE)
POWER = r"^\d+[eE]\d+$"
"""`1E5`: a hundred thousand, or a code with a letter in it."""
_CUT = r"^\d(\.\d+)?[eE]\+\d{2}$"
_DIGITS_OR_CHECK = r"^\+?\d[\d -]*[\dxX]$"
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
LONGEST_NUMBER = 18
_LONG = 16


def named_id(name: str) -> bool:
    """Does a column's name call it an identifier?"""
    return _ID.search(name) is not None or _ID.search(_CAMEL.sub("_", name)) is not None


def named_code(name: str) -> bool:
    """Does a column's name promise codes made of digits (postal code, phone number, ISBN)?"""
    return any(words.search(name) is not None for words in (_POSTAL, _NAMED, _VERSION))


def names_things(name: str) -> bool:
    """Does a column's name say that its cells tell things apart (`part no`, `order id`, `store code`)?"""
    return named_id(name) or named_code(name) or _ENDS_IN_CODE.search(name) is not None


def cut_ids(words: Words, name: str) -> str | None:
    """The first of the long numbers that a spreadsheet shortened to `1.23457E+11`, in a column of ids; else None."""
    if not names_things(name):
        return None
    cut = words.values.filter(words.clean.str.contains(_CUT))
    return str(cut[0]) if len(cut) else None


def named_postal(name: str) -> bool:
    return _POSTAL.search(name) is not None


def why_text(words: Words, *, name: str) -> str | None:
    """Why a column of digits is text, with an example; None when nothing speaks against numbers."""
    if (why := _why_by_name(words, name)) is not None:
        return why
    clean = words.clean
    digits = clean.str.contains(r"^[+]?\d+$")
    if not digits.any():
        return None
    share = words.weight(digits) / max(words.rows, 1)
    if share < 0.5:
        return None
    padded = clean.str.contains(r"^0\d+$")
    only_marks = clean.filter(~digits).str.contains(r"^[-+]?[\d., ]*[.,]\d+$").any()
    if padded.any() and not only_marks and not _all_zero(clean.filter(padded)):
        return f"codes with leading zeros such as {clean.filter(padded)[0]!r}"
    if named_code(name) and share > 0.8 and not only_marks:
        return f"{name!r} promises codes, which are not added up"
    lengths = clean.filter(digits).str.strip_chars_start("+").str.len_bytes()
    longest = int(largest(lengths) or 0)
    if longest > LONGEST_NUMBER:
        return f"numbers of {longest} digits, more than a number can hold exactly"
    if longest >= _LONG and int(smallest(lengths) or 0) >= _LONG - 3:
        return f"all have {longest} digits" if lengths.n_unique() == 1 else f"numbers of up to {longest} digits"
    plus = clean.str.contains(r"^\+\d{7,}$")
    if words.weight(plus) > 0.5 * words.rows:
        return f"phone numbers such as {clean.filter(plus)[0]!r}"
    return None


def _why_by_name(words: Words, name: str) -> str | None:
    """Why a column is text by what its name promises and its cells keep: versions, codes like `1E5`, check letters."""
    clean = words.clean
    if _VERSION.search(name) and words.weight(clean.str.contains(r"^[vV]?\d+(\.\d+)+")) > 0.5 * words.rows:
        return f"versions such as {clean[0]!r}"
    if not names_things(name):
        return None
    coded = clean.str.contains(POWER) | clean.str.contains(_CUT)
    if coded.any():
        return f"codes such as {clean.filter(coded)[0]!r}"
    checked = clean.str.contains(_DIGITS_OR_CHECK)
    if clean.str.contains("^\\d[\\d -]*[xX]$").any() and words.weight(checked) > 0.8 * words.rows:
        return f"{name!r} promises codes, which are not added up"
    return None


def _all_zero(padded: pl.Series) -> bool:
    return bool((padded.str.strip_chars("0") == "").all())
