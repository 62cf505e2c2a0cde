"""stream.py TABLE.parquet STREAM: writes the rows of a table as an Arrow stream, in record batches as Spark sends them."""
import sys

import pyarrow as pa
import pyarrow.parquet as pq

table, stream = sys.argv[1:]
source = pq.ParquetFile(table)
with pa.OSFile(stream, "wb") as f, pa.ipc.new_stream(f, source.schema_arrow) as out:
    for batch in source.iter_batches(batch_size=10_000):
        out.write_batch(batch)
