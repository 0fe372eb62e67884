"""Rounds in; verdicts, wins, ledger and problems out.  The only package that uses numba."""
