"""The record of every question: chained, searchable, exportable, and checked for tampering."""

from qa.audit.chain import verify_export
from qa.audit.store import Audit, AuditUnavailable

__all__ = ["Audit", "AuditUnavailable", "verify_export"]
