"""The query layer: any statistic of the registry, split and filtered, with n and its interval.

The SQL of statistics is made here from the registry, over `sittings`, or over `seat_rounds` where a split or filter
needs single rounds.  Answers are polars frames in a stated order; sums are integers until the last division, which
NumPy does in row order, so that the same data set gives the same bits.
"""

from collections.abc import Sequence

import duckdb
import numpy as np
import polars as pl

from analytics import intervals
from analytics.intervals import Sums
from analytics.metrics import Metric, MetricError, get
from analytics.selection import SPLITS, Where, polars, source_of

SQUARES, CUBES = Sums._fields[:6], Sums._fields[6:]


def metric(
    connection: duckdb.DuckDBPyConnection, name: str, by: Sequence[str] = (), where: Where = None
) -> pl.DataFrame:
    """One statistic per cell of the splits `by`: their columns, k, n, games, value, low, high; ordered by the splits.

    where: split → value, None, or a list of values; since and until are UTC days, both ends included; verdict,
    coverage, end and round_id filter rounds.  k is the numerator in the statistic's unit.  Cells without n have no
    row.  MetricError on an unknown name, split or filter.
    """
    return metrics(connection, [name], by, where).drop("metric")


def metrics(
    connection: duckdb.DuckDBPyConnection,
    names: Sequence[str],
    by: Sequence[str] = (),
    where: Where = None,
    view: str = "",
) -> pl.DataFrame:
    """Several statistics in one pass: as `metric`, with the column `metric` after the splits, in the order asked.

    view: of single rounds, to read in any case (selection.source_of).
    """
    wanted = [_summed(name) for name in names]
    cells, sums = totals(connection, wanted, by, where, view)
    frames = [
        cells.with_columns(pl.lit(one.id).alias("metric"), *estimates(one, found), pl.lit(number).alias("_metric"))
        for number, (one, found) in enumerate(zip(wanted, sums, strict=True))
    ]
    out = pl.concat(frames).filter(pl.col("n") > 0)
    return out.sort("_cell", "_metric", maintain_order=True).drop("_cell", "_metric")


def estimates(one: Metric, sums: Sums) -> list[pl.Series]:
    """The columns k, n, games, value, low, high of a statistic's sums."""
    found = intervals.rate(sums) if one.kind == "rate" else intervals.mean(sums, one.signed)
    return [
        pl.Series("k", sums.k), pl.Series("n", sums.n.astype(np.int64)),
        pl.Series("games", sums.games.astype(np.int64)),
        *(pl.Series(name, column).fill_nan(None) for name, column in zip(("value", "low", "high"), found, strict=True)),
    ]  # fmt: skip


def totals(
    connection: duckdb.DuckDBPyConnection,
    wanted: Sequence[Metric],
    by: Sequence[str] = (),
    where: Where = None,
    view: str = "",
) -> tuple[pl.DataFrame, list[Sums]]:
    """The cells of the splits in order, numbered in the column _cell, and each statistic's sums of every cell."""
    source, parameters = source_of(by, where, view)
    keys = [f"{SPLITS.get(name, name)} AS {name}" for name in by]
    names = list(by)
    stake = ["base"] if "base" not in by and any(one.in_stakes for one in wanted) else []
    parts = list(dict.fromkeys(part for one in wanted for part in (one.numerator, one.denominator)))
    place = {part: f"s{number}" for number, part in enumerate(parts)}
    inner = ", ".join([*keys, *stake, "game_key AS g", *(f"{total(part)} AS {place[part]}" for part in parts)])
    groups = [*names, *stake]
    games = f"SELECT {inner} FROM {source} GROUP BY ALL"
    few = isinstance((where or {}).get("player"), str)  # of one account there are not many: planning would cost most
    if few:
        query = f"{games} ORDER BY {', '.join(f'{name} NULLS FIRST' for name in [*groups, 'g'])}"
    else:
        outer = list(groups)
        for number, one in enumerate(wanted):
            outer += _moments(place[one.numerator], place[one.denominator], _wide(one), number)
            outer += _cubes(one, place[one.numerator], place[one.denominator], number)
        query = f"WITH games AS ({games}) SELECT {', '.join(outer)} FROM games"
        if groups:
            ordered = ", ".join(f"{name} NULLS FIRST" for name in groups)
            query += f" GROUP BY {', '.join(groups)} ORDER BY {ordered}"
    frame = polars(connection, query, parameters)
    index = _cell_of(frame, names)
    cells = frame.with_columns(pl.Series("_cell", index)).select(*names, "_cell").unique("_cell", maintain_order=True)
    bases = frame["base"].to_numpy().astype(np.float64) if "base" in frame.columns else np.ones(frame.height)
    sums = []
    for number, one in enumerate(wanted):
        scale = _scale(one, bases)
        if few:
            k, n = (frame[place[part]].fill_null(0).to_numpy() for part in (one.numerator, one.denominator))
            found = _powers(k / scale, n.astype(np.float64), one.kind == "mean")
        else:
            squares = Sums(*(frame[f"{name}{number}"].fill_null(0).to_numpy() for name in SQUARES))
            found = _scaled(squares, scale)
            if one.kind == "mean":
                cubes = (frame[f"{name}{number}"].fill_null(0).to_numpy() for name in CUBES)
                found = found._replace(**dict(zip(CUBES, cubes, strict=True)))
        sums.append(_added(found, index, cells.height))
    return cells, sums


def values(
    connection: duckdb.DuckDBPyConnection, names: Sequence[str], by: Sequence[str] = (), where: Where = None
) -> pl.DataFrame:
    """Several statistics per cell without intervals, fast: the splits, metric, k, n, value."""
    wanted = [_summed(name) for name in names]
    source, parameters = source_of(by, where)
    keys, stake = list(by), ["base"] if "base" not in by and any(one.in_stakes for one in wanted) else []
    parts = list(dict.fromkeys(part for one in wanted for part in (one.numerator, one.denominator)))
    columns = [f"{SPLITS.get(name, name)} AS {name}" for name in by] + stake
    sums = [f"CAST(sum({part}) AS DOUBLE) AS s{number}" for number, part in enumerate(parts)]
    order = ", ".join(f"{name} NULLS FIRST" for name in [*keys, *stake])
    grouped = f" GROUP BY ALL ORDER BY {order}" if order else ""
    frame = polars(connection, f"SELECT {', '.join([*columns, *sums])} FROM {source}{grouped}", parameters)
    index = _cell_of(frame, keys)
    cells = frame.with_columns(pl.Series("_cell", index)).select(*keys, "_cell").unique("_cell", maintain_order=True)
    bases = frame["base"].to_numpy().astype(np.float64) if "base" in frame.columns else np.ones(frame.height)
    found = []
    for number, one in enumerate(wanted):
        k, n = (frame[f"s{parts.index(part)}"].fill_null(0).to_numpy() for part in (one.numerator, one.denominator))
        k = k / _scale(one, bases)
        k, n = (np.bincount(index, column, cells.height) for column in (k, n))
        counted = (pl.Series("k", k), pl.Series("n", n.astype(np.int64)))
        found.append(cells.with_columns(pl.lit(one.id).alias("metric"), *counted, pl.lit(number).alias("_metric")))
    out = pl.concat(found).filter(pl.col("n") > 0).with_columns((pl.col("k") / pl.col("n")).alias("value"))
    return out.sort("_cell", "_metric", maintain_order=True).drop("_cell", "_metric")


def total(part: str) -> str:
    """The sum of a numerator or denominator as SQL."""
    return f"CAST(sum({part}) AS BIGINT)"


def _moments(k: str, n: str, wide: bool, number: int) -> list[str]:
    """The six sums over games, as SQL; wide: squares may be beyond 64 bits."""
    big = f"CAST({k} AS HUGEINT)" if wide else k
    formulas = (f"sum({k})", f"sum({n})", f"count(*) FILTER ({n} <> 0)", f"sum({big} * {k})", f"sum({big} * {n})",
                f"sum({n} * {n})")  # fmt: skip
    named = zip(formulas, SQUARES, strict=True)
    return [f"CAST({formula} AS DOUBLE) AS {name}{number}" for formula, name in named]


def _cubes(one: Metric, k: str, n: str, number: int) -> list[str]:
    """The four sums of cubes over games of a mean, in its unit, as SQL; of whole thousandths, which add up exactly."""
    if one.kind != "mean":
        return []
    parts = f"1000.0 * {k} / nullif(base, 0)" if one.in_stakes else f"1000.0 * {k} / {one.scale}"
    u, n = f"CAST(round({parts}) AS HUGEINT)", f"CAST({n} AS HUGEINT)"
    products = ((u, u, u), (u, u, n), (u, n, n), (n, n, n))
    return [
        f"CAST(sum({' * '.join(factors)}) AS DOUBLE) / 1e{3 * factors.count(u)} AS {name}{number}"
        for factors, name in zip(products, CUBES, strict=True)
    ]


def _powers(k: np.ndarray, n: np.ndarray, cubes: bool) -> Sums:
    """The sums of single games, of which there is one a row; cubes of whole thousandths, as _cubes has them."""
    squares = (k, n, (n != 0).astype(np.float64), k * k, k * n, n * n)
    u = np.copysign(np.floor(np.abs(1000.0 * k) + 0.5), k)
    return Sums(*squares, *((u**3 / 1e9, u * u * n / 1e6, u * n * n / 1e3, n**3) if cubes else ()))


def _wide(one: Metric) -> bool:
    """Whether squares of its numerator may be beyond 64 bits."""
    return one.in_stakes or one.scale > 1


def _scale(one: Metric, bases: np.ndarray) -> np.ndarray:
    """What the numerator of rows of these stakes is divided by; a table without one moves nothing to be added up."""
    return np.where(bases > 0, bases, np.inf) if one.in_stakes else np.full(len(bases), float(one.scale))


def _scaled(sums: Sums, scale: np.ndarray) -> Sums:
    """The six sums with numerators divided by their scale."""
    return sums._replace(k=sums.k / scale, kn=sums.kn / scale, kk=sums.kk / scale**2)


def _added(sums: Sums, index: np.ndarray, cells: int) -> Sums:
    """Rows of one cell added up, in row order."""
    return sums.each(lambda column: np.bincount(index, column, cells))


def _cell_of(frame: pl.DataFrame, names: list[str]) -> np.ndarray:
    """int64[rows]: the number of each row's cell, in a frame ordered by `names`."""
    if not names:
        return np.zeros(frame.height, np.int64)
    return frame.select(pl.struct(names).rle_id().cast(pl.Int64)).to_series().to_numpy()


def quantile(
    connection: duckdb.DuckDBPyConnection, name: str, by: Sequence[str] = (), where: Where = None
) -> pl.DataFrame:
    """A quantile statistic per cell: splits, n, value, low, high; the interval is distribution-free."""
    one = get(name)
    if one.kind != "quantile" or one.quantile is None:
        raise MetricError(f"{name} is no quantile")
    source, values = source_of(by, where, "win_rounds")
    keys = [f"{SPLITS.get(part, part)} AS {part}" for part in by]
    names = list(by)
    value = f"{one.numerator} / nullif(base, 0)" if one.in_stakes else one.numerator
    frame = polars(
        connection,
        f"SELECT {', '.join([*keys, f'{value} AS value', 'count(*) AS n'])} FROM {source} "
        f"GROUP BY ALL ORDER BY {', '.join([f'{part} NULLS FIRST' for part in names] + ['value'])}",
        values,
    )
    rows = []
    for key, cell in frame.group_by(names, maintain_order=True) if names else [((), frame)]:
        upto = np.cumsum(cell["n"].to_numpy())
        if len(upto):
            ranks = intervals.quantile_ranks(int(upto[-1]), one.quantile)
            at = [cell["value"][int(np.searchsorted(upto, rank))] for rank in ranks]
            rows.append((*key, int(upto[-1]), *map(float, at)))
    schema = {part: frame.schema[part] for part in names}
    schema |= {"n": pl.Int64(), "value": pl.Float64(), "low": pl.Float64(), "high": pl.Float64()}
    return pl.DataFrame(rows, schema, orient="row")


def compare(connection: duckdb.DuckDBPyConnection, names: Sequence[str], a: Where, b: Where) -> pl.DataFrame:
    """Two groups side by side: metric, value_a, n_a, value_b, n_b, difference, low, high; groups may share games."""
    wanted = [_summed(name) for name in names]
    (source_a, values_a), (source_b, values_b) = source_of((), a), source_of((), b)
    parts = list(dict.fromkeys(part for one in wanted for part in (one.numerator, one.denominator)))
    place = {part: f"s{number}" for number, part in enumerate(parts)}
    inner = ", ".join(["base", "game_key AS g", *(f"{total(part)} AS {place[part]}" for part in parts)])
    both = ", ".join(f"coalesce({side}.{name}, 0) AS {side}{name}" for side in "ab" for name in place.values())
    outer = ["base"]
    for number, one in enumerate(wanted):
        k, n = place[one.numerator], place[one.denominator]
        for side in "ab":
            outer += [f"{part}_{side}" for part in _moments(side + k, side + n, _wide(one), number)]
        for what, formula in (("c0", (k, k)), ("c1", (k, n)), ("c2", (n, k)), ("c3", (n, n))):
            outer.append(f"CAST(sum(CAST(a{formula[0]} AS HUGEINT) * b{formula[1]}) AS DOUBLE) AS {what}_{number}")
    frame = polars(
        connection,
        f"WITH a AS (SELECT {inner} FROM {source_a} GROUP BY ALL), b AS (SELECT {inner} FROM {source_b} GROUP BY ALL), "
        f"games AS (SELECT base, {both} FROM a FULL JOIN b USING (base, g)) "
        f"SELECT {', '.join(outer)} FROM games GROUP BY base ORDER BY base NULLS FIRST",
        [*values_a, *values_b],
    )
    index, bases = np.zeros(frame.height, np.int64), frame["base"].fill_null(0).to_numpy().astype(np.float64)
    rows = []
    for number, one in enumerate(wanted):
        scale = _scale(one, bases)
        sides = []
        for side in "ab":
            found = Sums(*(frame[f"{name}{number}_{side}"].fill_null(0).to_numpy() for name in SQUARES))
            sides.append(_added(_scaled(found, scale), index, 1))
        powers = zip(range(4), (2, 1, 1, 0), strict=True)
        cross = np.array(
            [(frame[f"c{c}_{number}"].to_numpy() / scale**power).sum(keepdims=True) for c, power in powers]
        )
        found = intervals.difference(*sides, cross)
        values = [intervals.mean(side).value[0] for side in sides]
        rows.append((one.id, values[0], int(sides[0].n[0]), values[1], int(sides[1].n[0]), *(v[0] for v in found)))
    schema = ("metric", "value_a", "n_a", "value_b", "n_b", "difference", "low", "high")
    return pl.DataFrame(rows, schema, orient="row").fill_nan(None)


def _summed(name: str) -> Metric:
    one = get(name)
    if one.kind == "quantile":
        raise MetricError(f"{name} is a quantile: ask quantile() for it")
    return one
