"""The queries of single pages, a file for each page, and which rounds stand behind a mark of their pictures."""
