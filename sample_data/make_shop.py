"""Make `shop/*.csv`: a small invented shop, written the way real exports are dirty.

Run `python sample_data/make_shop.py [FOLDER]`. The seed is fixed. `clean_tables()` gives the same four tables as
they should be read; the `*_text` functions below are all the dirt there is.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import polars as pl

HERE = Path(__file__).parent
SEED = 4711
CUSTOMERS, ORDERS = 300, 1500
Rows = list[dict[str, Any]]
Item = TypeVar("Item")

FIRST = [
    "Anna",
    "Ben",
    "Chloé",
    "David",
    "Elif",
    "Farid",
    "Grace",
    "Hiro",
    "Inés",
    "Jonas",
    "Kofi",
    "Lena",
    "Marco",
    "Nadia",
    "Olu",
    "Petra",
    "Quentin",
    "Rosa",
    "Søren",
    "Tara",
    "Uma",
    "Victor",
    "Wen",
    "Ximena",
    "Yusuf",
    "Zoë",
    "Amélie",
    "Bruno",
    "Carmen",
    "Dmitri",
]
LAST = [
    "Abbott",
    "Baker",
    "Chen",
    "Dupont",
    "Eriksen",
    "Fischer",
    "García",
    "Hughes",
    "Ivanov",
    "Jensen",
    "Kowalski",
    "López",
    "Müller",
    "Nguyen",
    "O'Brien",
    "Patel",
    "Quinn",
    "Rossi",
    "Schmidt",
    "Tanaka",
    "Ueda",
    "Vogel",
    "Walker",
    "Xu",
    "Young",
    "Zhang",
]
PLACES = (
    ("Boston", "MA", "02108"), ("Cambridge", "MA", "02139"), ("Hartford", "CT", "06103"), ("Newark", "NJ", "07102"),
    ("New York", "NY", "10001"), ("Brooklyn", "NY", "11201"), ("Philadelphia", "PA", "19103"), ("Atlanta", "GA", "30303"),
    ("Miami", "FL", "33130"), ("Chicago", "IL", "60601"), ("Dallas", "TX", "75201"), ("Austin", "TX", "78701"),
    ("Denver", "CO", "80202"), ("Phoenix", "AZ", "85003"), ("Los Angeles", "CA", "90012"), ("San Diego", "CA", "92101"),
    ("Portland", "OR", "97204"), ("Seattle", "WA", "98101"),
)  # fmt: skip
SEGMENTS = ("Consumer", "Consumer", "Consumer", "Small business", "Small business", "Corporate")
GOODS = {
    "Kitchen": ("Espresso machine", 64900), "Furniture": ("Oak desk", 124900), "Garden": ("Watering can", 2450),
    "Office": ("Fountain pen", 3800), "Outdoor": ("Two-person tent", 18900), "Toys": ("Wooden train", 3295),
}  # fmt: skip
MORE_GOODS = {
    "Kitchen": "Chef's knife:8900 Toaster:5900 Stock pot:7450 Salad bowl:2800 Grater:1495 Kettle:4990 Pepper mill:3650 Apron:2250 Cutting board:3400",
    "Furniture": "Bookcase:28900 Armchair:54900 Coffee table:23900 Stool:7900 Wardrobe:104900 Nightstand:12900 Bench:18400 Floor lamp:9800 Shelf, corner:6450",
    "Garden": "Rake:2990 Hose, 20 m:3990 Seed box:1250 Parasol:11900 Wheelbarrow:9450 Pruning shears:2790 Planter:3150 Bird bath:5400 Compost bin:7990",
    "Office": "Notebook:1290 Stapler:1850 Desk mat:3490 Label maker:4590 Paper, 500 sheets:890 Whiteboard:7900 Monitor arm:12900 Office chair:32900 Tape:450",
    "Outdoor": "Sleeping bag:9900 Headlamp:4250 Rain jacket:12900 Camp stove:6900 Water bottle:1950 Hiking poles:7450 Hammock:5490 Compass:2390 Dry bag:2850",
    "Toys": "Building blocks:4450 Puzzle, 1000 pieces:1990 Kite:2490 Yo-yo:790 Board game:3990 Plush bear:2195 Dominoes:1590 Ring toss:2650 Doll house:14900",
}
TAGS = ("gift", "new", "sale", "eco", "bulky", "bestseller")
STATUSES = ("Delivered",) * 13 + ("Shipped",) * 3 + ("Cancelled",) * 2 + ("Returned",) * 2
CHANNELS = ("Web", "Web", "Web", "Store", "Phone")
COUPONS = (None, None, None, None, "SPRING10", "WELCOME", "VIP")
COUPON_OFF = {"SPRING10": 0.10, "WELCOME": 0.05, "VIP": 0.15, None: 0.0}


class Dice:
    """Choices that use nothing but `Random.random`, whose stream Python keeps for a seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed).random

    def chance(self, odds: float) -> bool:
        return self.random() < odds

    def pick(self, items: Sequence[Item]) -> Item:
        return items[int(self.random() * len(items))]

    def whole(self, low: int, high: int) -> int:
        return low + int(self.random() * (high - low + 1))


def products(dice: Dice) -> Rows:
    rows: Rows = []
    for category, first in GOODS.items():
        goods = [first, *((name, int(cents)) for name, _, cents in _named(MORE_GOODS[category]))]
        for name, cents in goods:
            rows.append(
                {
                    "sku": f"{len(rows) * 37 + 101:05d}",
                    "product": name,
                    "category": category,
                    "unit_price": cents / 100,
                    "weight_kg": dice.whole(80, 600) / 10 if category == "Furniture" else dice.whole(2, 60) / 10,
                    "tags": "; ".join(tag for tag in TAGS if dice.chance(0.25)) or None,
                    "discontinued": dice.chance(0.15),
                }
            )
    return rows


def _named(text: str) -> list[tuple[str, str, str]]:
    """`Chef's knife:8900 Toaster:5900` → (name, ":", cents); names may hold spaces."""
    found, words = [], []
    for word in text.split(" "):
        name, colon, cents = word.partition(":")
        words.append(name)
        if colon:
            found.append((" ".join(words), colon, cents))
            words = []
    return found


def customers(dice: Dice) -> Rows:
    rows: Rows = []
    for number in range(1, CUSTOMERS + 1):
        first, last = dice.pick(FIRST), dice.pick(LAST)
        city, state, zip_code = dice.pick(PLACES)
        rows.append(
            {
                "customer_id": f"C{number:04d}",
                "name": f"{last}, {first}",
                "segment": dice.pick(SEGMENTS),
                "city": city,
                "state": state,
                "zip": zip_code,
                "joined": date(2021, 1, 4) + timedelta(days=dice.whole(0, 1090)),
                "newsletter": None if dice.chance(0.06) else dice.chance(0.55),
                "birth_year": None if dice.chance(0.2) else dice.whole(1946, 2004),
                "credit_limit": None if dice.chance(0.12) else dice.whole(2, 60) * 250.0,
            }
        )
    return rows


def orders(dice: Dice) -> Rows:
    """Orders run over 2023 and 2024 and grow. Some are by guests, five by customers who are no longer listed."""
    rows: Rows = []
    day = date(2023, 1, 2)
    for number in range(ORDERS):
        day = date(2023, 1, 2) + timedelta(days=int(729 * (number / ORDERS) ** 0.85))
        coupon = dice.pick(COUPONS)
        customer = f"C{dice.whole(1, CUSTOMERS):04d}"
        if dice.chance(0.02):
            customer = None
        elif number % 300 == 150:
            customer = f"C{901 + number // 300:04d}"
        rows.append(
            {
                "order_id": 50_001 + number,
                "customer_id": customer,
                "order_date": day,
                "status": dice.pick(STATUSES),
                "channel": dice.pick(CHANNELS),
                "coupon": coupon,
                "discount": COUPON_OFF[coupon],
                "shipping": dice.pick((0, 0, 495, 495, 995, 1995)) / 100,
                "gift_wrap": dice.chance(0.2),
                "paid": not dice.chance(0.07),
            }
        )
    return rows


def order_lines(dice: Dice, placed: Rows, goods: Rows) -> Rows:
    """One to five different products an order. A return is a second line with a negative amount."""
    rows: Rows = []
    for order in placed:
        chosen: list[dict[str, Any]] = []
        for _ in range(dice.pick((1, 1, 2, 2, 3, 3, 4, 5))):
            good = dice.pick(goods)
            if good not in chosen:
                chosen.append(good)
        lines = [(good, dice.pick((1, 1, 1, 2, 2, 3, 6))) for good in chosen]
        if order["status"] == "Returned":
            lines.append((lines[0][0], -lines[0][1]))
        for number, (good, quantity) in enumerate(lines, 1):
            price = round(good["unit_price"] * 100)
            rows.append(
                {
                    "order_id": order["order_id"],
                    "line": number,
                    "sku": good["sku"],
                    "quantity": quantity,
                    "unit_price": price / 100,
                    "amount": price * quantity / 100,
                }
            )
    return rows


def _rows() -> dict[str, Rows]:
    goods, people, placed = products(Dice(SEED)), customers(Dice(SEED + 1)), orders(Dice(SEED + 2))
    return {
        "customers": people,
        "orders": placed,
        "order_lines": order_lines(Dice(SEED + 3), placed, goods),
        "products": goods,
    }


def clean_tables() -> dict[str, pl.DataFrame]:
    """The four tables as they should be read: what a reader of the CSV files is measured against."""
    return {name: pl.DataFrame(rows, infer_schema_length=None) for name, rows in _rows().items()}


def money_text(dice: Dice, value: float) -> str:
    """$1,249.00, or ($49.00) when negative; now and then a blank after the sign."""
    text = f"{abs(value):,.2f}"
    text = f"$ {text}" if dice.chance(0.04) else f"${text}"
    return f"({text})" if value < 0 else text


def date_text(dice: Dice, value: date) -> str:
    """Mostly ISO; from other hands US month-first (days past the 12th prove it) and `Mar 5, 2024`."""
    match dice.whole(1, 10):
        case 1 | 2:
            return f"{value.month:02d}/{value.day:02d}/{value.year}"
        case 3:
            return f"{value:%b} {value.day}, {value.year}"
        case _:
            return value.isoformat()


def yes_text(dice: Dice, value: bool) -> str:
    return dice.pick(("Yes", "yes", "Y", "TRUE", "True", "1") if value else ("No", "no", "N", "FALSE", "False", "0"))


def category_text(dice: Dice, value: str) -> str:
    """The value, or now and then its lower, upper or padded spelling."""
    return dice.pick((value,) * 7 + (value.lower(), value.upper(), f"{value} "))


def percent_text(dice: Dice, value: float) -> str:
    return f"{value:.0%}"


def missing_text(dice: Dice) -> str:
    return dice.pick(("", "", "N/A", "n/a", "-", "NULL"))


DIRT: dict[str, Callable[[Dice, Any], str]] = {
    "unit_price": money_text,
    "amount": money_text,
    "shipping": money_text,
    "credit_limit": money_text,
    "order_date": date_text,
    "joined": date_text,
    "newsletter": yes_text,
    "gift_wrap": yes_text,
    "paid": yes_text,
    "discontinued": yes_text,
    "category": category_text,
    "segment": category_text,
    "status": category_text,
    "channel": category_text,
    "discount": percent_text,
}


def dirty_text(rows: Rows, dice: Dice) -> str:
    """The CSV text of a table, dirt and all."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow(
            missing_text(dice) if value is None else DIRT.get(name, lambda _, kept: str(kept))(dice, value)
            for name, value in row.items()
        )
    return out.getvalue()


def write(folder: Path = HERE) -> list[Path]:
    """Write the four tables into the folder's `shop/`, UTF-8 with a byte order mark, as spreadsheets export them."""
    target = folder / "shop"
    target.mkdir(parents=True, exist_ok=True)
    paths = []
    for place, (name, rows) in enumerate(_rows().items()):
        path = target / f"{name}.csv"
        path.write_bytes(dirty_text(rows, Dice(SEED + 100 + place)).encode("utf-8-sig"))
        paths.append(path)
    return paths


if __name__ == "__main__":
    for written in write(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE):
        print(written)
