"""Superlatives: the highest value, the row or the group that holds it, the first few."""

from __future__ import annotations

from dataclasses import replace

from qa.planner.offline import formula as write
from qa.planner.offline.core import DEFAULT_TOP, Asked, NotRead
from qa.planner.offline.groups import Groups
from qa.planner.offline.index import mostly_unique, unique_values
from qa.planner.offline.nodes import Node
from qa.planner.offline.taking import MOSTLY
from qa.planner.offline.text import header_words
from qa.types import Column, Kind, Role

JUDGED = frozenset({"best", "worst"})
"""superlatives that praise or blame, and so depend on what is measured"""


class Superlatives(Groups):
    """Builds the query of a superlative."""

    # superlatives
    def _superlative(self, asked: Asked) -> bool:
        if not asked.supers:
            return False
        supers = [(self._judged(direction, node), what, node) for direction, what, node in self._settle(asked)]
        if len(supers) != 1:
            return self._extremes(asked, supers)
        direction, what, node = supers[0]
        if asked.metrics:
            raise NotRead(asked.metrics[0][0])
        targets = [t for t in asked.targets if node is None or t.letter != "C" or t.columns[0][0] != node.columns[0][0]]
        mentioned = len(targets) < len(asked.targets)
        if what == "column" and node is not None and node.columns[0][0] in self.index.yes:
            what = "true"
        if what == "column" and node is not None:
            return self._super_column(asked, direction, node, targets, mentioned)
        keys = asked.keys or targets
        if asked.wh[:1] == ["who"] and any(k.letter != "C" or not self._is_text(k) for k in keys):
            raise NotRead("who")
        if not keys or (asked.keys and targets and len(asked.keys) > 1):
            raise NotRead("?")
        if not asked.keys and len(keys) > 1 and not self._coordinated(keys):
            raise NotRead(keys[-1].text)
        return self._super_groups(asked, direction, what, node, keys)

    def _settle(self, asked: Asked) -> list[tuple[str, str, Node | None]]:
        """Gives `top` and bare `highest` the measure that the other words name."""
        supers = [s for s in asked.supers if s[1] not in ("top", "open")]
        loose = [s for s in asked.supers if s[1] in ("top", "open")]
        if not loose:
            return supers
        if supers:
            return supers
        direction = loose[0][0]
        shape = "".join(n.letter for n in self.row)
        if asked.top and shape.startswith("k"):
            # `how many songs were in the top 10` counts rows, it does not rank by their number
            raise NotRead("top")
        if asked.metrics and asked.top and shape.find("G") < shape.find("t"):
            # `the average of the top 5` is an average of a few rows, not a ranking
            raise NotRead("top")
        if asked.metrics and len(asked.metrics) == 1 and asked.metrics[0][1] is not None:
            fn, node = asked.metrics.pop()
            return [(direction, fn, node)]
        if asked.counts and not asked.counts[0][0]:
            asked.counts.pop()
            return [(direction, "count", None)]
        measures = [k for k in asked.keys if k.letter == "C" and self._numeric(k)]
        if loose[0][1] == "top" and len(measures) == 1:
            asked.keys.remove(measures[0])
            return [(direction, "column", measures[0])]
        numeric = [t for t in asked.targets if t.letter == "C" and self._numeric(t)]
        if len(numeric) == 1 and self._said_of(numeric[0]):
            return [(direction, "column", numeric[0])]
        raise NotRead("top" if asked.top else "?")

    def _judged(self, direction: str, node: Node | None) -> str:
        """`worst delay` is the highest one, `worst score` the lowest; of a measure that is neither nobody knows."""
        word = next((n.word for n in self.row if n.letter == "S" and n.word in JUDGED), None)
        if word is None:
            return direction
        said = header_words(self.column(node).name) if node and node.letter == "C" else []
        named = {*said, *map(self.lex.lemma, said)}
        if named & self.lex.less_is_better:
            return "min" if direction == "max" else "max"
        if not named & self.lex.more_is_better:
            raise NotRead(word)
        return direction

    def _said_of(self, node: Node) -> bool:
        """True for `which attendance is the highest`: the superlative is said of the column itself."""
        at = next((n for n, other in enumerate(self.row) if other.letter in "St"), 0) - 1
        while at >= 0 and self.row[at].letter in "bF":
            at -= 1
        return at >= 0 and self.row[at] is node

    def _extremes(self, asked: Asked, supers: list[tuple[str, str, Node | None]]) -> bool:
        """`the highest and the lowest X`: two numbers."""
        if asked.targets or asked.limit:
            raise NotRead("?")
        asked.metrics += [(d, node) for d, what, node in supers if what == "column"]
        return self._aggregate(asked) if len(asked.metrics) >= len(supers) else False

    def _super_column(self, asked: Asked, direction: str, node: Node, targets: list[Node], mentioned: bool) -> bool:
        column = self.linker.column(node.columns[0][0]) if node.columns else None
        column = self.column(node)
        if column.kind is Kind.TEXT:
            raise NotRead(node.text)
        query = self.query
        way = "desc" if direction == "max" else "asc"
        if asked.value and all(
            t.letter == "C" and unique_values(self.index.table, self.linker.column(t.columns[0][0])) for t in targets
        ):
            return self._super_value(asked, direction, column)
        person = [w for w in asked.wh if w in ("who", "where", "when")]
        if not targets and not asked.keys and person:
            targets = [self._asked_column(person[0], {column.id})]
        if asked.keys:
            return self._super_within(asked, direction, column, targets)
        if not targets or (mentioned and not self._wanted(targets, asked)):
            return self._super_value(asked, direction, column)
        chosen = [self.column(t) if t.letter == "C" else None for t in targets]
        if any(c is None for c in chosen):
            return self._super_groups(asked, direction, self._summary(column), node, targets)
        if len(targets) > 1 and not self._coordinated(targets):
            raise NotRead(*[t.text for t in targets[1:]])
        first = chosen[0]
        assert first is not None
        ranks = {"rank", "position", "place", "standing", "seed", "ranking"} & {
            self.lex.lemma(w) for w in header_words(column.name)
        }
        if ranks and direction in ("max", "min"):
            raise NotRead(node.text)
        most = any(n.letter == "S" and n.word in MOSTLY for n in self.row)
        repeats = not unique_values(self.index.table, first) and (first.kind is Kind.TEXT or first.role is Role.ID)
        if (
            len(chosen) == 1
            and repeats
            and self.additive(column)
            and (asked.limit or 1) == 1
            and not self._grouped(first, column, asked)
        ):
            rival = type(self)(self.linker, self.lex, self.row, self.picked, self.conditions)
            rival._super_groups(replace(asked, counts=[]), direction, "sum", node, targets)
            rival.query.filters = rival.filters
            rival.query.notes = [f"total {column.name} of each {first.name}"]
            if most:
                rival.query.score += 0.0
                self.query = rival.query
                return True
            query.rivals.append(rival.query)
            query.notes.append(f"the single row with the {'highest' if direction == 'max' else 'lowest'} {column.name}")
        if len(chosen) == 1 and self._grouped(first, column, asked):
            return self._super_groups(asked, direction, self._summary(column), node, targets)
        if len(chosen) == 1 and repeats and (asked.limit or asked.top) and not mostly_unique(self.index.table, first):
            # a ranking of things that stand in several rows ranks what their rows come to
            if not self.additive(column):
                raise NotRead(first.name)
            return self._super_groups(asked, direction, "sum", node, targets)
        query.columns = [self.name(c) for c in chosen if c]
        listed = [t for t in asked.targets if t.letter == "C" and t.columns[0][0] == column.id]
        if (listed and self._coordinated([*targets, *listed])) or (
            asked.top and any(n.letter == "y" for n in self.row)
        ):
            query.columns = list(dict.fromkeys([*query.columns, self.name(column)]))
        query.order, query.limit = [f"{self.name(column)} {way}"], asked.limit or (DEFAULT_TOP if asked.top else 1)
        query.ties = "keep" if query.limit == 1 else "cut"
        query.filters = [*query.filters]
        return True

    def _wanted(self, targets: list[Node], asked: Asked) -> bool:
        return any(not unique_values(self.index.table, self.column(t)) or True for t in targets if t.letter == "C")

    def _super_value(self, asked: Asked, direction: str, column: Column) -> bool:
        query = self.query
        if asked.counts or column.owner not in (None, self.index.table.name):
            # `how many … in the stadium with the highest capacity` asks for rows of one group, not for the capacity
            raise NotRead(column.name)
        lead = [n for n in self.row if n.letter not in "sF"][:2]
        whose = len(lead) == 2 and lead[0].letter in "wt" and lead[1].letter == "n"
        if whose and not asked.value and (asked.limit or 1) == 1 and not asked.top:
            raise NotRead(lead[1].text)
        if asked.top:
            asked.limit = asked.limit or DEFAULT_TOP
        if (asked.limit or 1) > 1:
            query.columns = [self.name(column)] if asked.value or not asked.rows else []
            query.order, query.limit = [f"{self.name(column)} {'desc' if direction == 'max' else 'asc'}"], asked.limit
            query.ties = "cut"
            return True
        if asked.each_row and column.id in self.linker.virtual and "one" in self.linker.folded:
            # `the ratio for each order, and find the one with the highest`: the row itself
            query.order, query.limit = [f"{self.name(column)} {'desc' if direction == 'max' else 'asc'}"], 1
            return True
        adjective = any(n.letter == "Z" for n in self.row) and not asked.value
        if adjective and any(n.letter == "l" for n in self.row) and not asked.rows:
            raise NotRead("?")
        if adjective and (asked.rows or asked.top) and not any(t for t in asked.targets) and not asked.counts:
            query.order, query.limit = [f"{self.name(column)} {'desc' if direction == 'max' else 'asc'}"], 1
            named = self.label()
            query.columns = [self.name(named)] if named is not None else []
            return True
        query.metrics = [self.aggregate(direction, column)]
        return True

    def _grouped(self, target: Column, measure: Column, asked: Asked) -> bool:
        """True when `top markets by listings` means groups: the target repeats."""
        if target.kind.numeric and target.role not in (Role.ID, Role.YEAR):
            return False
        if mostly_unique(self.index.table, target):
            return False
        panel = any(c.kind.temporal for c in self.index.columns)
        return (asked.top and panel) or (panel and target.kind is Kind.TEXT)

    def _super_groups(self, asked: Asked, direction: str, what: str, node: Node | None, keys: list[Node]) -> bool:
        query = self.query
        query.keys = list(dict.fromkeys(self.key(k) for k in keys))
        if what == "count":
            metric = ("count()", "rows")
        elif what == "true" and node is not None:
            column = self.linker.column(node.columns[0][0])
            metric = (
                f"count(where={self.conditions.truth(column.id, True, node.text).formula})",
                f"{column.name} rows",
            )
        elif what == "rate" and node is not None:
            metric = self._rate(node)
        elif node is not None:
            metric = self.metric(what, node)
        else:
            raise NotRead(what)
        query.metrics = [metric]
        query.order = [f"{write.name(metric[1])} {'desc' if direction == 'max' else 'asc'}"]
        several = asked.top or (what != "count" and self._several(keys[0]))
        query.limit = asked.limit or (DEFAULT_TOP if several else 1)
        if several and asked.limit is None:
            query.notes.append(f"the first {DEFAULT_TOP}")
        query.ties = "keep" if query.limit == 1 else "cut"
        if not (asked.top or query.limit > 1 or asked.counts or asked.metrics):
            query.show = [write.name(name) for _, name in query.keys]
        if what in ("mean", "sum") and not any(n.letter == "G" for n in self.row):
            said = "average" if what == "mean" else "total"
            query.notes.append(f"{node.text if node else ''} of a group = {said} over its rows".strip())
        if asked.counts:
            query.show = None
        return True

    def _several(self, node: Node) -> bool:
        """True for `which markets have …` over a panel: more than one is asked for."""
        word = node.word.split()[-1]
        return node.letter == "C" and self.lex.lemma(word) != word and any(c.kind.temporal for c in self.index.columns)

    def _super_within(self, asked: Asked, direction: str, column: Column, targets: list[Node]) -> bool:
        query = self.query
        keys = [self.key(k) for k in asked.keys]
        plain = [name for _, name in keys]
        extra = [t for t in targets if t.letter == "C" and self.column(t).name not in plain]
        if not extra:
            query.keys, query.metrics = keys, [self.aggregate(direction, column)]
            return True
        if any(formula != write.name(name) for formula, name in keys):
            raise NotRead("?")
        query.order = [f"{self.name(column)} {'desc' if direction == 'max' else 'asc'}"]
        query.limit, query.limit_by = asked.limit or 1, [f for f, _ in keys]
        query.ties = "keep" if query.limit == 1 else "cut"
        query.columns = [*[f for f, _ in keys], *[self.name(self.column(t)) for t in extra], self.name(column)]
        return True
