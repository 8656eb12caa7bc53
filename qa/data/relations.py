"""Which columns of different tables belong together: found from names, kinds and values, proven, and settled by people."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import polars as pl

from qa.data.draft import SHORT_WORDS, name_words
from qa.data.semantics import Relationship, Semantics
from qa.data.table import ColumnProfile, Facts, Table
from qa.plan.scope import folded
from qa.types import Column, Kind, Role

Cardinality = Literal["one_to_one", "many_to_one", "one_to_many", "many_to_many"]
Status = Literal["found", "confirmed", "rejected"]

SAMPLE = 1_000
"""Distinct values that are tried before a candidate is proven over all rows."""
FEW = 8
"""Fewer distinct values than this say nothing: 1, 2, 3 are contained in every column of numbers."""
SPARSE = 4
"""Whole numbers that reach over this many times their number are codes; closer ones may be mere row numbers."""
NAMED_MATCH = 0.5
UNNAMED_MATCH = 0.95
KEY_KINDS = frozenset({Kind.INTEGER, Kind.TEXT, Kind.DATE, Kind.DATETIME, Kind.BOOLEAN})
SINGLE_KINDS = frozenset({Kind.INTEGER, Kind.TEXT})


class Relation(Facts):
    """A link from a table to another whose columns are unique together there (or that a person confirmed).

    `cardinality` reads left to right. Counts are rows of the left table: `matched` have a row on the right,
    `orphans` have a key but no such row, `missing` have no key. `unused` are right keys that no left row names.
    """

    left: str
    left_columns: tuple[str, ...]
    right: str
    right_columns: tuple[str, ...]
    cardinality: Cardinality
    matched: int
    orphans: int
    missing: int
    unused: int
    score: float
    evidence: tuple[str, ...]
    status: Status = "found"

    @property
    def match_rate(self) -> float:
        """The share of left rows with a key that have a row on the right; 0 when no row has a key."""
        keyed = self.matched + self.orphans
        return self.matched / keyed if keyed else 0.0

    @property
    def on(self) -> list[str]:
        """The pairs as a join step writes them."""
        pairs = zip(self.left_columns, self.right_columns, strict=True)
        return [_quoted(a) if a == b else f"{_quoted(a)} = {_quoted(b)}" for a, b in pairs]

    def __str__(self) -> str:
        rate = f"{self.match_rate:.1%} of {self.matched + self.orphans:,} rows match"
        return f"{self.left} → {self.right} on {', '.join(self.on)} ({self.cardinality.replace('_', ' ')}; {rate})"


def _quoted(name: str) -> str:
    return name if name.isidentifier() else f"`{name}`"


def relationships(tables: Sequence[Table], known: Mapping[str, Semantics] | None = None) -> list[Relation]:
    """How the tables hang together, the surest first. Counts are exact, over all rows.

    `known` are semantic files by table name: what a person confirmed is proven and kept even when it would not have
    been found, what a person rejected comes last with its status. Only the best link between the same
    columns of one table and another is given.
    """
    by_name = {table.name: table for table in tables}
    settled = [_settled(table, link, by_name) for table in tables if known for link in _links(known, table.name)]
    decided = [relation for relation in settled if relation]
    done = {_pair(relation) for relation in decided} | {_pair(relation, turned=True) for relation in decided}
    found = []
    for left, right in itertools.permutations(tables, 2):
        found += [*_single(left, right), *_composite(left, right)]
    fresh = [relation for relation in _best(found) if _pair(relation) not in done]
    order = {"confirmed": 0, "found": 1, "rejected": 2}
    return sorted([*decided, *fresh], key=lambda r: (order[r.status], -r.score, r.left, r.right, r.left_columns))


def with_relation(semantics: Semantics, relation: Relation, *, confirmed: bool) -> Semantics:
    """The left table's semantic file with a person's word on a relation; an earlier word on it is replaced."""
    link = Relationship(
        columns=relation.left_columns, to=relation.right, to_columns=relation.right_columns, confirmed=confirmed
    )
    same = (link.columns, link.to, link.to_columns)
    others = tuple(old for old in semantics.relationships if (old.columns, old.to, old.to_columns) != same)
    return semantics.model_copy(update={"relationships": (*others, link)})


def proven(
    left: Table,
    left_columns: Sequence[str],
    right: Table,
    right_columns: Sequence[str],
    *,
    evidence: Iterable[str] = (),
    score: float = 0.0,
    status: Status = "found",
) -> Relation:
    """The relation with its counts, measured over all rows. Keys match as a join would match them."""
    names = [f"k{place}" for place in range(len(left_columns))]
    ours, theirs = (_keys(table, columns, names) for table, columns in ((left, left_columns), (right, right_columns)))
    counted, keyed = ours.group_by(names).len("n"), theirs.group_by(names).len("m")
    both = counted.join(keyed, on=names, how="full", coalesce=True)
    n, m = pl.col("n").cast(pl.Int64), pl.col("m").cast(pl.Int64)
    figures = both.select(
        matched=n.filter(m.is_not_null()).sum(),
        orphans=n.filter(m.is_null()).sum(),
        unused=(n.is_null() & m.is_not_null()).sum().cast(pl.Int64),
        most_left=n.max(),
        most_right=m.max(),
    ).collect()
    row = figures.row(0, named=True)
    one_left, one_right = (row["most_left"] or 0) <= 1, (row["most_right"] or 0) <= 1
    cardinality: Cardinality = (
        ("one_to_one" if one_right else "one_to_many") if one_left else ("many_to_one" if one_right else "many_to_many")
    )
    keyed_rows = row["matched"] + row["orphans"]
    says = list(evidence)
    if keyed_rows:
        says.append(
            f"{row['matched'] / keyed_rows:.1%} of the {keyed_rows:,} rows of {left.name} with a value have a row in {right.name}"
        )
    says.append(f"{', '.join(right_columns)} {'is' if one_right else 'is not'} unique in {right.name}")
    return Relation(
        left=left.name,
        left_columns=tuple(left_columns),
        right=right.name,
        right_columns=tuple(right_columns),
        cardinality=cardinality,
        matched=row["matched"],
        orphans=row["orphans"],
        missing=left.rows - keyed_rows,
        unused=row["unused"],
        score=round(score, 3),
        evidence=tuple(says),
        status=status,
    )


def _keys(table: Table, columns: Sequence[str], names: Sequence[str]) -> pl.LazyFrame:
    """The rows of the key columns that have a value in each; text is compared as text, whatever its coding."""
    chosen = [table.column(column) for column in columns]
    keys = [
        (pl.col(column.id).cast(pl.String) if column.kind is Kind.TEXT else pl.col(column.id)).alias(name)
        for column, name in zip(chosen, names, strict=True)
    ]
    return table.scan().select(keys).drop_nulls()


def _links(known: Mapping[str, Semantics], table: str) -> Sequence[Relationship]:
    return known[table].relationships if table in known else ()


def _settled(table: Table, link: Relationship, tables: Mapping[str, Table]) -> Relation | None:
    """A person's word with its counts; None when its columns are not there any more (drift says so)."""
    other = tables.get(link.to)
    there = {column.name for column in other.columns} if other else set()
    here = {column.name for column in table.columns}
    if (
        other is None
        or not set(link.columns) <= here
        or not set(link.to_columns) <= there
        or len(link.columns) != len(link.to_columns)
    ):
        return None
    kinds = zip(
        (table.column(c).kind for c in link.columns), (other.column(c).kind for c in link.to_columns), strict=True
    )
    if any(a is not b for a, b in kinds):
        return None
    word: Status = "confirmed" if link.confirmed else "rejected"
    return proven(table, link.columns, other, link.to_columns, evidence=[f"{word} by a person"], score=1.0, status=word)


def _pair(relation: Relation, *, turned: bool = False) -> tuple[str, tuple[str, ...], str, tuple[str, ...]]:
    ours, theirs = (relation.left, relation.left_columns), (relation.right, relation.right_columns)
    return (*theirs, *ours) if turned else (*ours, *theirs)


def _single(left: Table, right: Table) -> Iterator[Relation]:
    """Links of one column to a unique column of the other table."""
    for key in right.columns:
        there = right.profile.column(key.name)
        if not there.unique or key.kind not in SINGLE_KINDS or there.count < 2:
            continue
        for column in left.columns:
            here = left.profile.column(column.name)
            if column.kind is not key.kind or here.count == 0:
                continue
            likeness, why = name_likeness(column.name, right.name, key.name)
            if not likeness and not _telling(here, column, there):
                continue
            share = _sampled_share(left, column, right, key)
            if share < (NAMED_MATCH if likeness else UNNAMED_MATCH):
                continue
            relation = proven(left, [column.name], right, [key.name], evidence=why, score=0.5 * share + 0.5 * likeness)
            if relation.match_rate >= (NAMED_MATCH if likeness else UNNAMED_MATCH) and _right_way_round(
                relation, left, column
            ):
                yield relation


def _right_way_round(relation: Relation, left: Table, column: Column) -> bool:
    """Of two unique columns the one whose every value is in the other is the child; of equals, the later table."""
    if not left.profile.column(column.name).unique:
        return True
    if relation.unused == 0 and relation.orphans:
        return False
    return bool(relation.orphans or relation.unused) or relation.left > relation.right


def name_likeness(column: str, table: str, key: str) -> tuple[float, tuple[str, ...]]:
    """How much a column's name says that it means a key of another table, from 0 to 1, and in what words.

    `customer_id` means `customer_id` (1) and the `id` of `customers` (0.95), `ship_customer_id` less so (0.7).
    """
    ours, theirs = _words(column), _words(key)
    owner = [_singular(word) for word in _words(table)]
    bare = [word for word in theirs if word not in ("id", "key", "code", "no", "number", "nr")] == []
    named = [_singular(word) for word in ours]
    full = [*owner, *theirs]
    if ours == theirs and not bare:
        return 1.0, (f"both are called {column}",)
    if bare and owner and named in (full, [owner[-1], *theirs], owner, owner[-1:]):
        return 0.95, (f"{column} is named after {table}",)
    if not bare and len(theirs) > 1 and len(ours) > len(theirs) and ours[-len(theirs) :] == theirs:
        return 0.7, (f"{column} ends like {key}",)
    if bare and owner and len(named) > 2 and named[-1 - len(theirs) :] == [owner[-1], *theirs]:
        return 0.7, (f"{column} ends like a key of {table}",)
    if bare and owner and len(named) > len(owner) and named[-len(owner) :] == owner:
        return 0.6, (f"{column} ends like {table}",)
    return 0.0, ()


def _words(name: str) -> list[str]:
    """The words of a name; one in capitals alone is no camel case."""
    return list(name_words(folded(name) if name.isupper() else name))


def _singular(word: str) -> str:
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ses", "se"), ("s", "")):
        if word.endswith(ending) and len(word) > len(ending) + 2 and not word.endswith("ss"):
            return word[: len(word) - len(ending)] + instead
    return SHORT_WORDS.get(word, word) if word in ("cust", "emp", "prod", "dept") else word


def _telling(here: ColumnProfile, column: Column, there: ColumnProfile) -> bool:
    """Whether values alone may tell: codes in text or sparse ids, many of them, all within the bounds of the key."""
    if column.role in (Role.PERCENT, Role.YEAR) or not (column.kind is Kind.TEXT or _sparse_ids(here, there)):
        return False
    if (here.distinct < FEW and there.distinct < FEW) or here.distinct > there.distinct:
        return False
    inside = here.low is not None and there.low is not None and here.low >= there.low and here.high <= there.high
    return bool(inside) and here.distinct >= 3


def _sparse_ids(here: ColumnProfile, there: ColumnProfile) -> bool:
    """Numbers that are called ids on both sides and leave gaps: 1510, 1689, 1381 are no row numbers."""
    both = _words(here.name)[-1:] == ["id"] and _words(there.name)[-1:] == ["id"]
    if not both or not isinstance(there.low, int) or not isinstance(there.high, int):
        return False
    return there.distinct >= FEW and there.high - there.low >= SPARSE * there.distinct


def _sampled_share(left: Table, column: Column, right: Table, key: Column) -> float:
    """The share of some distinct values that are in the key: cheap, and enough to give up on most pairs."""
    if column.kind is Kind.TEXT:
        ours, theirs = left.distinct(column.id), set(right.distinct(key.id))
        step = max(1, len(ours) // SAMPLE)
        some = ours[::step]
        return sum(value in theirs for value in some) / len(some) if some else 0.0
    values = left.scan().select(pl.col(column.id).drop_nulls().unique().sort()).collect().to_series()
    some_numbers = values.gather_every(max(1, len(values) // SAMPLE))
    keys = right.scan().select(pl.col(key.id).drop_nulls()).collect().to_series()
    return float(some_numbers.is_in(keys.implode()).mean() or 0.0)  # type: ignore[arg-type]


def _composite(left: Table, right: Table) -> Iterator[Relation]:
    """A link of two or three columns of the same names that are unique together in the other table."""
    names = {column.name: column for column in right.columns if column.kind in KEY_KINDS}
    shared = [
        c.name
        for c in left.columns
        if c.name in names and names[c.name].kind is c.kind and names[c.name].zone == c.zone
    ]
    if len(shared) < 2 or any(right.profile.column(name).unique for name in shared) or right.rows < 2:
        return
    for size in (2, 3):
        best = None
        for columns in itertools.combinations(shared[:8], size):
            if _unique_together(right, columns):
                relation = proven(
                    left, columns, right, columns, evidence=[f"both have {' and '.join(columns)}"], score=0.9
                )
                better = best is None or relation.match_rate > best.match_rate
                best = relation if better and relation.match_rate >= NAMED_MATCH else best
        if best is not None:
            if best.cardinality in ("many_to_one", "one_to_one"):
                yield best
            return


def _unique_together(table: Table, names: Sequence[str]) -> bool:
    """Whether no two rows with values in all the columns share them. Counts of distinct values rule most sets out."""
    product = 1
    for name in names:
        product *= max(1, table.profile.column(name).distinct)
    ids = [table.column(name).id for name in names]
    if product < table.rows - max(table.profile.column(name).missing for name in names):
        return False
    rows = table.scan().select(ids).drop_nulls()
    return bool(rows.select((pl.struct(ids).n_unique() == pl.len()) & (pl.len() > 1)).collect().item())


def _best(found: Sequence[Relation]) -> list[Relation]:
    """For each left column set and right table the best link, and no link whose columns a better one to the same table holds."""
    ordered = sorted(found, key=lambda r: (-r.score, len(r.left_columns), r.right_columns))
    kept: list[Relation] = []
    for relation in ordered:
        same = [r for r in kept if (r.left, r.right) == (relation.left, relation.right)]
        if any(set(r.left_columns) & set(relation.left_columns) for r in same):
            continue
        turned = (relation.right, relation.right_columns, relation.left, relation.left_columns)
        if any(_pair(r) == turned for r in kept):
            continue
        kept.append(relation)
    return kept
