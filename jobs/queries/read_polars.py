# Read a sealed symbol lake with Polars: pip install polars cryptography
import os
import polars as pl

from lakelog import open_key, read_log

LAKE = "./symlake-data/lake"
KEYS = {}  # master key id -> base64: symlake keys export --lake fills it in


def list_keys(folder):
    found = os.walk(f"{LAKE}/{folder}")
    return [os.path.relpath(os.path.join(at, name), LAKE).replace(os.sep, "/") for at, _, names in found for name in names]


def read(key):
    with open(f"{LAKE}/{key}", "rb") as f:
        return f.read()


def scan(key, bound):
    """A file of the lake. It is sealed to its key: under another name it does not open."""
    with open(f"{LAKE}/{key}", "rb") as f:
        f.seek(-8, 2)
        f.seek(-8 - int.from_bytes(f.read(4), "little"), 2)
        props = pl.ParquetDecryptionProperties(footer_key=open_key(KEYS, f.read()), aad_prefix=key.encode() if bound else None)
    return pl.scan_parquet(f"{LAKE}/{key}", hive_partitioning=False, decryption=props)


files, live = read_log(list_keys, read, lambda key: scan(key, False).collect().to_dicts(), KEYS)


# Positions of scripts are no bytes, so their files are left out.
def table(name):
    return pl.concat([scan(f["path"], f["bound"]) for f in files.values() if f["table"] == name and "/kind=sourcemap/" not in f["path"]])


# Only what counts: the load of each artifact that the log names.
loads = pl.LazyFrame([{"artifact": n["artifact"], "load": n["load"]} for n in live.values()])
ranges = table("ranges").join(loads, on=["artifact", "load"], how="semi")
print(
    ranges.group_by("function")
    .agg((pl.col("range_end") - pl.col("range_start")).sum().alias("bytes"), pl.len().alias("ranges"), pl.col("depth").max().alias("deepest"))
    .sort(["bytes", "function"], descending=[True, False])
    .head(5)
    .collect()
)
