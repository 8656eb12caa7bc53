"""Aggregates and counts, over all rows or by groups."""

from __future__ import annotations

from qa.planner.offline import formula as write
from qa.planner.offline.core import NAMES, Asked, Grounds, NotRead
from qa.planner.offline.index import unique_values
from qa.planner.offline.nodes import Filter, Node
from qa.planner.offline.query import Query
from qa.types import Column, Kind, Role


class Groups(Grounds):
    """Builds the query of an aggregate or a count."""

    def _groups_having(self, asked: Asked) -> bool:
        """`grades that have at least 4 students`: groups with so many rows."""
        having = [n for n in self.row if n.letter == "J"]
        if not having:
            return False
        targets = [t for t in asked.targets if t.letter == "C"]
        if len(having) != 1 or len(targets) != 1 or asked.metrics or asked.supers or len(asked.counts) > 1:
            raise NotRead(having[0].text)
        column = self.column(targets[0])
        query = self.query
        query.keys, query.metrics = [(self.name(column), column.name)], [("count()", "rows")]
        query.having = f"rows {having[0].op} {write.number(having[0].numbers[0])}"
        query.show = [self.name(column)]
        if asked.counts:
            raise NotRead(having[0].text)
        return True

    # aggregates
    def _aggregate(self, asked: Asked) -> bool:
        if not asked.metrics:
            return False
        metrics: list[tuple[str, str]] = []
        for at, word in enumerate(self.row):
            # `the total grid number` may ask for a count or for a sum
            counter = (
                word.letter == "l" and word.word in ("number", "numbers") and at and self.row[at - 1].letter == "C"
            )
            if counter and any(function == "sum" for function, _ in asked.metrics):
                raise NotRead(word.text)
        targets = list(asked.targets)
        if self._two_stages(asked):
            return True
        for function, node in asked.metrics:
            if node is None and function == "sum" and asked.counts:
                continue
            if node is None and function == "sum" and not targets:
                raise NotRead("total")
            if node is None:
                numeric = [
                    t for t in targets if t.letter == "C" and (self._numeric(t) or function in ("min", "max", "mode"))
                ]
                if not numeric:
                    raise NotRead(function)
                node = numeric[0]
                targets.remove(node)
            if function == "mode":
                return self._mode(asked, node, "desc")
            made = self.metric(function, node)
            if made not in metrics:
                metrics.append(made)
        if not metrics:
            return False
        return self._finish_groups(asked, metrics, targets)

    def _two_stages(self, asked: Asked) -> bool:
        """`the average number of orders per month`: counted in each group, then averaged over the groups."""
        lone = (
            len(asked.metrics) == 1
            and asked.metrics[0][1] is None
            and asked.metrics[0][0] in ("mean", "median", "max", "min")
        )
        if not lone or not asked.counts or asked.counts[0][0] or not asked.keys or len(asked.targets) > 0:
            return False
        counted = asked.counts[0][1]
        if (
            counted is not None
            and not self.stands_for_rows(counted)
            and not self.is_id(self.linker.column(counted.columns[0][0]))
        ):
            return False
        function = asked.metrics[0][0]
        query = self.query
        query.keys, query.metrics = [self.key(k) for k in asked.keys], [("count()", "rows")]
        query.second = [(f"{function}(rows)", f"{NAMES[function]} rows")]
        query.notes.append(
            f"rows counted for each {query.keys[0][1]} that has any, then the {NAMES[function]} of those counts"
        )
        return True

    def _finish_groups(self, asked: Asked, metrics: list[tuple[str, str]], targets: list[Node]) -> bool:
        query = self.query
        keys = list(dict.fromkeys(self.key(k) for k in asked.keys))
        if asked.trend and not keys:
            keys.append(self._time_key())
        keys = self._not_each_row(keys, metrics) or self._compared(metrics)
        if asked.counts:
            metrics = [*metrics, ("count()", "rows")] if asked.counts[0][1] is None else metrics
        for target in targets:
            if target.letter != "C":
                raise NotRead(target.text)
            column = self.column(target)
            if (self.name(column), column.name) in keys:
                continue
            if self.stands_for_rows(target):
                continue
            if keys or (not asked.distinct and not self._category(column)):
                raise NotRead(target.text)
            raise NotRead(target.text)
        query.keys, query.metrics = keys, metrics
        self._order_groups(asked)
        return True

    def _not_each_row(self, keys: list[tuple[str, str]], metrics: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """`the average attendance per season` over one row a season is the average over all."""
        per = any(n.letter == "e" and n.word == "per" for n in self.row)
        if not per or len(keys) != 1 or not all(formula.startswith(("mean(", "median(")) for formula, _ in metrics):
            return keys
        column = next((c for c in self.index.columns if c.name == keys[0][1]), None)
        if column is None or not unique_values(self.index.table, column):
            return keys
        self.query.notes.append(f"there is one row for each {column.name}, so the average is over all rows")
        return []

    def _compared(self, metrics: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """`the average age of men and women`: the two named values are groups."""
        if any(formula.startswith(("sum(", "count(")) for formula, _ in metrics):
            return []
        keys = []
        for node in self.row:
            if (
                node.letter == "F"
                and node.op == "and"
                and len(node.filters[0]) == 1
                and len(node.filters[0][0].values) > 1
            ):
                column = self.linker.column(node.filters[0][0].columns[0])
                keys.append((self.name(column), column.name))
        return keys

    def _order_groups(self, asked: Asked) -> None:
        """Sorts the groups as the words say; `highest first` is about the last measure."""
        if asked.first:
            self.query.order = [f"{write.name(self.query.metrics[-1][1])} {asked.first}"]
        for node, direction in asked.orders:
            if node is None:
                self.query.order = [f"{write.name(self.query.keys[0][1])} asc"] if self.query.keys else []
                continue
            column = self.column(node)
            names = [n for _, n in self.query.keys if n == column.name] or [
                n for _, n in self.query.metrics if n.endswith(column.name)
            ]
            if not names:
                raise NotRead(node.text)
            self.query.order.append(f"{write.name(names[0])} {direction}")

    def _category(self, column: Column) -> bool:
        return column.kind in (Kind.TEXT, Kind.BOOLEAN)

    def _mode(self, asked: Asked, node: Node, way: str) -> bool:
        query = self.query
        column = self.column(node)
        query.keys, query.metrics = [(self.name(column), column.name)], [("count()", "rows")]
        query.filters = [*query.filters, Filter(f"{self.name(column)} is not null", (column.id,), node.text)]
        query.order, query.limit = [f"rows {way}"], asked.limit or 1
        query.ties = "keep" if query.limit == 1 else "cut"
        query.show = [self.name(column)] if query.limit == 1 else None
        return True

    # counts
    def _count(self, asked: Asked) -> bool:
        if not asked.counts:
            return False
        query = self.query
        keys = list(dict.fromkeys(self.key(k) for k in asked.keys))
        if asked.trend and not keys:
            keys.append(self._time_key())
        if all(distinct for distinct, _ in asked.counts) and all(n is not None for _, n in asked.counts):
            columns = [self.column(n) for _, n in asked.counts if n]
            query.metrics = [(f"count_distinct({self.name(c)})", f"distinct {c.name}") for c in columns]
            query.keys = keys
            return self._only_known(asked, keys)
        distinct, node = asked.counts[0]
        named = {formula for formula, _ in keys}
        if node is not None and self.name(self.column(node)) in named:
            node = None
        if node is not None and keys and not distinct and self._measures(node) and not self.stands_for_rows(node):
            column = self.measurable(node)
            if not self.additive(column) or node.columns[0][1] < 0.85:
                raise NotRead(node.text)
            query.notes.append(f"{column.name} added up in each group")
            return self._finish_groups(
                Asked(keys=asked.keys, orders=asked.orders, first=asked.first), [self.aggregate("sum", column)], []
            )
        if node is not None and not keys and self._measures(node) and not self.stands_for_rows(node):
            return self._amount(asked, node)
        query.keys, query.metrics = keys, [("count()", "rows")]
        if not keys and self._names_one_row():
            raise NotRead(self.filters[0].said)
        if node is not None and not distinct:
            column = self.column(node)
            if (
                (self.name(column), column.name) in keys
                or unique_values(self.index.table, column)
                or self._noun_of_rows(column)
            ):
                if column.nullable and column.kind is Kind.TEXT and not keys:
                    query.metrics = [(f"count({self.name(column)})", "rows")]
                    query.notes.append(f"rows with a {column.name} counted")
            elif column.kind is Kind.TEXT:
                once = Query(query.source, filters=list(query.filters), notes=[f"each {column.name} counted once"])
                once.metrics = [(f"count_distinct({self.name(column)})", f"distinct {column.name}")]
                if column.id in {id for f in query.filters for id in f.columns}:
                    raise NotRead(node.text)
                query.rivals.append(once)
                query.notes.append("rows counted")
            else:
                raise NotRead(node.text)
        self._only_known(asked, keys)
        self._order_groups(asked)
        return True

    def _names_one_row(self) -> bool:
        """True when a condition picks the one row of a name, so that counting rows would always give 1."""
        held = [f for f in self.filters if f.op == "=" and len(set(f.columns)) == 1 and not f.sides]
        columns = [self.linker.column(f.columns[0]) for f in held]
        return any(
            c.kind is Kind.TEXT and self.index.table.rows > 1 and unique_values(self.index.table, c) for c in columns
        )

    def _noun_of_rows(self, column: Column) -> bool:
        return column.role is Role.ID

    def _only_known(self, asked: Asked, keys: list[tuple[str, str]]) -> bool:
        for target in asked.targets:
            if target.letter == "g":
                raise NotRead(target.text)
            column = self.column(target)
            if (self.name(column), column.name) in keys:
                continue
            if self.stands_for_rows(target):
                continue
            if (
                not keys
                and any(n.letter == "e" for n in self.row) is False
                and len(asked.targets) == 1
                and self._listed_with_count(target)
            ):
                self.query.keys.append((self.name(column), column.name))
                continue
            raise NotRead(target.text)
        return True

    def _listed_with_count(self, target: Node) -> bool:
        """`Show the citizenship and the number of singers`: the target is the group."""
        at = self.row.index(target)
        return (
            at + 2 < len(self.row)
            and self.row[at + 1].letter == "&"
            and any(n.letter == "k" for n in self.row[at + 1 : at + 4])
        )

    def _amount(self, asked: Asked, node: Node) -> bool:
        """`How many points does X have`: the number itself when one row is meant, else the sum."""
        query = self.query
        column = self.measurable(node)
        if asked.subject or asked.said_total:
            raise NotRead(node.text)
        others = [t for t in asked.targets if t.letter == "C" and not self.stands_for_rows(t)]
        if others:
            raise NotRead(others[0].text)
        if not query.filters:
            total = any(f == "sum" for f, _ in asked.metrics)
            if not total:
                raise NotRead(node.text)
            query.metrics = [self.aggregate("sum", column)]
            return True
        if self.additive(column):
            query.metrics = [self.aggregate("sum", column)]
            query.notes.append(f"{column.name} added up over the rows that match")
        else:
            query.columns = [self.name(column)]
        return True
