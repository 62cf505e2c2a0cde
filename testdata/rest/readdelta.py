"""readdelta.py TABLE [checkpoint]: every row of a Delta table as deltalake reads it, one JSON record a line; or a checkpoint of it."""
import json
import os
import sys

import deltalake

table = deltalake.DeltaTable(sys.argv[1])
if sys.argv[2:] == ["checkpoint"]:
    table.create_checkpoint()
else:
    for row in table.to_pyarrow_table().to_pylist():
        print(json.dumps(row, ensure_ascii=False, sort_keys=True))
sys.stdout.flush()
os._exit(0)  # deltalake's threads outlive the interpreter's end, and abort the process now and then
