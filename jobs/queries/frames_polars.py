"""Polars: raw frames joined with ranges. frames_polars.py LAKE FRAMES.csv, with columns frame, name, address as in frames.sql."""
import glob
import json
import sys

import polars as pl

lake = sys.argv[1]
manifest = json.load(open(max(glob.glob(lake + "/_manifest/*.json"))))


def table(name):
    files = [manifest["live"]] if name == "live" else [f for f in manifest["files"] if f["table"] == name]
    return pl.scan_parquet([lake + "/" + f["path"] for f in files], hive_partitioning=False)


live = table("live").select("artifact", "load", "revision")
ranges = table("ranges").join(live, on=["artifact", "load"], how="semi")
artifacts = table("artifacts").join(live, on=["artifact", "load", "revision"], how="semi").select("artifact", "image_base")
names = table("names").join(live, on=["artifact", "load", "revision"], how="semi")
names = names.select("artifact", key=pl.col("name").str.to_lowercase()).unique()

frames = pl.scan_csv(sys.argv[2]).with_columns(key=pl.col("name").str.to_lowercase())
placed = (
    frames.join(names, on="key")
    .join(artifacts, on="artifact")
    .with_columns(position=(pl.col("address").cast(pl.Decimal(20, 0)) - pl.col("image_base")).cast(pl.Int64))
    .filter(pl.col("position") >= 0)
)
# The range with the least last position at or above the frame's; where that begins above it, too, it is a hole.
found = (
    placed.sort("position")
    .join_asof(
        ranges.with_columns(last=pl.col("range_end") - 1).sort("last"),
        left_on="position",
        right_on="last",
        by="artifact",
        strategy="forward",
        check_sortedness=False,
    )
    .with_columns(hit=pl.col("range_start") <= pl.col("position"))
    .select(
        "frame",
        "name",
        "address",
        "artifact",
        *[pl.when(pl.col("hit")).then(pl.col(c)).alias(c) for c in ("function", "file", "line", "depth")],
    )
    .sort("frame")
)
print(found.collect().write_csv(), end="")
