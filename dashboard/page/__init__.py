"""One file per page: what stands where, and nothing else.

The folder is not called `pages`: beside the main script, Streamlit takes such a folder for another kind of app and runs
its files without the main script.
"""
