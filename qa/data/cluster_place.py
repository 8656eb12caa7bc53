"""How the configuration names tables of a Spark cluster: `sc://host:port/orders,shop.customers;token=…`."""

from __future__ import annotations

from qa.errors import Issue, LoadError

SCHEME = "sc://"


def is_cluster(place: str) -> bool:
    """Whether a place of the configuration is a cluster's tables."""
    return place.casefold().startswith(SCHEME)


def split_place(place: str) -> tuple[str, list[str]]:
    """The server's address, with its options, and the tables that a place names. Raises LoadError when none is."""
    server, _, rest = place[len(SCHEME) :].partition("/")
    listed, _, options = rest.partition(";")
    tables = [name.strip() for name in listed.split(",") if name.strip()]
    if not server or not tables:
        raise LoadError(
            Issue("no_tables", place, "This names no tables.", "Write sc://host:port/orders,shop.customers.")
        )
    return f"{SCHEME}{server}{f'/;{options}' if options else ''}", tables


def table_there(place: str) -> tuple[str, str]:
    """The server's address and the one table that a place names."""
    address, tables = split_place(place)
    return address, tables[0]


def each_table(place: str) -> list[str]:
    """A place of several tables as a place for each; any other place as it is."""
    if not is_cluster(place) or not place[len(SCHEME) :].partition("/")[2].partition(";")[0].strip():
        return [place]
    server, _, rest = place[len(SCHEME) :].partition("/")
    options = rest.partition(";")[2]
    return [f"{SCHEME}{server}/{table}{f';{options}' if options else ''}" for table in split_place(place)[1]]
