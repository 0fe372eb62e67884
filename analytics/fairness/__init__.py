"""The fairness audit: 24 checks, each a pure function from the data set's tables to result rows.  Source: fairness.md.

`battery.run` runs them all and applies the contract; one file a family holds the checks; `result` says what a row is.
"""
