"""Measures that the question defines: ratios, products, percentages of another column."""

from __future__ import annotations

from collections.abc import Sequence

from qa.planner.offline.link import Linker
from qa.planner.offline.links import Link
from qa.planner.offline.nodes import Node
from qa.planner.offline.text import header_words
from qa.types import Role

WHOLES = ("total", "bill", "price", "sale", "sales", "revenue", "amount", "gross", "fare")
"""words of a column that a percentage of money is a percentage of"""
OPERATOR_TAGS = {"TIMES": "*", "MINUS": "-", "OVER": "/", "PLUSOP": "+"}


def expressions(linker: Linker, row: list[Node]) -> list[Node]:
    """The row with every defined measure folded into one column node."""
    for step in (_operators, _products, _ratios, _percentages, _named, _defined, _enumerated):
        row = step(linker, row)
    return row


def _numeric(linker: Linker, node: Node) -> bool:
    return node.letter == "C" and linker.column(node.columns[0][0]).kind.numeric


def _measure(linker: Linker, used: Sequence[Node], formula: str, name: str, share: bool = False) -> Node:
    id = linker.derive(formula, name, Role.PERCENT if share else Role.RATE, "fraction" if share else None)
    return Node("C", tuple(link for node in used for link in node.links), columns=((id, 1.0),), op="derived")


def _written(linker: Linker, node: Node) -> str:
    return linker.written(node.columns[0][0])


def _called(linker: Linker, node: Node) -> str:
    return linker.column(node.columns[0][0]).name


def _operators(linker: Linker, row: list[Node]) -> list[Node]:
    """`price times quantity`, `weight divided by horsepower`."""
    out: list[Node] = []
    at = 0
    while at < len(row):
        node = row[at]
        tag = (
            next((OPERATOR_TAGS[t] for t in node.link.tags if t in OPERATOR_TAGS), None) if node.letter == "*" else None
        )
        if tag and out and at + 1 < len(row) and _numeric(linker, out[-1]) and _numeric(linker, row[at + 1]):
            left, right = out.pop(), row[at + 1]
            formula = f"{_written(linker, left)} {tag} {_written(linker, right)}"
            out.append(
                _measure(
                    linker, [left, node, right], formula, f"{_called(linker, left)} {tag} {_called(linker, right)}"
                )
            )
            at += 2
        else:
            out.append(node)
            at += 1
    return out


def _products(linker: Linker, row: list[Node]) -> list[Node]:
    """`the product of Length, Diameter and Height`."""
    for at, node in enumerate(row):
        if node.letter != "P":
            continue
        factors, end = [], at + 1
        while end < len(row) and (row[end].letter in ",&o" or _numeric(linker, row[end])):
            if row[end].letter == "C":
                factors.append(row[end])
            end += 1
        if len(factors) >= 2:
            formula = " * ".join(_written(linker, f) for f in factors)
            return [*row[:at], _measure(linker, row[at:end], formula, "product"), *row[end:]]
    return row


def _ratios(linker: Linker, row: list[Node]) -> list[Node]:
    """`ratio of X to Y`, `X to Y ratio`."""
    letters = "".join(n.letter for n in row)
    for at, node in enumerate(row):
        if node.letter != "/":
            continue
        after = [n for n in range(at + 1, min(len(row), at + 5)) if row[n].letter not in "o"]
        parted = len(after) >= 3 and (letters[after[1]] in "T&" or row[after[1]].word == "to")
        if parted and letters[after[0]] == "C" and letters[after[2]] == "C":
            return _ratio(linker, row, at, after[2], row[after[0]], row[after[2]])
        if (
            at >= 3
            and letters[at - 3] == letters[at - 1] == "C"
            and (letters[at - 2] == "T" or row[at - 2].word == "to")
        ):
            return _ratio(linker, row, at - 3, at, row[at - 3], row[at - 1])
        if at >= 1 and letters[at - 1] == "C" and row[at - 1].columns[0][0].startswith("="):
            return [*row[:at], *row[at + 1 :]]
    return row


def _ratio(linker: Linker, row: list[Node], first: int, last: int, top: Node, bottom: Node) -> list[Node]:
    if not (_numeric(linker, top) and _numeric(linker, bottom)):
        return row
    formula = f"{_written(linker, top)} / {_written(linker, bottom)}"
    name = f"{_called(linker, top)} to {_called(linker, bottom)} ratio"
    made = _measure(linker, row[first : last + 1], formula, name)
    # `… and find the highest ratio`: said again, it is the same ratio
    again = [Node("C", n.links, columns=made.columns, op="derived") if n.letter == "/" else n for n in row[last + 1 :]]
    return [*row[:first], made, *again]


def _percentages(linker: Linker, row: list[Node]) -> list[Node]:
    """`tip percentage`: a part of the one column that holds the whole."""
    for at in range(1, len(row)):
        part, sign = row[at - 1], row[at]
        follows = row[at + 1].letter if at + 1 < len(row) else ""
        if sign.letter != "%" or sign.link.tag("SHARE") is None or not _numeric(linker, part) or follows == "o":
            continue
        if linker.column(part.columns[0][0]).role in (Role.PERCENT, Role.RATE, Role.ID):
            continue
        wholes = [
            column
            for column in linker.index.columns
            if column.kind.numeric and column.id != part.columns[0][0] and set(header_words(column.name)) & set(WHOLES)
        ]
        if len(wholes) == 1:
            whole = Node("C", part.links, columns=((wholes[0].id, 1.0),))
            formula = f"{_written(linker, part)} / {_written(linker, whole)}"
            name = f"{_called(linker, part)} as a share of {_called(linker, whole)}"
            return [*row[: at - 1], _measure(linker, [part, sign], formula, name, share=True), *row[at + 1 :]]
    return row


def _named(linker: Linker, row: list[Node]) -> list[Node]:
    """`total revenue, price times quantity`: words that the formula after the comma explains are its name."""
    for at, node in enumerate(row):
        if node.letter != "C" or not node.columns[0][0].startswith("=") or at < 1:
            continue
        bracketed = node.link.text.startswith("(") and row[at - 1].letter in "?len%"
        if row[at - 1].letter not in ",b" and not bracketed:
            continue
        start = at if bracketed else at - 1
        while start and row[start - 1].letter in "?len%":
            start -= 1
        name = [n for n in row[start:at] if n.letter == "?"]
        if not name:
            continue
        id, formula = node.columns[0][0], linker.virtual[node.columns[0][0]][1]
        share = any(n.letter == "%" for n in row[start:at])
        words = " ".join(n.text for n in row[start:at] if n.letter in "?%")
        made = _measure(linker, row[start : at + 1], formula, words, share)
        del id
        end = at + 1
        if end < len(row) and row[end].letter == ",":
            end += 1
        return [*row[:start], made, *row[end:]]
    return row


def _defined(linker: Linker, row: list[Node]) -> list[Node]:
    """`create a column 'Volume' as the product of …, then find the average Volume`: the name stands for its formula."""
    for at, node in enumerate(row):
        if node.letter != "C" or node.columns[0][0] not in linker.virtual:
            continue
        end = at - 1 if at and row[at - 1].letter == "a" else at
        start = end
        while start and row[start - 1].letter == "?" and row[start - 1].word not in linker.lex.defines:
            start -= 1
        name = " ".join(n.text for n in row[start:end])
        if not name or not start or row[start - 1].word not in linker.lex.defines:
            continue
        later = row[at + 1 :]
        if not any(n.letter == "?" and n.text == name for n in later):
            continue
        column, formula = linker.virtual[node.columns[0][0]]
        id = linker.derive(formula, name, column.role or Role.RATE, column.unit)
        said = [Node("C", n.links, columns=((id, 1.0),), op="derived") if n.text == name else n for n in later]
        lead = [n for n in row[: start - 1] if n.letter != "s"]
        return said if not lead else row
    return row


def _enumerated(linker: Linker, row: list[Node]) -> list[Node]:
    """`the average size (length, width and height)`: a word that a list of columns in brackets explains is that list.

    All values of a column in brackets behind its name add nothing."""
    for at in range(1, len(row)):
        letter, end = row[at].letter, at
        if letter not in "CV" or linker.folded[row[at].link.first - 1] != "(":
            continue
        while end + 1 < len(row) and row[end + 1].letter in f"{letter},&":
            end += 1
        close = row[end].link.last + 1
        listed = [node for node in row[at : end + 1] if node.letter == letter]
        closes = close < len(linker.folded) and linker.folded[close] == ")" and row[end].letter == letter
        if not closes or len(listed) < 2 or row[at - 1].link.last < row[at].link.first - 3:
            continue
        if letter == "C" and row[at - 1].letter in "?l":
            return [*row[: at - 1], *row[at:]]
        if letter == "V" and row[at - 1].letter == "C" and _all_values(linker, row[at - 1], listed):
            return [*row[:at], *row[end + 1 :]]
    return row


def _all_values(linker: Linker, column: Node, listed: Sequence[Node]) -> bool:
    """True when the values are all that the column holds, so that they only explain it: `sex (M, F)`."""
    id = column.columns[0][0]
    cells = {cell for node in listed for cell in node.link.cells(id)}
    return id not in linker.virtual and bool(cells) and cells == set(linker.index.table.distinct(id))


def derived(link: Link) -> bool:
    return link.kind == "expression"
