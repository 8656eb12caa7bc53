"""The semantic file adds what people know, is read strictly, and says where it no longer fits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa.data.draft import draft
from qa.data.read import load
from qa.data.semantics import (
    ColumnSemantics,
    Metric,
    Relationship,
    Semantics,
    VerifiedQuestion,
    apply,
    beside,
    drift,
    dump_semantics,
    load_semantics,
    parse_semantics,
    questions_checked,
    semantics_schema,
    send_rules,
)
from qa.data.table import Table
from qa.errors import LoadError
from qa.types import Kind, Role

Make = Callable[..., Table]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """A loaded table from columns of values."""

    def table(name: str = "sales", **columns: Any) -> Table:
        path = tmp_path / f"{name}.parquet"
        pl.DataFrame(columns).write_parquet(path)
        return load(path, cache=tmp_path / "cache")[0]

    return table


@pytest.fixture
def sales(make: Make) -> Table:
    return make(
        region=["N", "n", "S", None],
        status=[1, 2, 1, 9],
        amount=[10.0, 20.0, -999.0, 5.5],
        share=[0.1, 0.2, 0.3, 0.4],
        tags=["new; eco", "eco", "sale", None],
        day=pl.Series(["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]).str.to_date(),
    )


YAML = """
version: 1
description: What the shops sold
synonyms: [sale]
default_date: day
week_start: sunday
columns:
  REGION:
    description: where
    role: geo
    values: {n: N, N: North, S: South}
  status:
    values: {1: paid, 2: open, 9: null}
  amount:
    role: currency
    unit: EUR
    synonyms: [revenue, turnover]
    values: {-999: null}
    send: names
  tags: {role: tag_list, delimiter: ";"}
metrics:
  mean sale: {formula: sum(amount) / count(), synonyms: [basket]}
relationships:
  - {columns: [region], to: regions, to_columns: [code], confirmed: no}
questions:
  - question: how many sales?
    plan: {parts: [{source: sales, steps: [{op: summarize, by: [], metrics: [count()]}]}]}
    by: ann
"""


def test_a_file_says_everything_and_survives_a_round_trip() -> None:
    text = YAML.replace("confirmed: no", "confirmed: false")
    semantics = parse_semantics(text)
    assert semantics.columns["status"].values == {"1": "paid", "2": "open", "9": None}
    assert semantics.columns["amount"].role is Role.CURRENCY
    assert semantics.relationships[0].confirmed is False
    assert semantics.questions[0].plan["parts"][0]["steps"][0]["by"] == []
    assert parse_semantics(dump_semantics(semantics)) == semantics


def test_roles_units_words_and_metrics_reach_the_table_and_its_profile(sales: Table) -> None:
    semantics = parse_semantics(YAML.replace("confirmed: no", "confirmed: false"))
    table = apply(sales, semantics)
    assert (table.column("region").role, table.column("amount").role, table.column("amount").unit) == (
        Role.GEO,
        Role.CURRENCY,
        "EUR",
    )
    facts = table.profile.column("amount")
    assert (facts.role, facts.unit, facts.synonyms) == (Role.CURRENCY, "EUR", ("revenue", "turnover"))
    assert table.profile.column("region").description == "where"
    assert table.profile.column("tags").delimiter == ";"
    assert (table.profile.description, table.profile.synonyms, table.profile.default_date) == (
        "What the shops sold",
        ("sale",),
        "day",
    )
    assert table.profile.metrics == {"mean sale": "sum(amount) / count()"}
    assert send_rules(sales, semantics) == {"sales.amount": "names"}


def test_value_maps_change_cells_under_a_digest_of_their_own_and_are_reported(sales: Table) -> None:
    table = apply(sales, parse_semantics(YAML.replace("confirmed: no", "confirmed: false")))
    assert table.frame["region"].cast(pl.String).to_list() == ["North", "N", "South", None]
    assert table.frame["status"].cast(pl.String).to_list() == ["paid", "open", "paid", None]
    assert table.frame["amount"].to_list() == [10.0, 20.0, None, 5.5]
    assert (table.column("status").kind, table.column("amount").kind) == (Kind.TEXT, Kind.NUMBER)
    assert table.column("amount").nullable
    assert table.profile.column("amount").low == 5.5
    assert table.profile.column("status").top[0] == ("paid", 2)
    assert list(table.distinct(table.column("region").id)) == ["N", "North", "South"]
    assert table.report.variants["region"] == {"n": "N", "N": "North", "S": "South"}
    assert table.report.variants["status"] == {"1": "paid", "2": "open"}
    assert table.digest != sales.digest
    assert table.rows == sales.rows == 4
    assert sales.frame["region"].cast(pl.String).to_list() == ["N", "n", "S", None]
    again = apply(sales, parse_semantics(YAML.replace("confirmed: no", "confirmed: false")))
    assert again.digest == table.digest


def test_without_value_maps_the_cells_and_the_digest_stay(sales: Table) -> None:
    table = apply(sales, Semantics(columns={"amount": ColumnSemantics(unit="kg")}))
    assert (table.digest, table.path) == (sales.digest, sales.path)


def test_a_percent_without_a_unit_takes_the_scale_of_its_values(make: Make) -> None:
    table = make(a=[0.2, 0.9], b=[20.0, 90.0])
    known = Semantics(columns={"a": ColumnSemantics(role=Role.PERCENT), "b": ColumnSemantics(role=Role.PERCENT)})
    assert [column.unit for column in apply(table, known).columns] == ["fraction", "percent"]


def test_what_does_not_fit_is_left_out_and_named_by_drift(sales: Table) -> None:
    semantics = Semantics(
        default_date="amount",
        columns={
            "regoin": ColumnSemantics(description="misspelt"),
            "region": ColumnSemantics(role=Role.CURRENCY, values={"West": "W"}),
            "share": ColumnSemantics(role=Role.PERCENT, unit="kg"),
            "tags": ColumnSemantics(delimiter="|"),
        },
        metrics={
            "bad": Metric(formula="sum(revenue)"),
            "broken": Metric(formula="sum(amount"),
            "good": Metric(formula="sum(amount)"),
        },
        relationships=(Relationship(columns=("regio",), to="regions", to_columns=("code",)),),
        questions=(
            VerifiedQuestion(
                question="total?",
                plan={
                    "parts": [
                        {"source": "sales", "steps": [{"op": "summarize", "by": [], "metrics": ["sum(amountt)"]}]}
                    ]
                },
            ),
        ),
    )
    assert apply(sales, semantics).column("region").role is not Role.CURRENCY
    found = drift(sales, semantics, {})
    for sign in (
        "'regoin' is described, but sales has no such column.",
        "'region' has the role currency, but now holds text",
        "No cell of 'region' is 'West'",
        "'share' is a percent",
        "No cell of 'tags' holds the delimiter '|'",
        "'amount' is in the data, but not described",
        "default date 'amount' is not a date column",
        "The metric 'bad' does not work",
        "The metric 'broken' does not work",
        "names 'regio'",
        "leads to 'regions'",
        "The verified question 'total?' does not work",
    ):
        assert any(sign in finding for finding in found), (sign, found)
    assert not any(finding.startswith("The metric 'good'") for finding in found)


def test_a_drafted_file_never_drifts_from_the_table_it_was_drafted_from(
    sales: Table, samples: Path, tmp_path: Path
) -> None:
    for table in (sales, load(samples / "housing.parquet", cache=tmp_path / "h")[0]):
        semantics = draft(table)
        assert drift(table, semantics) == []
        assert parse_semantics(dump_semantics(semantics)) == semantics
        assert apply(table, semantics).digest == table.digest


def test_verified_questions_are_checked_against_the_tables(sales: Table) -> None:
    plan = {
        "parts": [{"source": "sales", "steps": [{"op": "summarize", "by": [], "metrics": ["sum(amount) as total"]}]}]
    }
    semantics = Semantics(
        questions=(
            VerifiedQuestion(question="total?", plan=plan),
            VerifiedQuestion(question="else?", plan={"parts": [{"source": "elsewhere", "steps": []}]}),
            VerifiedQuestion(question="declines?", plan={"reply": "decline", "reason": "no"}),
        )
    )
    checked = questions_checked(semantics, {"sales": sales})
    assert checked["total?"] is None
    assert "elsewhere" in (checked["else?"] or "")
    assert checked["declines?"] == "it holds no plan."


@pytest.mark.parametrize(
    ("text", "where", "says"),
    [
        ("columns:\n  a: {rolle: id}", "columns.a.rolle", "not known"),
        ("columns:\n  a: {role: money}", "columns.a.role", "currency"),
        ("columns: [a]", "columns", "dictionary"),
        ("metrics:\n  m: {description: x}", "metrics.m.formula", "needed"),
        ("week_start: friday", "week_start", "monday"),
        ("- a", "semantics", "list of named fields"),
        ("a: [1", "line 1", "not YAML"),
        ("columns:\n  a: {}\n  a: {}", "line 3", "twice"),
        ("x: &a [1]\ny: *a", "line 2", "aliases"),
        ("!!python/object/apply:os.system ['true']", "line 1", "not YAML"),
        ("? [a]\n: b", "line 1", "key must be a word"),
        ("a: " + "[" * 5000, "semantics", "not YAML"),
        ("#" * 1_000_001, "semantics", "characters"),
    ],
)
def test_a_bad_file_is_an_error_that_names_the_place(text: str, where: str, says: str) -> None:
    with pytest.raises(LoadError) as caught:
        parse_semantics(text)
    assert any(where in issue.where and says in str(issue) for issue in caught.value.issues), caught.value.issues


def test_words_that_yaml_elsewhere_turns_into_other_things_stay_words() -> None:
    semantics = parse_semantics(
        "columns:\n  a:\n    values: {no: off, 012: 1:30, 2024-01-05: NO, true: 1e3, 1.50: x}\n    description: 2024-01-05"
    )
    values = semantics.columns["a"].values
    assert {"no": "off", "012": "1:30", "2024-01-05": "NO"}.items() <= values.items()
    assert "true" in values
    assert semantics.columns["a"].description == "2024-01-05"


def test_an_empty_file_describes_nothing() -> None:
    assert parse_semantics("") == Semantics() == parse_semantics("# nothing yet\ncolumns:\n")


def test_the_file_lies_beside_its_data(tmp_path: Path) -> None:
    assert beside(tmp_path / "sales.csv.gz") == tmp_path / "sales.qa.yaml"
    path = tmp_path / "sales.qa.yaml"
    path.write_text(dump_semantics(Semantics(description="déjà vu")), encoding="utf-8")
    assert load_semantics(path).description == "déjà vu"
    with pytest.raises(LoadError, match="cannot be read"):
        load_semantics(tmp_path / "none.qa.yaml")


def test_the_json_schema_is_published_with_a_sentence_on_every_part() -> None:
    schema = semantics_schema()
    assert schema["properties"]["columns"]["additionalProperties"] == {"$ref": "#/$defs/ColumnSemantics"}
    assert all(part.get("description") for part in [schema, *schema["$defs"].values()])


WORDS = st.text(st.characters(codec="utf-8"), max_size=12)


@given(
    columns=st.dictionaries(
        WORDS,
        st.builds(
            ColumnSemantics,
            description=st.none() | WORDS,
            role=st.none() | st.sampled_from(Role),
            unit=st.none() | WORDS,
            synonyms=st.lists(WORDS, max_size=3).map(tuple),
            delimiter=st.none() | st.text(min_size=1, max_size=2),
            values=st.dictionaries(WORDS, st.none() | WORDS, max_size=3),
            send=st.none() | st.sampled_from(["nothing", "names", "profile", "samples"]),
        ),
        max_size=3,
    ),
    description=st.none() | WORDS,
)
def test_any_semantics_reads_back_the_same(columns: dict[str, ColumnSemantics], description: str | None) -> None:
    semantics = Semantics(columns=columns, description=description)
    assert parse_semantics(dump_semantics(semantics)) == semantics


@pytest.mark.parametrize(
    ("name", "values", "role", "unit"),
    [
        ("customer_id", ["a", "b", "c", "d"], Role.ID, None),
        ("zip", ["01234", "02139", "02139", "10001"], Role.GEO, None),
        ("birth_year", [1950, 1980, 1999, 2001], Role.YEAR, None),
        ("years_married", [1, 2, 3, 30], None, "years"),
        ("discount_pct", [5.0, 10.0, 15.0, 99.0], Role.PERCENT, "percent"),
        ("price_cut_share", [0.1, 0.2, 0.3, 1.0], Role.PERCENT, "fraction"),
        ("market_share", [12.0, 30.0, 70.0, 900.0], None, None),
        ("country_code", ["DE", "FR", "DE", "FR"], Role.GEO, None),
        ("lat", [1.5, 2.5, 3.5, 89.0], Role.GEO, None),
        ("weight_kg", [1.5, 2.5, 3.5, 4.5], None, "kg"),
        ("airTimeMinutes", [11, 25, 31, 47], None, "minutes"),
        ("kg", [1.5, 2.5, 3.5, 4.5], None, None),
        ("order_count", [11, 25, 31, 47], Role.COUNT, None),
        ("country", [11, 25, 31, 47], None, None),
        ("interest_rate", [1.5, 2.5, 3.5, 4.5], Role.RATE, None),
        ("note", ["a", "b", "c", "d"], None, None),
    ],
)
def test_a_draft_gives_roles_that_name_and_values_prove(
    make: Make, name: str, values: list[Any], role: Role | None, unit: str | None
) -> None:
    known = draft(make(**{name: values})).columns[name]
    assert (known.role, known.unit) == (role, unit)


def test_a_stock_is_a_balance_only_where_there_is_a_date(make: Make) -> None:
    day = pl.Series(["2024-01-01", "2024-02-01"]).str.to_date()
    assert draft(make("dated", day=day, inventory=[1, 2])).columns["inventory"].role is Role.BALANCE
    assert draft(make("undated", inventory=[1, 2])).columns["inventory"].role is None


def test_a_tag_list_that_the_reader_saw_is_drafted_with_its_delimiter(make: Make) -> None:
    known = draft(make(tags=["gift; eco", "eco", "eco; sale; gift", "sale", "gift; sale"] * 5)).columns["tags"]
    assert (known.role, known.delimiter, known.unit) == (Role.TAG_LIST, ";", None)
