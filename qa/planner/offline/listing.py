"""Look-ups and lists: columns of the rows that match, or whole rows."""

from __future__ import annotations

from qa.planner.offline.core import Asked, NotRead
from qa.planner.offline.groups import Groups
from qa.planner.offline.nodes import Node


class Listing(Groups):
    """Builds the query of a look-up or a list."""

    # rows
    def _rows(self, asked: Asked) -> bool:
        query = self.query
        targets = list(asked.targets)
        if self.row and self.row[0].letter == "b" and not query.filters:
            raise NotRead(self.row[0].text)
        if asked.keys and not asked.metrics and self._rows_counted(asked, targets):
            return True
        if any(k.letter != "C" for k in asked.keys) and not self._one_measure(targets):
            raise NotRead(asked.keys[0].text)
        if asked.keys and not targets and not asked.rows:
            raise NotRead(asked.keys[0].text)
        if any(node is None for _, node in asked.metrics):
            raise NotRead(asked.metrics[0][0])
        if asked.wh[:1] == ["who"] and any(t.letter == "C" and not self._is_text(t) for t in targets):
            raise NotRead(targets[0].text)
        used = {id for f in query.filters for id in f.columns}
        if asked.wh[:1] in (["who"], ["where"], ["when"]) and targets:
            first = next((n for n, node in enumerate(self.row) if node.letter == "F"), len(self.row))
            if targets[0] in self.row and self.row.index(targets[0]) > first and self.row[0].letter == "w":
                raise NotRead(targets[0].text)
        question = [w for w in asked.wh if w in ("who", "where", "when")]
        if not targets and question:
            targets = [self._asked_column(question[0], used)]
        if (asked.trend or asked.keys) and not asked.orders and self._summed(asked, targets):
            return True
        if asked.trend or asked.first:
            raise NotRead("trend" if asked.trend else "first")
        if not targets and self._asks_person():
            targets = [self._asked_column("who", used)]
        if any(t.letter != "C" for t in targets):
            raise NotRead(targets[0].text)
        if asked.keys and (asked.metrics or not targets):
            targets += [k for k in asked.keys if k.letter == "C"]
        elif asked.keys:
            targets = [*[k for k in asked.keys if k.letter == "C"], *targets]
        if not targets and not asked.rows and not query.filters:
            raise NotRead("?")
        columns = list(dict.fromkeys(self.name(self.column(t)) for t in targets))
        if len(columns) > 1 and not self._coordinated(targets):
            kept = [t for t in targets if not self.stands_for_rows(t)]
            if kept and len(kept) < len(targets) and self._coordinated(kept):
                columns = list(dict.fromkeys(self.name(self.column(t)) for t in kept))
            else:
                raise NotRead(*[t.text for t in targets[1:]])
        held = {c for f in query.filters if f.op == "=" for c in f.columns}
        if targets and not asked.distinct and {self.column(t).id for t in targets} <= held and len(query.filters) == 1:
            raise NotRead(targets[0].text)
        query.columns, query.distinct = columns, asked.distinct
        for node, direction in asked.orders:
            if node is None and not columns:
                raise NotRead("alphabetically")
            name = columns[0] if node is None else self.name(self.column(node))
            query.order.append(f"{name} {direction}")
        if not columns and not (self._lists_rows(asked) and (query.filters or query.order)):
            raise NotRead("?")
        named = (
            self.label() if not columns and self.row[0].letter == "s" and self.row[0].word in self.lex.naming else None
        )
        if named is not None:
            query.columns = [self.name(named)]
        return True

    def _one_measure(self, targets: list[Node]) -> bool:
        return len(targets) == 1 and self._measures(targets[0])

    def _rows_counted(self, asked: Asked, targets: list[Node]) -> bool:
        """`orders per year`: rows, counted in each group."""
        lead = [n for n in self.row if n.letter not in "sFi"][:1]
        rowlike = [
            t
            for t in targets
            if t.letter == "C" and self.is_id(self.linker.column(t.columns[0][0])) and t.columns[0][1] <= 0.5
        ]
        if (
            not lead
            or lead[0].letter not in "nC"
            or len(rowlike) != len(targets)
            or not (rowlike or asked.rows)
            or asked.orders
        ):
            return False
        self.query.notes.append("rows counted in each group")
        return self._finish_groups(Asked(keys=asked.keys, first=asked.first), [("count()", "rows")], [])

    def _summed(self, asked: Asked, targets: list[Node]) -> bool:
        """`new listings by state`, `how has the price changed over time`: a measure without its aggregate."""
        numeric = [t for t in targets if self._measures(t)]
        if len(numeric) != 1 or len(targets) != 1:
            return False
        column = self.measurable(numeric[0])
        function = self._summary(column)
        self.query.notes.append(
            f"{column.name} taken as its {'average' if function == 'mean' else 'total'} in each group"
        )
        asked.targets = []
        return self._finish_groups(asked, [self.aggregate(function, column)], [])

    def _asks_person(self) -> bool:
        """`which player …` where no column is called player: the column of names answers."""
        lead = [n for n in self.row if n.letter not in "eis"][:2]
        if lead and lead[0].word in ("everybody", "everyone", "anybody", "anyone"):
            return True
        if (
            len(lead) < 2
            or lead[0].letter not in "w"
            or lead[1].letter not in "nl"
            or lead[1].word not in self.lex.persons
        ):
            return False
        try:
            self._asked_column("who", {id for f in self.filters for id in f.columns})
        except NotRead:
            return False
        return True

    def _lists_rows(self, asked: Asked) -> bool:
        """True when whole rows are asked for: `which cars have …`, `list the orders over …`."""
        lead = [n for n in self.row if n.letter not in "ei"]
        opened = bool(lead) and lead[0].letter == "s"
        while opened and lead and lead[0].letter in "spo":
            lead = lead[1:]
        if not lead or any(n.letter == "l" for n in self.row[:4]):
            return False
        if lead[0].letter == "w" and lead[0].op in ("which", "what") and len(lead) > 1:
            lead = lead[1:]
        elif lead[0].letter == "w":
            return False
        return lead[0].letter == "n" or (lead[0].letter == "F" and asked.rows)
