"""rows.py make DIR ARTIFACT GOLDEN: tables of raw frames and stacks, as pyarrow and DuckDB write them.
rows.py read RAW OUT [KEYS]: the answers in OUT as pyarrow and DuckDB read them, one JSON record a row; that the rows of
RAW are there unchanged, and that both engines read the same, is checked. KEYS, for sealed files: what symlake keys export
--lake --json prints.

A table has each address of the golden once, in a fixed shuffled order, with columns of many types beside it.
"""
import base64
import datetime
import decimal
import glob
import json
import os
import random
import sys

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

ADDED = ["function", "file", "line", "col", "status", "reason", "group"]


def make(folder, artifact, golden):
    cases = json.load(open(golden))["cases"]
    addresses = [int(c["addr"], 16) for c in cases]
    random.Random(1).shuffle(addresses)
    n = len(addresses)
    beside = {
        "id": pa.array(range(n), pa.int64()),
        "tags": pa.array([{"a": i, "b": [str(i)] * (i % 3)} if i % 5 else None for i in range(n)]),
        "when": pa.array([datetime.datetime(2026, 1, 1) + datetime.timedelta(seconds=i) for i in range(n)], pa.timestamp("us", tz="UTC")),
        "price": pa.array([decimal.Decimal(i) / 4 for i in range(n)], pa.decimal128(30, 2)),
        "raw": pa.array([bytes([i % 256, 255]) for i in range(n)], pa.binary()),
        "map": pa.array([[("k", i)] for i in range(n)], pa.map_(pa.string(), pa.int32())),
        "half": pa.array([i / 2 for i in range(n)], pa.float32()),
        "yes": pa.array([i % 2 == 0 for i in range(n)]),
    }
    flat = {**beside, "artifact": pa.array([artifact] * n), "address": pa.array(addresses, pa.int64()), "frame0": pa.array(["stepped"] * n)}
    t = pa.table(flat)
    os.makedirs(folder, exist_ok=True)
    pq.write_table(t, folder + "/flat.parquet", row_group_size=17, write_page_index=True, sorting_columns=[pq.SortingColumn(0)])
    pq.write_table(t, folder + "/v2.parquet", data_page_version="2.0", compression="zstd", use_dictionary=False, bloom_filter_options={"artifact": {}})
    unsigned = t.set_column(t.column_names.index("address"), "address", pa.array(addresses, pa.uint64()))
    pq.write_table(unsigned, folder + "/u64.parquet", compression="none")
    text = t.set_column(t.column_names.index("address"), "address", pa.array([hex(a) for a in addresses]))
    pq.write_table(text, folder + "/text.parquet", compression="gzip")
    duckdb.sql("SELECT * EXCLUDE (map) FROM t").write_parquet(folder + "/duck.parquet")
    # A row is a stack: pairs in one list, in two, and as text.
    pairs = pa.array([[{"artifact": artifact, "address": a}, {"artifact": artifact, "address": addresses[0]}] for a in addresses])
    pq.write_table(pa.table({**beside, "frames": pairs, "frame0": flat["frame0"]}), folder + "/pairs.parquet", row_group_size=17)
    two = {"artifact": pa.array([[artifact, artifact]] * n), "address": pa.array([[a, addresses[0]] for a in addresses], pa.list_(pa.int64()))}
    pq.write_table(pa.table({**beside, **two, "frame0": flat["frame0"]}), folder + "/lists.parquet")
    lines = pa.array([f"crash!\n{artifact} {a:#x}\n{artifact} {addresses[0]:#x}\n" for a in addresses])
    pq.write_table(pa.table({**beside, "stack": lines, "frame0": flat["frame0"]}), folder + "/stack.parquet", row_group_size=17)
    simple = {"id": flat["id"], "artifact": flat["artifact"], "address": flat["address"], "frame0": flat["frame0"]}
    for name, columns in {
        "flat.ndjson": simple,
        "pairs.jsonl": {"id": flat["id"], "frames": pairs, "frame0": flat["frame0"]},
        "stack.ndjson": {"id": flat["id"], "stack": lines, "frame0": flat["frame0"]},
    }.items():
        with open(folder + "/" + name, "w") as f:
            for row in pa.table(columns).to_pylist():
                f.write(json.dumps(row) + "\n")


def plain(v):
    """What both engines give, in one form."""
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    return v


def read(raw, out, keys):
    for path in sorted(glob.glob(out + "/*")):
        name = os.path.basename(path)
        if name.endswith("parquet"):
            properties = decrypt(path, keys) if keys else None
            t = pq.read_table(path, decryption_properties=properties, page_checksum_verification=not keys)
            was = pq.read_table(raw + "/" + name)
            kept = t.select(was.column_names)
            assert kept.to_pylist() == was.to_pylist(), f"{name}: the rows changed"
            if not keys:
                assert kept.schema.equals(was.schema), f"{name}: {kept.schema} was {was.schema}"
            if "flat.p" in name and not keys:
                group = pq.ParquetFile(path).metadata.row_group(0)
                assert group.num_rows == 17 and group.column(0).has_offset_index and group.column(0).has_column_index
                assert list(group.sorting_columns)[0].column_index == 0
            rows = t.to_pylist()
            if not keys:  # DuckDB reads no lists of sealed files
                answers = ", ".join(f'"{c}"' for c in ["id"] + ADDED + [c for c in ("inlines", "chain") if c in t.column_names])
                duck = duckdb.sql(f"SELECT {answers} FROM '{path}'").fetchall()
                for a, b in zip(rows, duck, strict=True):
                    a = {k: plain(v) for k, v in a.items() if k in ADDED + ["id", "inlines", "chain"]}
                    assert sorted(map(repr, a.values())) == sorted(map(repr, map(plain, b))), f"{name}: {a} is {b} to DuckDB"
                nulls = duckdb.sql(f"""SELECT count(*) - count("group"), count(*) - count(reason) FROM '{path}'""").fetchall()[0]
                assert nulls == (sum(r["group"] is None for r in rows), sum(r["reason"] is None for r in rows)), f"{name}: {nulls}"
        else:
            was = [json.loads(line) for line in open(raw + "/" + name)]
            rows = [json.loads(line) for line in open(path)]
            for a, b in zip(rows, was, strict=True):
                assert {k: a[k] for k in b} == b, f"{name}: {a} was {b}"
        for r in rows:
            address = r.get("address", r.get("frames") or r.get("stack"))
            keep = {k: r[k] for k in ADDED + ["id"]}
            keep.update(file_name=name, inlines=r.get("inlines"), chain=r.get("chain"), raw=json.dumps(address, default=str), source=r["file"])
            print(json.dumps(keep))


def decrypt(path, keys):
    import pyarrow.parquet.encryption as pe
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    class Kms(pe.KmsClient):
        def unwrap_key(self, wrapped, master):
            b = base64.b64decode(wrapped)
            return AESGCM(base64.b64decode(keys[master])).decrypt(b[:12], b[12:], master.encode())

    return pe.CryptoFactory(lambda _: Kms()).file_decryption_properties(pe.KmsConnectionConfig())


if sys.argv[1] == "make":
    make(*sys.argv[2:5])
else:
    read(sys.argv[2], sys.argv[3], json.loads(sys.argv[4])["keys"] if len(sys.argv) > 4 else None)
