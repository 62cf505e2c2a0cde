"""Polars: raw frames joined with ranges. frames_polars.py LAKE FRAMES.csv, with columns frame, name, address as in frames.sql. It needs
lakelog.py beside it.
One artifact at a time: of the file that has its rows, the row groups of others are not even read."""
import os
import sys

import polars as pl

from lakelog import read_log

lake = sys.argv[1]


def list_keys(folder):
    found = os.walk(f"{lake}/{folder}")
    return [os.path.relpath(os.path.join(at, name), lake).replace(os.sep, "/") for at, _, names in found for name in names]


def read(key):
    with open(f"{lake}/{key}", "rb") as f:
        return f.read()


files, loads = read_log(list_keys, read, lambda key: pl.read_parquet(f"{lake}/{key}", hive_partitioning=False).to_dicts(), {})


def table(name):
    return pl.scan_parquet([lake + "/" + f["path"] for f in files.values() if f["table"] == name], hive_partitioning=False)


live = pl.LazyFrame(list(loads.values()), schema=["artifact", "load", "revision", "file", "facts", "names"]).drop("facts", "names")
artifacts = table("artifacts").join(live, on=["artifact", "load", "revision"])
artifacts = artifacts.select("artifact", "load", "file", "image_base", "image_end")
names = table("names").join(live, on=["artifact", "load", "revision"], how="semi")
names = names.select("artifact", key=pl.col("name").str.to_lowercase()).unique()

frames = pl.scan_csv(sys.argv[2]).with_columns(key=pl.col("name").str.to_lowercase())
position = pl.col("address").cast(pl.Decimal(20, 0)) - pl.col("image_base")
placed = (
    frames.join(names, on="key", how="left")
    .join(artifacts, on="artifact", how="left")
    .with_columns(position=pl.when((position >= 0) & (position < pl.col("image_end"))).then(position).cast(pl.Int64))
    .collect()
)
empty = {"function": pl.String, "file": pl.String, "line": pl.Int64, "col": pl.Int64, "depth": pl.Int32}
status = pl.when(pl.col("artifact").is_null()).then(pl.lit("no-artifact")).otherwise(pl.lit("outside")).alias("status")
unplaced = placed.filter(pl.col("position").is_null())
found = [unplaced.select("frame", "name", "address", "artifact", *(pl.lit(None, t).alias(c) for c, t in empty.items()), status)]
placed = placed.filter(pl.col("position").is_not_null())
for (artifact, load, file), asked in placed.group_by("artifact", "load", "file"):
    ranges = pl.scan_parquet(lake + "/" + file, hive_partitioning=False)
    linear = pl.col("linear") if "linear" in ranges.collect_schema() else pl.lit(0)  # older files lack it
    ranges = ranges.filter(pl.col("artifact") == artifact, pl.col("load") == load)
    columns = ["range_start", "function", "file", "line", "col", "depth"]
    ranges = ranges.select(*columns, linear=linear == 1, last=pl.col("range_end") - 1)
    # The rows of a load ascend. The range with the least last position at or above the frame's; where that begins above it,
    # too, it is a hole.
    joined = asked.lazy().drop("file").sort("position").join_asof(ranges, left_on="position", right_on="last", strategy="forward")
    # Line and column of a linear range run on with the position.
    position, start = pl.col("position"), pl.col("range_start")
    lines = position // 2**32 - start // 2**32
    col = pl.when(~pl.col("linear")).then("col").when(lines == 0).then(pl.col("col") + position - start).otherwise(position % 2**32)
    joined = joined.with_columns(line=pl.col("line") + pl.when(pl.col("linear")).then(lines).otherwise(0), col=col)
    hit = start <= position
    columns = [pl.when(hit).then(pl.col(c)).alias(c) for c in empty]
    status = pl.when(hit).then(pl.lit("found")).otherwise(pl.lit("hole")).alias("status")
    found.append(joined.select("frame", "name", "address", "artifact", *columns, status).collect())
print(pl.concat(found, how="vertical_relaxed").sort("frame", "artifact").write_csv(), end="")
