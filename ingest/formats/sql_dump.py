"""The rows that a MySQL dump inserts into given tables, read as a stream of tokens in bounded memory.

Understood: INSERT and REPLACE with or without a column list, any number of rows a statement, quotes with backslash
and doubled-quote escapes, NULL, comments of all three kinds, quoted names with or without a schema.  Every other
statement is skipped, whatever its strings hold.  A row longer than ROW_LIMIT, or one that the dump cuts, comes as a
Reject.  Source: the MySQL manual's lexical rules as far as mysqldump and its kin use them.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ingest.rejects import RAW_LIMIT, Reject

ROW_LIMIT = 1 << 20  # bytes of one row, strings included

_TOKEN = re.compile(
    rb"""(?P<blank>\s+)
    | (?P<comment>--(?=[\s])[^\n]*+\n | \#[^\n]*+\n | /\*(?>[^*]+|\*(?!/))*+\*/)
    | (?P<string>'(?>[^'\\]+|\\.|'')*+' | "(?>[^"\\]+|\\.|"")*+")
    | (?P<name>`(?>[^`]+|``)*+`)
    | (?P<mark>[(),;])
    | (?P<word>[^\s'"`(),;\#]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_OPENERS = (b"'", b'"', b"`", b"/*", b"--", b"#")
_CLOSERS = {
    b"'": re.compile(rb"(?>[^'\\]+|\\.|'')*+'(?!')", re.DOTALL),
    b'"': re.compile(rb'(?>[^"\\]+|\\.|"")*+"(?!")', re.DOTALL),
    b"`": re.compile(rb"(?>[^`]+|``)*+`(?!`)", re.DOTALL),
    b"/*": re.compile(rb".*?\*/", re.DOTALL),
    b"--": re.compile(rb"[^\n]*\n"),
    b"#": re.compile(rb"[^\n]*\n"),
}
_ESCAPE = re.compile(rb"\\(.)|''|\"\"", re.DOTALL)
_ESCAPED = {b"0": b"\0", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"Z": b"\x1a"}


class SqlRow(NamedTuple):
    """One inserted row: 1-based line and offset of its "(", its bytes, and its values by column or why not."""

    line: int
    byte: int
    raw: bytes
    values: dict[str, str | None] | Reject


class _Token(NamedTuple):
    kind: str  # blank and comment never get out; "end" at the end, "cut" for a token that the end cuts, "long"
    text: bytes
    byte: int
    line: int


class _Tokens:
    """Tokens of a byte stream.  Whatever is consumed is dropped, except since `mark` (the start of a row)."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._held = b""
        self._at = 0  # of the next token in _held
        self._base = 0  # offset of _held[0]
        self._line = 1
        self._ended = False
        self._mark: int | None = None

    def mark(self, token: _Token) -> None:
        """Keeps the bytes from `token` on until `raw`."""
        self._mark = token.byte

    def raw(self) -> bytes:
        """The bytes since the mark, which goes."""
        out = self._held[self._mark - self._base : self._at]
        self._mark = None
        return out

    def since_mark(self) -> int:
        """Bytes read since the mark."""
        return self._base + self._at - self._mark

    def _more(self) -> bool:
        keep = self._at if self._mark is None else min(self._at, self._mark - self._base)
        piece = next(self._chunks, b"")
        self._held = self._held[keep:] + piece
        self._base += keep
        self._at -= keep
        self._ended = not piece
        return bool(piece)

    def next(self) -> _Token:
        """The next token that is neither blank nor comment."""
        while True:
            found = _TOKEN.match(self._held, self._at)
            if (found is None or found.end() == len(self._held)) and not self._ended:
                if len(self._held) - self._at <= ROW_LIMIT:
                    self._more()
                    continue
                if found is None:
                    return self._skip()
            if found is None:
                rest = self._held[self._at :]
                token = _Token("cut" if rest else "end", rest, self._base + self._at, self._line)
                self._at = len(self._held)
                return token
            token = _Token(found.lastgroup or "", found[0], self._base + self._at, self._line)
            self._at = found.end()
            self._line += found[0].count(b"\n")
            if token.kind not in ("blank", "comment"):
                return token

    def _skip(self) -> _Token:
        """Passes over a token that is too long to hold; its first bytes stand for it."""
        opener = next(opener for opener in _OPENERS if self._held.startswith(opener, self._at))
        token = _Token("long", self._held[self._at : self._at + RAW_LIMIT], self._base + self._at, self._line)
        self._mark = None
        self._line += self._held.count(b"\n", self._at, self._at + len(opener))
        self._at += len(opener)
        while True:
            found = _CLOSERS[opener].match(self._held, self._at)
            if found is not None and (found.end() < len(self._held) or self._ended):
                self._line += found[0].count(b"\n")
                self._at = found.end()
                return token
            if self._ended:
                self._at = len(self._held)
                return token
            # Keep the last bytes: they may be half of an escape or of a closer.
            cut = max(self._at, len(self._held) - 2)
            while cut > self._at and self._held[cut - 1 : cut] in (b"\\", opener[:1], b"*"):
                cut -= 1
            self._line += self._held.count(b"\n", self._at, cut)
            self._at = cut
            self._more()


def _text(token: _Token) -> str | None:
    """The value of one token; UnicodeDecodeError."""
    data = token.text
    if token.kind != "string":
        return None if data.upper() in (b"NULL", rb"\N") else data.decode()
    data = data[1:-1]
    if b"\\" in data or b"''" in data or b'""' in data:
        data = _ESCAPE.sub(lambda hit: _ESCAPED.get(hit[1], hit[1]) if hit[1] else hit[0][:1], data)
    return data.decode()


def _name(token: _Token) -> str:
    data = token.text.decode("utf-8", "backslashreplace")
    return data.replace("`", "").replace('"', "").rsplit(".", 1)[-1]


def _skip_statement(tokens: _Tokens, token: _Token) -> None:
    while token.kind not in ("end", "cut") and token.text != b";":
        token = tokens.next()


def rows(chunks: Iterable[bytes], tables: Iterable[str], columns: tuple[str, ...]) -> Iterator[SqlRow]:
    """The rows that the dump inserts into `tables`, in order; `columns` are a table's where a statement names none."""
    tokens = _Tokens(chunks)
    wanted = frozenset(tables)
    while (token := tokens.next()).kind not in ("end", "cut"):
        if token.text.upper() not in (b"INSERT", b"REPLACE"):
            _skip_statement(tokens, token)
            continue
        name = b""
        while (token := tokens.next()).kind in ("word", "name") or token.text[:1] == b'"':  # "t_games" in ANSI mode
            if token.text.upper() in (b"VALUES", b"VALUE"):
                break
            name = token.text if token.text.startswith(b".") is False else name + token.text
            last = token
        if not name or _name(last) not in wanted:
            _skip_statement(tokens, token)
            continue
        listed = columns
        if token.text == b"(":
            listed = []
            while (token := tokens.next()).kind in ("word", "name", "string") or token.text == b",":
                if token.text != b",":
                    listed.append(_name(token))
            token = tokens.next()
        if token.text.upper() in (b"VALUES", b"VALUE"):
            token = yield from _tuples(tokens, tuple(listed))
        _skip_statement(tokens, token)


def _tuples(tokens: _Tokens, columns: tuple[str, ...]) -> Iterator[SqlRow]:
    """The rows after VALUES; returns the token that follows the last."""
    while (token := tokens.next()).text in (b"(", b","):
        if token.text == b"(":
            yield _row(tokens, token, columns)
    return token


def _row(tokens: _Tokens, opening: _Token, columns: tuple[str, ...]) -> SqlRow:
    tokens.mark(opening)
    values: list[_Token] = []
    reject: Reject | None = None
    expects = True  # a value, not a comma
    depth = 1
    raw = None
    while True:
        token = tokens.next()
        if token.kind in ("end", "cut"):
            reject = Reject("truncated", None, "the dump breaks off inside a row")
            break
        if token.kind == "long" or raw is None and tokens.since_mark() > ROW_LIMIT:
            reject = Reject("too_long", None, f"a row of more than {ROW_LIMIT} bytes")
            raw = token.text if token.kind == "long" else tokens.raw()[:RAW_LIMIT]
        depth += (token.text == b"(") - (token.text == b")")
        if depth == 0:
            break
        if depth > 1 or reject:
            reject = reject or Reject("bad_type", None, "an expression among the values, expected plain values")
        elif token.text == b"," or not expects:
            if token.text != b"," or expects:
                reject = Reject("bad_type", None, f"{token.text[:40]!r} where a comma or a value was expected")
            expects = True
        else:
            values.append(token)
            expects = False
    raw = tokens.raw() if raw is None else raw
    if reject is None and len(values) != len(columns):
        reject = Reject("bad_count", None, f"{len(values)} values for {len(columns)} columns")
    if reject is None:
        try:
            found = dict(zip(columns, map(_text, values), strict=True))
        except UnicodeDecodeError as error:
            reject = Reject("not_utf8", None, f"not UTF-8 ({error.reason} at byte {error.start} of a value)")
    return SqlRow(opening.line, opening.byte, raw, reject or found)
