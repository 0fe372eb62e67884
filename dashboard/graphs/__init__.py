"""Pictures of single pages, a file for each page: frames with labels in the reader's language to charts.

Conventions are those of charts.py.  A column `href` makes a mark a link; `few` is drawn pale.
"""
