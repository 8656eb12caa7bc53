"""SQL in: a SELECT becomes a typed plan, or an issue names the clause that cannot be said."""

from qa.plan.from_sql.query import translate

__all__ = ["translate"]
