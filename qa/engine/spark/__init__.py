"""Plans on a Spark cluster: the SQL twin in Spark's dialect, sent through Spark Connect."""
