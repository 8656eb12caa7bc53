"""Turn bytes into text: a BOM, then proof by UTF-8, then the evidence of the letters themselves."""

from __future__ import annotations

import codecs
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from qa.data.table import Assumption
from qa.errors import Issue, LoadError


@dataclass(frozen=True)
class Decoded:
    """Text, the encoding it was read with, and what had to be assumed."""

    text: str
    encoding: str
    notes: tuple[Assumption, ...] = ()


BOMS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

REVERSAL = "--encoding NAME"


def decode(data: bytes, encoding: str | None = None) -> Decoded:
    """The text of a file. A given `encoding` is obeyed; bytes it cannot read become U+FFFD and are counted.

    Without one: BOM, UTF-16 by its NUL bytes, UTF-8 when it proves right, UTF-8 with single bytes of
    Windows-1252 in it when nearly all of it proves right, else the legacy encoding whose letters look most
    like words. Raises LoadError for an encoding name nobody knows.
    """
    if encoding is not None:
        return decode_as(data, encoding)
    for bom, name in BOMS:
        if data.startswith(bom):
            return decode_as(data, name)
    if (wide := _wide_without_bom(data)) is not None:
        return decode_as(data, wide)
    try:
        return _once(data.decode("utf-8"))
    except UnicodeDecodeError:
        pass
    mixed = _nearly_utf8(data)
    return mixed if mixed is not None else _legacy(data)


TWICE = re.compile("[^\x00-\x7f]+")
MARKS_OF_UTF8 = frozenset("ÂÃÄÅÐÑâã")
"""What the first bytes of UTF-8 letters look like when they are taken for Windows-1252."""


def _once(text: str) -> Decoded:
    """The text, its letters brought back when all of them were encoded twice (`CafÃ©` for `Café`)."""
    runs = TWICE.findall(text) if not text.isascii() and MARKS_OF_UTF8 & set(text) else []
    if len(runs) < 2 or not all(run[0] in MARKS_OF_UTF8 for run in runs):
        return Decoded(text, "utf-8")
    try:
        fixed = {run: _as_bytes(run).decode("utf-8") for run in set(runs)}
    except UnicodeError:
        return Decoded(text, "utf-8")
    if any("\ufffd" in letters for letters in fixed.values()):
        return Decoded(text, "utf-8")
    shown = next(f"{run!r} is {fixed[run]!r}" for run in runs)
    message = f"All {len(runs):,} letters beyond ASCII were encoded twice; they were read as they were meant: {shown}."
    note = Assumption(code="encoded_twice", column=None, message=message, damage=2, reversal="--encoding utf-8")
    return Decoded(TWICE.sub(lambda run: fixed[run[0]], text), "utf-8", (note,))


def _as_bytes(run: str) -> bytes:
    """The bytes behind letters of Windows-1252; its five holes stand for themselves."""
    return b"".join(char.encode("latin-1" if "\x80" <= char <= "\x9f" else "cp1252") for char in run)


def encoding_of(path: Path) -> Decoded:
    """The encoding of a big file and the notes on it, from its first bytes and every line that is not ASCII (to 4 MB).

    `text` of the result is that sample, not the file.
    """
    with path.open("rb") as file:
        head = file.read(1 << 16)
        if any(head.startswith(bom) for bom, _ in BOMS) or _wide_without_bom(head) is not None:
            return decode(head)
        file.seek(0)
        sample: list[bytes] = []
        size, rest = 0, b""
        while (block := file.read(1 << 22)) and size < SAMPLE:
            if not block.isascii():
                sample += [match[0] for match in LINE.finditer(rest + block)]
                size = sum(map(len, sample))
            rest = block[block.rfind(b"\n") + 1 :][-4096:]
    return decode(b"\n".join(sample))


def as_windows(error: UnicodeError) -> tuple[str, int]:
    """Codec error handler: bytes that are no UTF-8 read as Windows-1252."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error("as_windows", as_windows)


def decode_as(data: bytes, encoding: str) -> Decoded:
    try:
        name = codecs.lookup(encoding).name
        text = data.decode(name, errors="replace")
    except (LookupError, UnicodeError, ValueError) as error:
        raise LoadError(
            Issue("no_such_encoding", "", f"No encoding is called {encoding!r}.", "Try utf-8 or cp1252.")
        ) from error
    if not isinstance(text, str):
        raise LoadError(Issue("no_such_encoding", "", f"{encoding!r} is not a text encoding.", "Try utf-8 or cp1252."))
    bad = text.count("\ufffd") - (data.count(b"\xef\xbf\xbd") if name == "utf-8" else 0)
    notes = (_bad_bytes(bad, name, "read as \ufffd"),) if bad > 0 else ()
    return Decoded(text.removeprefix("\ufeff"), name, notes)


def _bad_bytes(count: int, encoding: str, how: str) -> Assumption:
    what = "byte that is" if count == 1 else "bytes that are"
    return Assumption(
        code="bad_bytes", column=None, message=f"{count:,} {what} not {encoding} {how}.", damage=2, reversal=REVERSAL
    )


def _wide_without_bom(data: bytes) -> str | None:
    head = data[: 1 << 16]
    if len(head) < 4 or b"\0" not in head:
        return None
    pairs = len(head) // 2
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if odd > pairs * 0.4 and even < pairs * 0.05:
        return "utf-16-le"
    if even > pairs * 0.4 and odd < pairs * 0.05:
        return "utf-16-be"
    return None


BAD_BYTE = re.compile("[\udc80-\udcff]+")
WHOLE = re.compile("[^\x00-\x7f]")


def _nearly_utf8(data: bytes) -> Decoded | None:
    """UTF-8 with stray bytes in it: whole sequences hardly ever come about by chance, so they outweigh the strays."""
    text = data.decode("utf-8", errors="surrogateescape")
    runs = [len(run) for run in BAD_BYTE.findall(text)]
    bad = sum(runs)
    good = len(WHOLE.findall(text)) - bad
    cut = bad <= 3 and len(data) > 64 and BAD_BYTE.fullmatch(text[-bad:]) is not None and data[-bad] >= 0xC2
    lone = max(runs) == 1 and good >= max(3, bad / 4)
    signs = good >= 3 and all("\udc80" <= char <= "\udc9f" for run in BAD_BYTE.findall(text) for char in run)
    if good < max(bad, 2) and not lone and not signs and not (cut and good >= 1):
        return None
    fixed = BAD_BYTE.sub(lambda run: run[0].encode("utf-8", "surrogateescape").decode("cp1252", "replace"), text)
    return Decoded(fixed, "utf-8", (_bad_bytes(bad, "UTF-8", "read as Windows-1252"),))


def _legacy(data: bytes) -> Decoded:
    head = data if len(data) <= SAMPLE or data[:SAMPLE].isascii() else data[:SAMPLE]
    words = b" ".join(match[0] for match in itertools.islice(WORD.finditer(head), 20_000))
    lines = b"\n".join(match[0] for match in itertools.islice(LINE.finditer(head), 2_000))
    doubt = 0.6 / (1 + len(HIGH.findall(words)))
    scored = sorted(
        (
            (rate(lines if codec in WIDE else words) - (0 if codec == USUAL else doubt), -rank, codec)
            for rank, (codec, rate) in enumerate(CANDIDATES)
        ),
        reverse=True,
    )
    best = scored[0][2]
    codec = best if _reads(data, best) else USUAL
    if best not in WIDE and EURO_OF_LATIN_9.search(data) and not C1.search(data):
        codec = "iso8859_15"
    text = data.decode(codec, errors="replace")
    runner_up = next(name for _, _, name in scored if name != codec)
    message = f"The file is not UTF-8; its letters read best as {LABELS.get(codec, codec)} (next: {LABELS.get(runner_up, runner_up)})."
    notes = [Assumption(code="encoding", column=None, message=message, damage=1, reversal=REVERSAL)]
    if unread := text.count("\ufffd"):
        notes.append(_bad_bytes(unread, codec, "read as \ufffd"))
    return Decoded(text, codec, tuple(notes))


def _reads(data: bytes, encoding: str) -> bool:
    text = data.decode(encoding, errors="replace")
    return text.count("\ufffd") <= len(text) // 1000


EURO_OF_LATIN_9 = re.compile(rb"\d ?\xa4|\xa4 ?\d|[(\[]\xa4[)\]]")
"""The euro sign of ISO 8859-15 beside an amount; no other encoding has a sign of money there."""
C1 = re.compile(rb"[\x80-\x9f]")
SAMPLE = 4 << 20
USUAL = "cp1252"
WIDE = frozenset({"gb18030", "big5", "cp949", "cp932", "euc_jp"})
HIGH = re.compile(rb"[\x80-\xff]")
LINE = re.compile(rb"[^\r\n]*[\x80-\xff][^\r\n]*")
WORD = re.compile(rb"[A-Za-z0-9\x80-\xff]*[\x80-\xff][A-Za-z0-9\x80-\xff]*")
LABELS = {"cp1252": "Windows-1252", "cp1250": "Windows-1250", "cp1251": "Windows-1251", "cp1253": "Windows-1253",
          "cp1254": "Windows-1254", "cp1257": "Windows-1257", "iso8859_15": "ISO 8859-15", "cp932": "Shift JIS", "cp949": "EUC-KR"}  # fmt: skip

SIGNS = frozenset("€£¥°±§µ½¼¾²³©®™–—‘’“”„…«»•·×÷¿¡ºª№\u00a0")
LANGUAGES: dict[str, tuple[str, ...]] = {
    "cp1252": ("äöüß", "éèêëàâçîïôûùüœæ", "áéíóúüñ", "áâãàçéêíóôõúü", "àèéìòóù", "åäöæøé", "éëïóöüèç", "áéíóúýþæðö"),
    "cp1250": ("ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "ăâîşţ", "čćđšž", "äöüß"),
    "cp1254": ("çğıöşüâîûi",),
    "cp1257": ("āčēģīķļņšūž", "ąčęėįšųūž", "äöüõšž"),
}
"""The accented letters of the languages that each encoding is for, one text a language."""
LANGUAGES |= dict.fromkeys(("mac_roman", "cp850"), LANGUAGES["cp1252"])
CYRILLIC = (frozenset("оеаинтсрвлкмдпуяыьгзбчіїє"), frozenset("аеёиоуыэюяіїє"))
GREEK = (frozenset("αοιετσςνηυρπκμλίάόήύέώ"), frozenset("αεηιουωάέήίόύώ"))
"""The frequent letters of an alphabet, and its vowels."""


CYRILLIC_BLOCK, GREEK_BLOCK = ("\u0400", "\u04ff"), ("\u0370", "\u03ff")


def _rate_latin(codec: str, shift: float = 0.0) -> Callable[[bytes], float]:
    """How word-like the accented letters are: +1 for a letter of the language that fits best, -2 for what no word holds."""
    languages = [frozenset(letters) for letters in LANGUAGES[codec]]
    every = frozenset().union(*languages)

    def rate(sample: bytes) -> float:
        text = sample.decode(codec, errors="replace")
        letters = Counter(char for char in text.lower() if char >= "\x80" and char.isalpha())
        best = max(languages, key=lambda language: sum(count for char, count in letters.items() if char in language))
        return _mean(text, lambda before, char, after: _latin_char(before, char, after, best, every)) + shift

    return rate


def _mean(text: str, worth: Callable[[str, str, str], float]) -> float:
    """The mean worth of the non-ASCII characters, each seen with its neighbours; long runs of Latin accents cost."""
    padded = f" {text} "
    total, count = 0.0, 0
    for before, char, after in zip(padded, text, padded[2:], strict=False):
        if char >= "\x80":
            count += 1
            total += worth(before, char, after)
    return total / max(count, 1)


def _latin_char(before: str, char: str, after: str, language: frozenset[str], every: frozenset[str]) -> float:
    if char in SIGNS:
        return 0.6
    if not char.isalpha():
        return -2.0 if unicodedata.category(char) in ("Cc", "Cn", "Co", "So") else -0.5
    if char.isupper() and before.islower():
        return -1.5
    if before.isdigit() or after.isdigit():
        return -0.8
    if char == "õ" and after != "e":  # Portuguese has it only before e; a Hungarian ő read wrongly stands anywhere.
        return 0.5
    if not before.isalpha() and not after.isalpha():
        return 0.2 if char.isupper() else 0.4
    lower = char.lower()[0]
    rare = 0.2 if lower in "þðý" else 0.0
    crowd = 0.6 if before >= "\x80" and after >= "\x80" and before.isalpha() and after.isalpha() else 0.0
    return (1.0 if lower in language else 0.5 if lower in every else -0.3) - crowd - rare


def _rate_script(
    codec: str, letters: tuple[frozenset[str], frozenset[str]], block: tuple[str, str]
) -> Callable[[bytes], float]:
    """The same for an alphabet of its own: frequent letters and vowels between consonants count, mixing with Latin does not."""
    common, vowels = letters

    def worth(before: str, char: str, after: str) -> float:
        if char in SIGNS:
            return 0.4
        alone = not before.isalpha() and not after.isalpha()
        if not block[0] <= char <= block[1] or before.isdigit() or after.isdigit() or alone:
            return -1.0
        if (
            (char.isupper() and before.islower())
            or (before.isascii() and before.isalpha())
            or (after.isascii() and after.isalpha())
        ):
            return -1.5
        return 1.1 if char.lower() in common else 0.3

    def rate(sample: bytes) -> float:
        text = sample.decode(codec, errors="replace")
        own = [char for char in text.lower() if block[0] <= char <= block[1] and char.isalpha()]
        share = sum(char in vowels for char in own) / max(len(own), 1)
        return _mean(text, worth) - (0 if 0.2 < share < 0.7 else 0.6)

    return rate


FREQUENT_HAN = frozenset(
    "的一是不了人在有我他这中大来上国年名城市区公司时日月地为和个数量金额价格单位编号姓男女北京海广州东西南年份产品客户"
)
FREQUENT_HAN_OLD = frozenset(
    "的一是不了人在有我他這中大來上國年名城市區公司時日月地為和個數量金額價格單位編號姓男女臺北灣產品客戶"
)
FREQUENT_HANGUL = frozenset("이다의는에을를가은로고하지서한도시인기사대구국어수정부일자리과동원명번호제품금액")


def _rate_wide(codec: str, usual: Callable[[str], bool], frequent: frozenset[str]) -> Callable[[bytes], float]:
    """For two-byte encodings: the share of usual characters, and nothing at all if a pair does not decode."""

    def rate(sample: bytes) -> float:
        text = sample.decode(codec, errors="replace")
        chars = [char for char in text if char >= "\x80"]
        if not chars or text.count("\ufffd") > len(chars) // 50:
            return -9.0
        good = sum(1.0 if usual(char) else -1.0 for char in chars) / len(chars)
        known = sum(char in frequent for char in chars) / len(chars)
        mixed = sum(
            (a >= "\x80") != (b >= "\x80") and ((a.isascii() and a.isalpha()) or (b.isascii() and b.isalpha()))
            for a, b in itertools.pairwise(text)
        )
        return good + 2 * known - 0.25 - mixed / len(chars)

    return rate


def _first_plane(codec: str, low: int, high: int) -> Callable[[str], bool]:
    def usual(char: str) -> bool:
        raw = char.encode(codec, errors="replace")
        return (len(raw) == 2 and low <= raw[0] <= high) or char in "，。、；：？！（）「」『』《》～・ー　％／－＋"

    return usual


def _japanese(char: str) -> bool:
    raw = char.encode("cp932", errors="replace")
    return "\u3040" <= char <= "\u30ff" or (len(raw) == 2 and 0x88 <= raw[0] <= 0x97) or char in "、。・「」（）％／　"


KANA = frozenset(chr(code) for code in range(0x3041, 0x30FF))


def _korean(char: str) -> bool:
    raw = char.encode("euc_kr", errors="replace")
    return len(raw) == 2 and 0xB0 <= raw[0] <= 0xC8


CANDIDATES: tuple[tuple[str, Callable[[bytes], float]], ...] = (
    ("cp1252", _rate_latin("cp1252", 0.05)),
    ("cp1250", _rate_latin("cp1250")),
    ("cp1254", _rate_latin("cp1254")),
    ("cp1257", _rate_latin("cp1257")),
    ("cp1251", _rate_script("cp1251", CYRILLIC, CYRILLIC_BLOCK)),
    ("koi8_r", _rate_script("koi8_r", CYRILLIC, CYRILLIC_BLOCK)),
    ("cp866", _rate_script("cp866", CYRILLIC, CYRILLIC_BLOCK)),
    ("cp1253", _rate_script("cp1253", GREEK, GREEK_BLOCK)),
    ("mac_roman", _rate_latin("mac_roman", -0.1)),
    ("cp850", _rate_latin("cp850", -0.1)),
    ("gb18030", _rate_wide("gb18030", _first_plane("gbk", 0xB0, 0xD7), FREQUENT_HAN)),
    ("big5", _rate_wide("big5", _first_plane("big5", 0xA4, 0xC6), FREQUENT_HAN_OLD)),
    ("cp949", _rate_wide("cp949", _korean, FREQUENT_HANGUL)),
    ("cp932", _rate_wide("cp932", _japanese, KANA)),
    ("euc_jp", _rate_wide("euc_jp", _japanese, KANA)),
)
