"""kinds.py make DIR ARTIFACT ADDRESS: tables of frames with columns of every type, as pyarrow, Polars and DuckDB write them.
kinds.py check RAW OUT: each column of RAW has the same type and values in OUT, as pyarrow and Polars read them, and as DuckDB
does where it reads RAW. Prints how many columns were compared.
kinds.py stream DIR COMMAND...: the same over Arrow IPC: each table goes through the command as a stream, and its columns come
back with the same types and values.
"""
import datetime
import decimal
import glob
import os
import subprocess
import sys
import uuid

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

ADDED = ["function", "file", "line", "col", "status", "reason", "group"]
ROWS = 500


def columns():
    """Columns of every type that Parquet can hold, every seventh value missing."""

    def gaps(values):
        return [None if i % 7 == 6 else v for i, v in enumerate(values)]

    n = range(ROWS)
    when = [datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(hours=i) for i in n]
    texts = [f"text {i % 50} \N{GREEK SMALL LETTER OMEGA}" * (i % 3) for i in n]
    numbers = list(n)
    yield "duration_us", pa.array(gaps(numbers), pa.duration("us"))
    yield "duration_ns", pa.array(gaps(numbers), pa.duration("ns"))
    yield "berlin", pa.array(gaps(when), pa.timestamp("us", tz="Europe/Berlin"))
    yield "kolkata", pa.array(gaps(when), pa.timestamp("ms", tz="Asia/Kolkata"))
    yield "naive", pa.array(gaps([w.replace(tzinfo=None) for w in when]), pa.timestamp("ns"))
    yield "seconds", pa.array(gaps([w.replace(tzinfo=None) for w in when]), pa.timestamp("s"))
    yield "date", pa.array(gaps([w.date() for w in when]))
    yield "date64", pa.array(gaps([w.date() for w in when]), pa.date64())
    yield "clock", pa.array(gaps([w.time() for w in when]), pa.time64("us"))
    yield "clock32", pa.array(gaps([w.time() for w in when]), pa.time32("s"))
    yield "dictionary", pa.array(gaps(texts)).dictionary_encode()
    yield "ordered", pa.DictionaryArray.from_arrays(pa.array([i % 3 for i in n], pa.int8()), ["a", "b", "c"], ordered=True)
    yield "large", pa.array(gaps(texts), pa.large_string())
    yield "view", pa.array(gaps(texts), pa.string_view())
    yield "binary", pa.array(gaps([t.encode() for t in texts]), pa.binary())
    yield "large_binary", pa.array(gaps([t.encode() for t in texts]), pa.large_binary())
    yield "binary_view", pa.array(gaps([t.encode() for t in texts]), pa.binary_view())
    yield "fixed", pa.array(gaps([i.to_bytes(20, "big") for i in n]), pa.binary(20))
    for t in (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64(), pa.float32(), pa.float64(), pa.float16()):
        yield str(t), pa.array(gaps([i % 100 for i in n]), pa.int64()).cast(t)
    yield "high", pa.array(gaps([2**64 - 1 - i for i in n]), pa.uint64())
    yield "bool", pa.array(gaps([i % 2 == 0 for i in n]))
    yield "decimal", pa.array(gaps([decimal.Decimal(i) / 4 for i in n]), pa.decimal128(30, 2))
    yield "decimal256", pa.array(gaps([decimal.Decimal(i) for i in n]), pa.decimal256(60, 0))
    yield "list", pa.array(gaps([[i] * (i % 4) for i in n]), pa.list_(pa.int16()))
    yield "large_list", pa.array(gaps([[str(i)] * (i % 4) for i in n]), pa.large_list(pa.large_string()))
    yield "fixed_list", pa.array(gaps([[i, i + 1, i + 2] for i in n]), pa.list_(pa.float32(), 3))
    yield "nested", pa.array(gaps([[{"a": [i], "b": {"c": str(i)}}] * (i % 3) for i in n]))
    yield "map", pa.array(gaps([[("k", i)] for i in n]), pa.map_(pa.string(), pa.int32()))
    yield "null", pa.array([None] * ROWS, pa.null())
    yield "json", pa.ExtensionArray.from_storage(pa.json_(), pa.array(gaps(['{"a":1}'] * ROWS)))
    yield "uuid", pa.ExtensionArray.from_storage(pa.uuid(), pa.array(gaps([uuid.UUID(int=i).bytes for i in n]), pa.binary(16)))


def make(folder, artifact, address):
    os.makedirs(folder, exist_ok=True)
    frame = {"artifact": pa.array([artifact] * ROWS), "address": pa.array([address] * ROWS, pa.uint64()), "frame0": pa.array(["stepped"] * ROWS)}
    fields, arrays = [], []
    for name, values in [*columns(), *frame.items()]:
        fields.append(pa.field(name, values.type, metadata={"unit": name, "pii": "no"}))
        arrays.append(values)
    t = pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata={"owner": "crash team", "pandas": '{"index_columns": [], "columns": []}'}))
    pq.write_table(t, folder + "/wide.parquet", row_group_size=170)
    t = t.drop_columns(["decimal256"])  # Polars has none
    pq.write_table(t, folder + "/arrow.parquet", row_group_size=170)
    pq.write_table(t, folder + "/old.parquet", version="1.0")
    pq.write_table(t, folder + "/bare.parquet", store_schema=False)
    extra = {"artifact": [artifact] * ROWS, "address": [address] * ROWS, "frame0": ["stepped"] * ROWS}
    frames = pl.DataFrame(
        {
            **extra,
            "duration": pl.Series([datetime.timedelta(microseconds=i) for i in range(ROWS)], dtype=pl.Duration("us")),
            "berlin": pl.Series([datetime.datetime(2026, 1, 1)] * ROWS).dt.replace_time_zone("Europe/Berlin"),
            "category": pl.Series([f"c{i % 5}" for i in range(ROWS)], dtype=pl.Categorical),
            "enum": pl.Series(["a" if i % 2 else "b" for i in range(ROWS)], dtype=pl.Enum(["b", "a"])),
            "clock": pl.Series([datetime.time(1, 2, i % 60) for i in range(ROWS)]),
            "array": pl.Series([[i, i, i] for i in range(ROWS)], dtype=pl.Array(pl.Int16, 3)),
            "list": pl.Series([[str(i)] * (i % 3) for i in range(ROWS)]),
            "struct": pl.Series([{"a": i, "b": [i]} for i in range(ROWS)]),
            "money": pl.Series([decimal.Decimal(i) / 4 for i in range(ROWS)], dtype=pl.Decimal(20, 2)),
        }
    )
    frames.write_parquet(folder + "/polars.parquet")
    frames.write_ipc(folder + "/polars.arrow", compression="zstd")
    frames.write_ipc_stream(folder + "/polars.arrows", compression="lz4")
    duckdb.sql(
        f"SELECT '{artifact}' AS artifact, {address}::UBIGINT AS address, 'stepped' AS frame0, range::HUGEINT AS huge, INTERVAL (range) MINUTE AS span, "
        f"uuid() AS id, 'a'::ENUM('a', 'b') AS enum, TIME '01:02:03' AS clock, TIMESTAMPTZ '2026-01-01' AS at, {{'x': [range]}} AS nested, MAP {{'k': range}} AS map FROM range({ROWS})"
    ).write_parquet(folder + "/duck.parquet")


def same(name, what, want, got):
    if want != got:
        sys.exit(f"{name}: {what} {want} became {got}")


def check(raw, out):
    compared = 0
    for path in sorted(glob.glob(raw + "/*.parquet")):
        name = os.path.basename(path)
        old, new = pq.read_table(path), pq.read_table(f"{out}/{name}")
        added = [*ADDED, "chain" if "frames" in old.column_names else "inlines"]
        same(name, "columns", [*old.column_names, *added], new.column_names)
        for key, value in (old.schema.metadata or {}).items():
            same(name, f"metadata {key}", value, new.schema.metadata.get(key))
        for field in old.schema:
            got = new.schema.field(field.name)
            same(name, f"{field.name}, its field", (str(field), field.metadata), (str(got), got.metadata))
            a, b = old.column(field.name), new.column(field.name)
            # NaN equals nothing, but prints as itself.
            if not field.equals(got, check_metadata=True) or not a.equals(b) and repr(a.to_pylist()) != repr(b.to_pylist()):
                sys.exit(f"{name}: {field.name} changed")
            compared += 1
        try:
            before = pl.read_parquet(path)
        except BaseException as e:  # its panics are no Exception; what Polars cannot read, it cannot read answered either
            print(f"{name}: Polars does not read the input: {e!r:.100}", file=sys.stderr)
        else:
            after = pl.read_parquet(f"{out}/{name}")
            same(name, "Polars' schema", list(before.schema.items()), list(after.drop(added).schema.items()))
            if not before.equals(after.drop(added)):
                sys.exit(f"{name}: Polars reads other values")
            compared += len(before.columns)
        try:
            types = duckdb.sql(f"SELECT * FROM '{path}'").types
            before = duckdb.sql(f"SELECT COLUMNS(*)::VARCHAR FROM '{path}'").fetchall()
        except duckdb.Error as e:
            print(f"{name}: DuckDB does not read the input: {e!r:.100}", file=sys.stderr)
            continue
        added = ", ".join(f'"{n}"' for n in added)
        same(name, "DuckDB's types", types, duckdb.sql(f"SELECT * EXCLUDE ({added}) FROM '{out}/{name}'").types)
        if before != duckdb.sql(f"SELECT COLUMNS(* EXCLUDE ({added}))::VARCHAR FROM '{out}/{name}'").fetchall():
            sys.exit(f"{name}: DuckDB reads other values")
        compared += len(types)
    print(compared)


def through(command, name, table, options):
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, table.schema, options=options) as w:
        w.write_table(table, max_chunksize=170)
    r = subprocess.run(command, input=sink.getvalue().to_pybytes(), capture_output=True)
    if r.returncode:
        sys.exit(f"{name}: {r.stderr.decode()}")
    return ipc.open_stream(sink.getvalue()).read_all(), ipc.open_stream(r.stdout).read_all()


def stream(folder, command):
    compared = 0
    tables = {os.path.basename(p): pq.read_table(p) for p in sorted(glob.glob(folder + "/*.parquet"))}
    tables["polars.arrows"] = ipc.open_stream(folder + "/polars.arrows").read_all()
    arrow = tables["arrow.parquet"]
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([100, ROWS], pa.int32()), pa.array(["x", "y"]))
    union = pa.UnionArray.from_sparse(pa.array([i % 2 for i in range(ROWS)], pa.int8()), [pa.array(range(ROWS)), pa.array([str(i) for i in range(ROWS)])])
    views = pa.array([[i] * (i % 3) for i in range(ROWS)], pa.list_view(pa.int32()))
    months = pa.array([pa.MonthDayNano([1, 2, 3])] * ROWS)
    tables["memory"] = pa.table({**{n: arrow.column(n) for n in ["artifact", "address", "frame0"]}, "runs": runs, "union": union, "views": views, "months": months})
    for kind, array in {
        "view": arrow.column("artifact").cast(pa.string_view()),
        "large": arrow.column("artifact").cast(pa.large_string()),
        "dictionary": arrow.column("artifact").combine_chunks().dictionary_encode(),
        "binary": arrow.column("artifact").cast(pa.binary()),
        "fixed": pa.array([bytes.fromhex(arrow.column("artifact")[0].as_py())] * ROWS, pa.binary(20)),
    }.items():
        tables["artifact of " + kind] = pa.table({"artifact": array, "address": arrow.column("address"), "frame0": arrow.column("frame0")})
    for kind in (pa.int32(), pa.float32(), pa.float64(), pa.decimal128(38, 0), pa.string()):
        tables[f"address of {kind}"] = arrow.select(["artifact", "frame0"]).append_column("address", arrow.column("address").cast(kind))
    for name, table in tables.items():
        for compression in (None, "zstd", "lz4"):
            old, new = through(command, name, table, ipc.IpcWriteOptions(compression=compression))
            same(name, "columns", [*old.column_names, *ADDED, "inlines"], new.column_names)
            for field in old.schema:
                if not field.equals(new.schema.field(field.name), check_metadata=True) or not old.column(field.name).equals(new.column(field.name)):
                    sys.exit(f"{name}, {compression}: {field.name} changed")
                compared += 1
            same(name, "statuses", {"found"}, set(new.column("status").to_pylist()))
            new.validate(full=True)
    print(compared)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make", folder, artifact, address]:
            make(folder, artifact, int(address))
        case ["check", raw, out]:
            check(raw, out)
        case ["stream", folder, *command]:
            stream(folder, command)
        case _:
            sys.exit(__doc__)
