"""Files to tables: read bytes, decide kinds, profile, and say what was assumed."""
