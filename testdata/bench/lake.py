"""lake.py LAKE: how fast DuckDB and Polars answer from a plain lake: one place of one artifact, and a million (artifact,
address) joined with all ranges. The engines must agree on how many are found and on the sum of their lines."""
import glob
import json
import random
import sys
import time

import duckdb
import polars as pl

lake = sys.argv[1]
manifest = json.load(open(max(glob.glob(lake + "/_manifest/*.json"))))
files = [lake + "/" + f["path"] for f in manifest["files"] if f["table"] == "ranges"]
con = duckdb.connect()
con.execute("SET threads = 2")
rows = con.execute("SELECT count(*) FROM read_parquet(?)", [files]).fetchone()[0]
ends = con.execute("SELECT artifact, max(range_end) FROM read_parquet(?) GROUP BY artifact ORDER BY artifact", [files]).fetchall()
rng = random.Random(1)


def timed(f, times):
    best = None
    for _ in range(times):
        start = time.perf_counter()
        got = f()
        best = min(best or 1e9, time.perf_counter() - start)
    return best, got


def point(artifact, position):
    return con.execute(
        "SELECT function, file, line FROM read_parquet(?) WHERE artifact = ? AND range_end > ? AND range_start <= ?",
        [files, artifact, position, position],
    ).fetchall()


asked = [(a, rng.randrange(top)) for a, top in rng.choices(ends, k=20)]
took = sorted(timed(lambda: point(a, p), 3)[0] for a, p in asked)
print(f"{rows / 1e6:.1f} M rows, {len(files)} files, {len(ends)} artifacts")
print(f"DuckDB, one place: {1e3 * took[10]:.1f} ms the median of 20, {1e3 * took[-1]:.1f} the slowest (best of 3 each)")

places = [(a, rng.randrange(top)) for a, top in rng.choices(ends, k=1_000_000)]
frames = pl.DataFrame({"artifact": [a for a, _ in places], "position": [p for _, p in places]}, schema={"artifact": pl.String, "position": pl.Int64})
con.execute("CREATE TABLE frames (artifact VARCHAR, position BIGINT)")
con.execute("INSERT INTO frames SELECT * FROM (SELECT unnest(?), unnest(?))", [frames["artifact"].to_list(), frames["position"].to_list()])


def asof():
    return con.execute(
        """SELECT count(*) FILTER (hit), sum(line) FILTER (hit) FROM (
             SELECT r.line, r.range_start <= f.position AS hit, r.function
             FROM frames f ASOF JOIN read_parquet(?) r ON f.artifact = r.artifact AND f.position < r.range_end)""",
        [files],
    ).fetchone()


def join_asof():  # rows of an artifact ascend as they stand: that is all it wants
    ranges = pl.scan_parquet(files, hive_partitioning=False).select("artifact", "range_start", "function", "line", last=pl.col("range_end") - 1)
    found = frames.lazy().sort("position").join_asof(
        ranges, left_on="position", right_on="last", by="artifact", strategy="forward", check_sortedness=False
    )
    return found.filter(pl.col("range_start") <= pl.col("position")).select(pl.len(), pl.col("line").cast(pl.Int64).sum()).collect().row(0)


want = None
for name, f in ("DuckDB, ASOF JOIN", asof), ("Polars, join_asof", join_asof):
    cpu = time.process_time()
    took, got = timed(f, 3)
    cpu = (time.process_time() - cpu) / 3
    print(f"{name} of 1 M places: {took:.2f} s, {cpu:.2f} s of processor, {got[0]} found, sum of lines {got[1]}", flush=True)
    want = want or got
    assert got == want, "the engines disagree"
