"""Currencies, units of measure and magnitudes that stand before or after a number."""

from __future__ import annotations

from dataclasses import dataclass

SYMBOLS = {
    "$": "USD",
    "us$": "USD",
    "€": "EUR",
    "£": "GBP",
    "¥": "JPY",
    "₹": "INR",
    "₽": "RUB",
    "₩": "KRW",
    "₪": "ILS",
    "₫": "VND",
    "₺": "TRY",
    "₴": "UAH",
    "₦": "NGN",
    "₱": "PHP",
    "฿": "THB",
    "r$": "BRL",
    "a$": "AUD",
    "c$": "CAD",
    "ca$": "CAD",
    "au$": "AUD",
    "hk$": "HKD",
    "nz$": "NZD",
    "s$": "SGD",
    "mx$": "MXN",
    "kr": "kr",
    "kr.": "kr",
    "zł": "PLN",
    "kč": "CZK",
    "ft": "HUF",
    "fr.": "CHF",
    "sfr.": "CHF",
    "rs": "INR",
    "rs.": "INR",
    "лв": "BGN",
    "руб": "RUB",
    "руб.": "RUB",
    "dm": "DEM",
    "円": "JPY",
    "元": "CNY",
    "¢": "US cent",
    "euro": "EUR",
    "euros": "EUR",
    "dollar": "USD",
    "dollars": "USD",
    "pounds sterling": "GBP",
    "yen": "JPY",
    "rupees": "INR",
}
CODES = frozenset(
    [
        "USD",
        "EUR",
        "GBP",
        "JPY",
        "CHF",
        "CNY",
        "RMB",
        "INR",
        "AUD",
        "CAD",
        "NZD",
        "SEK",
        "NOK",
        "DKK",
        "ISK",
        "PLN",
        "CZK",
        "HUF",
        "RON",
        "BGN",
        "HRK",
        "RUB",
        "UAH",
        "TRY",
        "ILS",
        "AED",
        "SAR",
        "QAR",
        "KWD",
        "BHD",
        "OMR",
        "EGP",
        "MAD",
        "TND",
        "ZAR",
        "NGN",
        "KES",
        "GHS",
        "BRL",
        "MXN",
        "ARS",
        "CLP",
        "COP",
        "PEN",
        "UYU",
        "KRW",
        "TWD",
        "HKD",
        "SGD",
        "MYR",
        "THB",
        "IDR",
        "PHP",
        "VND",
        "PKR",
        "BDT",
        "LKR",
        "NPR",
        "KZT",
        "DEM",
        "FRF",
        "ITL",
        "ESP",
        "BTC",
        "ETH",
    ]
)

MAGNITUDES = {
    "k": 1e3,
    "tsd": 1e3,
    "tsd.": 1e3,
    "thousand": 1e3,
    "m": 1e6,
    "mm": 1e6,
    "mn": 1e6,
    "mio": 1e6,
    "mio.": 1e6,
    "mln": 1e6,
    "million": 1e6,
    "millions": 1e6,
    "b": 1e9,
    "bn": 1e9,
    "mrd": 1e9,
    "mrd.": 1e9,
    "billion": 1e9,
    "billions": 1e9,
    "t": 1e12,
    "tn": 1e12,
    "trillion": 1e12,
    "lakh": 1e5,
    "lakhs": 1e5,
    "crore": 1e7,
    "crores": 1e7,
    "cr": 1e7,
}
PLAIN_MAGNITUDES = frozenset(
    {
        "k",
        "thousand",
        "million",
        "millions",
        "billion",
        "billions",
        "bn",
        "mln",
        "mio",
        "mio.",
        "mrd",
        "mrd.",
        "tsd",
        "tsd.",
        "trillion",
        "lakh",
        "lakhs",
        "crore",
        "crores",
    }
)
"""Magnitudes that are no unit of measure, so they need no currency beside them."""


@dataclass(frozen=True)
class Unit:
    """A unit of measure: its usual sign, what it measures, and `base = value * factor + offset`."""

    sign: str
    dimension: str
    factor: float
    offset: float = 0.0


def _units() -> dict[str, Unit]:
    rows = [
        ("mass", "mg", 1e-6, "mg milligram milligrams"),
        ("mass", "g", 1e-3, "g gr gram grams gramm gramme grammes"),
        ("mass", "kg", 1.0, "kg kgs kilo kilos kilogram kilograms kilogramm"),
        ("mass", "t", 1e3, "t tonne tonnes ton tons"),
        ("mass", "lb", 0.45359237, "lb lbs lb. lbs. pound pounds"),
        ("mass", "oz", 0.028349523125, "oz oz. ounce ounces"),
        ("length", "mm", 1e-3, "mm millimeter millimeters millimetre millimetres"),
        ("length", "cm", 1e-2, "cm centimeter centimeters centimetre centimetres"),
        ("length", "m", 1.0, "m meter meters metre metres mtr"),
        ("length", "km", 1e3, "km kms kilometer kilometers kilometre kilometres"),
        ("length", "in", 0.0254, 'in in. inch inches " ″'),
        ("length", "ft", 0.3048, "ft ft. foot feet"),
        ("length", "yd", 0.9144, "yd yds yard yards"),
        ("length", "mi", 1609.344, "mi mile miles"),
        ("length", "nmi", 1852.0, "nmi"),
        ("time", "ms", 1e-3, "ms msec millisecond milliseconds"),
        ("time", "s", 1.0, "s sec secs sec. second seconds sek"),
        ("time", "min", 60.0, "min mins min. minute minutes"),
        ("time", "h", 3600.0, "h hr hrs hr. hour hours std"),
        ("time", "days", 86400.0, "d day days tage"),
        ("time", "weeks", 604800.0, "wk wks week weeks"),
        ("calendar", "months", 1.0, "mo mos month months"),
        ("calendar", "years", 12.0, "y yr yrs yr. yrs. year years yo y/o y.o. jahre ans"),
        ("volume", "ml", 1e-3, "ml milliliter milliliters"),
        ("volume", "cl", 1e-2, "cl"),
        ("volume", "l", 1.0, "l ltr liter liters litre litres"),
        ("volume", "m³", 1e3, "m3 m³ cbm"),
        ("volume", "gal", 3.785411784, "gal gallon gallons"),
        ("area", "m²", 1.0, "m2 m² sqm qm"),
        ("area", "ha", 1e4, "ha hectare hectares"),
        ("area", "km²", 1e6, "km2 km²"),
        ("area", "sq ft", 0.09290304, "sqft sq.ft ft2 ft²"),
        ("area", "acres", 4046.8564224, "ac acre acres"),
        ("speed", "km/h", 1 / 3.6, "km/h kmh kph"),
        ("speed", "m/s", 1.0, "m/s"),
        ("speed", "mph", 0.44704, "mph"),
        ("speed", "kn", 1852 / 3600, "kn kt kts knots"),
        ("energy", "Wh", 1.0, "wh"),
        ("energy", "kWh", 1e3, "kwh"),
        ("energy", "MWh", 1e6, "mwh"),
        ("energy", "GWh", 1e9, "gwh"),
        ("power", "W", 1.0, "w watt watts"),
        ("power", "kW", 1e3, "kw"),
        ("power", "hp", 745.6998715822702, "hp bhp ps"),
        ("data", "B", 1.0, "bytes byte"),
        ("data", "KB", 1e3, "kb"),
        ("data", "MB", 1e6, "mb"),
        ("data", "GB", 1e9, "gb"),
        ("data", "TB", 1e12, "tb"),
        ("data", "KiB", 1024.0, "kib"),
        ("data", "MiB", 1024.0**2, "mib"),
        ("data", "GiB", 1024.0**3, "gib"),
        ("frequency", "Hz", 1.0, "hz"),
        ("frequency", "kHz", 1e3, "khz"),
        ("frequency", "MHz", 1e6, "mhz"),
        ("frequency", "GHz", 1e9, "ghz"),
        ("pressure", "hPa", 100.0, "hpa mbar"),
        ("pressure", "kPa", 1e3, "kpa"),
        ("pressure", "bar", 1e5, "bar"),
        ("pressure", "psi", 6894.757293168, "psi"),
        ("count", "pcs", 1.0, "pc pcs pcs. piece pieces stk stk. stück"),
        ("angle", "°", 1.0, "° deg degrees"),
        ("ratio", "x", 1.0, "x"),
        ("basis points", "bp", 1.0, "bp bps"),
        ("points", "pts", 1.0, "pt pts points"),
        ("fuel", "mpg", 1.0, "mpg"),
        ("energy food", "kcal", 1.0, "kcal cal"),
    ]
    table = {word: Unit(sign, dimension, factor) for dimension, sign, factor, words in rows for word in words.split()}
    table["sq ft"] = table["sqft"]
    for word in ("°c", "degc", "celsius", "deg c"):
        table[word] = Unit("°C", "temperature", 1.0)
    for word in ("°f", "degf", "fahrenheit", "deg f"):
        table[word] = Unit("°F", "temperature", 5 / 9, -160 / 9)
    return table


UNITS = _units()


def currency(word: str) -> str | None:
    """The code of a currency sign, name or code; None for any other word."""
    return SYMBOLS.get(word.casefold()) or (
        word.upper() if word.upper() in CODES and (word.isupper() or len(word) == 3) else None
    )


def unit(word: str) -> Unit | None:
    return UNITS.get(word.casefold()) or UNITS.get(word.casefold().rstrip("."))
