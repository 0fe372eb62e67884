"""The screen: DuckDB in, Streamlit pages out."""
