"""Least squares: against NumPy, in groups, with rows held out, for new cases, and as a script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from qa.engine.crosscheck import crosscheck, differs
from qa.engine.polars_code import script
from qa.engine.result import PartResult
from qa.engine.run import checked_plan, run
from qa.errors import PlanError
from qa.plan.plan import PlanReply, parse_reply
from tests.engine.test_polars_code import run_script
from tests.tables import table

HOMES = pl.DataFrame(
    {
        "size": [50.0, 70.0, 65.0, 90.0, 120.0, 40.0, 80.0, 100.0, 110.0, 55.0, 75.0, None],
        "rooms": [2, 3, 2, 4, 5, 1, 3, 4, 4, 2, 3, 3],
        "kind": ["flat", "house", "flat", "house", "house", "flat", "flat", "house", "flat", "house", "flat", "flat"],
        "lift": [True, True, False, False, False, True, True, False, True, False, False, True],
        "town": ["A", "A", "A", "A", "A", "A", None, None, None, None, None, None],
        "price": [201.0, 310.0, 255.0, 402.0, 540.0, 150.0, 330.0, 455.0, 470.0, 250.0, None, 300.0],
    }
)


def fitted(**step: Any) -> tuple[PartResult, Any]:
    """The result after both engines agreed on it, and the checked plan."""
    tables = {"t": table("t", HOMES)}
    reply = parse_reply({"reply": "plan", "parts": [{"title": "", "source": "t", "steps": [{"op": "fit", "target": "price", **step}]}]})  # fmt: skip
    assert isinstance(reply, PlanReply)
    plan = checked_plan(reply, tables)
    found = run(plan, tables)[0]
    verdict = crosscheck(plan, 0, found.frame, tables, 10_000)
    assert verdict.passed is True, verdict.detail
    return found, plan


def by_numpy(rows: pl.DataFrame, columns: dict[str, pl.Expr]) -> Any:
    """The coefficients that NumPy finds on the complete rows."""
    known = rows.select([pl.col("price"), *(expr.cast(pl.Float64).alias(name) for name, expr in columns.items())]).drop_nulls()  # fmt: skip
    design = np.column_stack([np.ones(known.height), *(known[name].to_numpy() for name in columns)])
    return np.linalg.lstsq(design, known["price"].to_numpy(), rcond=None)[0]


def test_several_predictors_of_every_kind_give_the_coefficients_of_numpy() -> None:
    found, _ = fitted(predictors=["size", "rooms", "kind", "lift"])
    wanted = by_numpy(HOMES, {"size": pl.col("size"), "rooms": pl.col("rooms"), "kind": pl.col("kind") == "house", "lift": pl.col("lift")})  # fmt: skip
    assert found.frame["term"].to_list() == ["intercept", "size", "rooms", "kind = house", "lift = true"]
    assert found.frame["estimate"].to_list() == pytest.approx(wanted)


def test_predictions_with_several_predictors_keep_every_row_and_say_what_a_missing_target_would_be() -> None:
    found, _ = fitted(predictors=["size", "rooms"], output="predictions")
    beta = by_numpy(HOMES, {"size": pl.col("size"), "rooms": pl.col("rooms")})
    assert found.frame.columns == [*HOMES.columns, "predicted", "residual"]
    assert found.frame.height == HOMES.height
    for size, rooms, *_, price, predicted, residual in found.frame.iter_rows():
        if size is None:
            assert predicted is None
        else:
            assert predicted == pytest.approx(beta @ [1, size, rooms])
            assert residual is None if price is None else residual == pytest.approx(price - predicted)


def test_predictions_in_groups_use_each_groups_own_fit_also_where_the_key_is_missing() -> None:
    found, _ = fitted(predictors=["size", "rooms"], output="predictions", by=["town"])
    for town in ("A", None):
        mine = pl.col("town").eq_missing(town)
        beta = by_numpy(HOMES.filter(mine), {"size": pl.col("size"), "rooms": pl.col("rooms")})
        rows = found.frame.filter(mine, pl.col("size").is_not_null())
        assert rows["predicted"].to_list() == pytest.approx([beta @ [1, s, r] for s, r in rows.select("size", "rooms").iter_rows()])  # fmt: skip


def test_rows_held_out_are_not_used_and_the_same_seed_holds_out_the_same() -> None:
    first, _ = fitted(predictors=["size"], output="predictions", holdout=0.3, seed=7)
    again, _ = fitted(predictors=["size"], output="predictions", holdout=0.3, seed=7)
    other, _ = fitted(predictors=["size"], output="predictions", holdout=0.3, seed=8)
    assert first.frame.equals(again.frame)
    assert first.frame["held_out"].to_list() != other.frame["held_out"].to_list()
    known = first.frame.filter(pl.col("held_out").is_not_null())
    assert (known.height, known["held_out"].sum()) == (10, 3)
    beta = by_numpy(known.filter(~pl.col("held_out")), {"size": pl.col("size")})
    assert known["predicted"].to_list() == pytest.approx([beta @ [1, size] for size in known["size"]])


def test_quality_with_rows_held_out_has_a_row_for_each_set() -> None:
    rows, _ = fitted(predictors=["size"], output="predictions", holdout=0.3, seed=7)
    quality, _ = fitted(predictors=["size"], output="quality", holdout=0.3, seed=7)
    assert quality.frame["rows"].to_list() == ["training", "held out"]
    for place, held in enumerate((False, True)):
        part = rows.frame.filter(pl.col("held_out") == held)
        residual, price = part["residual"].to_numpy(), part["price"].to_numpy()
        row = quality.frame.row(place, named=True)
        assert row["n"] == part.height
        assert row["mae"] == pytest.approx(abs(residual).mean())
        assert row["rmse"] == pytest.approx((residual**2).mean() ** 0.5)
        assert row["r2"] == pytest.approx(1 - (residual**2).sum() / ((price - price.mean()) ** 2).sum())


def test_new_cases_get_a_value_and_the_ends_between_which_one_lies() -> None:
    found, _ = fitted(predictors=["size", "kind"], at=["size = 60 and kind = 'flat'", "kind = 'house' and size = 60"])
    beta = by_numpy(HOMES, {"size": pl.col("size"), "kind": pl.col("kind") == "house"})
    assert found.frame.columns == ["size", "kind", "predicted", "low", "high"]
    assert found.frame["predicted"].to_list() == pytest.approx([beta @ [1, 60, 0], beta @ [1, 60, 1]])
    assert (found.frame["low"] < found.frame["predicted"]).all()
    assert (found.frame["high"] > found.frame["predicted"]).all()
    assert not any("outside the data" in note for note in found.notes)


def test_a_case_beyond_the_data_is_noted() -> None:
    found, _ = fitted(predictors=["size"], at=["size = 300"])
    assert "size = 300 lies outside the data (40.0 to 120.0): the line is drawn on beyond them." in found.notes


@pytest.mark.parametrize(
    ("case", "code", "says"),
    [
        ("size = 60", "bad_option", "'kind' is not stated"),
        ("size = 60 and kind = 'flat' and rooms = 3", "bad_option", "'rooms' is no predictor"),
        ("size > 60 and kind = 'flat'", "bad_option", "does not state a case"),
        ("size = 60 and kind = 'castle'", "no_such_value", "Its values are 'flat', 'house'"),
        ("size = 'large' and kind = 'flat'", "kinds_differ", "'size' holds number"),
    ],
)
def test_a_case_that_does_not_fit_is_refused(case: str, code: str, says: str) -> None:
    with pytest.raises(PlanError) as caught:
        fitted(predictors=["size", "kind"], at=[case])
    assert caught.value.issues[0].code == code
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "step",
    [
        {"predictors": ["size", "rooms"], "output": "predictions", "by": ["town"]},
        {"predictors": ["size", "rooms"], "output": "predictions"},
        {"predictors": ["size"], "output": "quality", "holdout": 0.3},
        {"predictors": ["ln(size)", "lift"], "at": ["ln(size) = 4 and lift = true"]},
    ],
    ids=str,
)
def test_a_fit_runs_as_a_script_of_its_own(step: Any, tmp_path: Path) -> None:
    found, plan = fitted(**step)
    assert differs(found.frame, run_script(script(plan), tmp_path, {"t": table("t", HOMES)})) is None
