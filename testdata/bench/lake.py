"""lake.py LAKE QUERIES: how fast DuckDB and Polars answer from a plain lake: one place of one artifact, and the queries of the
folder QUERIES that join frames, here a million of all artifacts, with ranges: from build-ids to function, file and line. The
engines must agree on how many are found and on the sum of their lines."""
import csv
import os
import random
import subprocess
import sys
import tempfile
import time

import duckdb
import polars as pl

lake, queries = sys.argv[1:3]
con = duckdb.connect()
con.execute("SET threads = 2")
con.execute(open(queries + "/current.sql").read().replace("./symlake-data/lake", lake))
files = con.execute("SELECT getvariable('ranges')").fetchone()[0]
rows = con.execute("SELECT count(*) FROM read_parquet(?)", [files]).fetchone()[0]
ends = con.execute("SELECT artifact, max(range_end) FROM read_parquet(?) GROUP BY artifact ORDER BY artifact", [files]).fetchall()
ids = dict(con.execute("SELECT artifact, name FROM names WHERE name_kind = 'build-id'").fetchall())
rng = random.Random(1)


def timed(f, times):
    best = None
    for _ in range(times):
        start = time.perf_counter()
        got = f()
        best = min(best or 1e9, time.perf_counter() - start)
    return best, got


ONE_PLACE = "SELECT function, file, line FROM read_parquet(?) WHERE artifact = ? AND range_end > ? AND range_start <= ?"
live = dict(con.execute("SELECT artifact, file FROM live").fetchall())


def point(artifact, position):
    return con.execute(ONE_PLACE, [f"{lake}/{live[artifact]}", artifact, position, position]).fetchall()


def point_in_all(artifact, position):
    return con.execute(ONE_PLACE, [files, artifact, position, position]).fetchall()


def point_in_none(_, position):
    return con.execute(ONE_PLACE, [files, "0" * 32, position, position]).fetchall()


def point_polars(artifact, position):
    at = (pl.col("artifact") == artifact) & (pl.col("range_end") > position) & (pl.col("range_start") <= position)
    return pl.scan_parquet(f"{lake}/{live[artifact]}", hive_partitioning=False).filter(at).select("function", "file", "line").collect().rows()


asked = [(a, rng.randrange(top)) for a, top in rng.choices(ends, k=20)]
print(f"{rows / 1e6:.1f} M rows, {len(files)} files, {len(ends)} artifacts")
for name, f in (
    ("DuckDB, by the file that live names", point),
    ("DuckDB, all files", point_in_all),
    ("DuckDB, all files, an artifact that is not there", point_in_none),
    ("Polars, by the file that live names", point_polars),
):
    took = sorted(timed(lambda: f(a, p), 3)[0] for a, p in asked)
    print(f"{name}, one place: {1e3 * took[10]:.1f} ms the median of 20, {1e3 * took[-1]:.1f} the slowest (best of 3 each)")
assert all(point(*x) == point_in_all(*x) == point_polars(*x) for x in asked), "the engines disagree"

tmp = tempfile.TemporaryDirectory(prefix="symlake-lake-")
asking = tmp.name + "/frames.csv"
with open(asking, "w", newline="") as f:
    out = csv.writer(f)
    out.writerow(["frame", "name", "address"])
    out.writerows((i, ids[a], rng.randrange(top)) for i, (a, top) in enumerate(rng.choices(ends, k=1_000_000)))
con.execute("CREATE TABLE frames AS SELECT * FROM read_csv(?, types = {'frame': 'BIGINT', 'name': 'VARCHAR', 'address': 'UBIGINT'})", [asking])


def asof():
    con.execute("CREATE OR REPLACE TABLE found AS " + open(queries + "/frames.sql").read())
    return con.execute("SELECT count(line), sum(line) FROM found").fetchone()


def join_asof():
    with open(tmp.name + "/found.csv", "wb") as out:
        subprocess.run([sys.executable, queries + "/frames_polars.py", lake, asking], stdout=out, check=True)
    return pl.read_csv(tmp.name + "/found.csv", columns=["line"]).select(pl.col("line").count(), pl.col("line").cast(pl.Int64).sum().alias("sum")).row(0)


want = None
for name, f in ("DuckDB, frames.sql", asof), ("Polars, frames_polars.py, CSV in and out", join_asof):
    cpu = sum(os.times()[:4])
    took, got = timed(f, 3)
    cpu = (sum(os.times()[:4]) - cpu) / 3
    print(f"{name}, 1 M places: {took:.2f} s, {cpu:.2f} s of processor, {got[0]} found, sum of lines {got[1]}", flush=True)
    want = want or got
    assert got == want, "the engines disagree"
