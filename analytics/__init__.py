"""Tables to answers: the DuckDB data set, its views and exports.  The only place for duckdb."""
