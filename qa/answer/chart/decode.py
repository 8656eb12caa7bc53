"""A figure's data as plain lists, so that it can be compared with the table it was drawn from."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go


def decode(figure: go.Figure | Mapping[str, Any] | str) -> dict[str, Any]:
    """The figure's JSON with every typed array (`{"dtype", "bdata", "shape"}`) as a list; NaN is None."""
    match figure:
        case str():
            content = json.loads(figure)
        case go.Figure():
            content = json.loads(figure.to_json())
        case _:
            content = dict(figure)
    plain = _plain(content)
    assert isinstance(plain, dict)
    return plain


def _plain(value: Any) -> Any:
    match value:
        case {"dtype": str(), "bdata": str()}:
            return _array(value)
        case Mapping():
            return {key: _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case np.ndarray():
            return _plain(value.tolist())
        case float() if value != value:
            return None
        case _:
            return value


def _array(value: Mapping[str, Any]) -> list[Any]:
    flat = np.frombuffer(base64.b64decode(value["bdata"]), dtype=np.dtype(value["dtype"]).newbyteorder("<"))
    shape = value.get("shape")
    if shape:
        sizes = [int(size) for size in (shape.split(",") if isinstance(shape, str) else shape)]
        flat = flat.reshape(sizes)
    return list(_plain(flat.tolist()))


def typed(value: Any) -> Any:
    """JSON values with each NumPy array as Plotly's typed array: compact, and no list of a hundred thousand floats."""
    match value:
        case np.ndarray() if value.dtype.kind in "iuf":
            small = value.astype(np.int32) if value.dtype.kind in "iu" else value
            spec = {
                "dtype": f"{small.dtype.kind}{small.dtype.itemsize}",
                "bdata": base64.b64encode(small.tobytes()).decode(),
            }
            return spec if value.ndim == 1 else spec | {"shape": ", ".join(str(size) for size in value.shape)}
        case np.ndarray():
            return value.tolist()
        case np.generic():
            return value.item()
        case Mapping():
            return {key: typed(item) for key, item in value.items()}
        case list() | tuple():
            return [typed(item) for item in value]
        case _:
            return value


def points(figure: go.Figure | Mapping[str, Any] | str) -> list[tuple[Any, ...]]:
    """What is drawn as (x, y) or (x, y, series) rows, bars that lie down turned up, trend lines left out."""
    content = decode(figure)
    flipped = bool((content.get("layout", {}).get("meta") or {}).get("flipped"))
    traces = [trace for trace in content["data"] if not {"trend", "ground"} & set(trace.get("meta") or {})]
    rows: list[tuple[Any, ...]] = []
    for trace in traces:
        rows += _rows(trace, flipped, len(traces) > 1)
    return rows


def _rows(trace: Mapping[str, Any], flipped: bool, several: bool) -> list[tuple[Any, ...]]:
    match trace["type"]:
        case "pie":
            return list(zip(trace["labels"], trace["values"], strict=True))
        case "indicator":
            return [(None, trace.get("value"))]
        case "heatmap" if "states" in (trace.get("meta") or {}):
            return [(code, trace["z"][row][column]) for code, column, row in trace["meta"]["states"]]
        case "heatmap":
            across, down = trace["x"], trace["y"]
            return [
                (x, z, y)
                for y, line in zip(down, trace["z"], strict=True)
                for x, z in zip(across, line, strict=True)
                if z is not None
            ]
        case _:
            x, y = (trace["y"], trace["x"]) if flipped else (trace.get("x") or [None] * len(trace["y"]), trace["y"])
            name = (trace.get("meta") or {}).get("name") or ""
            return [(a, b, name) if several else (a, b) for a, b in zip(x, y, strict=True) if b is not None]
