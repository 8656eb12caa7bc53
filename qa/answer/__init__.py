"""Results to answers: sentence, value, table, chart, checks, downloads, links."""
