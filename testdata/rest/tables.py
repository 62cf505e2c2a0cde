"""tables.py DIR: makes the tables of frames in this folder, delta and iceberg, with deltalake 1.x and pyiceberg 0.12.

Both have rows that do not count any more. delta has a checkpoint at version 4 and partitions by day and platform; version 1 has
6 rows, the newest 9. iceberg lay at file:///warehouse/n/t when it was made; its first snapshot has 3 rows, the newest 6.
"""
import shutil
import sys

import deltalake
import pyarrow as pa
from pyiceberg.catalog.memory import InMemoryCatalog

to = sys.argv[1]
artifact = "564bb6c8be48eea9d9db622b8689806eea5af3c7"


def rows(i):
    return pa.table({"address": pa.array([18150 + i] * 3), "artifact": [artifact] * 3, "frame0": ["stepped"] * 3})


for i in range(3):
    t = rows(i).append_column("platform", pa.array(["android"] * 3)).append_column("day", pa.array([f"day {i}"] * 3))
    deltalake.write_deltalake(to + "/delta", t, mode="append", partition_by=["day", "platform"])
d = deltalake.DeltaTable(to + "/delta")
d.delete("day = 'day 1'")
deltalake.write_deltalake(to + "/delta", t, mode="append", partition_by=["day", "platform"])
deltalake.DeltaTable(to + "/delta").create_checkpoint()
deltalake.write_deltalake(to + "/delta", rows(0).append_column("platform", pa.array(["android"] * 3)).append_column("day", pa.array(["day 0"] * 3)), mode="overwrite", predicate="day = 'day 0'")

catalog = InMemoryCatalog("c", warehouse="file:///warehouse")
catalog.create_namespace("n")
t = catalog.create_table("n.t", schema=rows(0).schema)
t.append(rows(0))
t.append(rows(1))
t.overwrite(rows(2))
t.append(rows(3))
shutil.copytree("/warehouse/n/t", to + "/iceberg")
print(deltalake.DeltaTable(to + "/delta").to_pyarrow_table().num_rows, t.scan().to_arrow().num_rows, [s.snapshot_id for s in t.snapshots()])
