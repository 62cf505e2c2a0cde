"""dump.py ENGINE LAKE [KEYS]: every row of the lake that counts, one JSON record a line, as an engine reads it.

ENGINE: pyarrow, pyarrow-raw (one key, unwrapped here), duckdb, polars, spark. KEYS, for a sealed lake: what
symlake keys export --lake --json prints. Exits with 1 when the engine refuses.
"""
import base64
import glob
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../jobs/queries"))
from lakelog import open_key, read_log

engine, lake = sys.argv[1], sys.argv[2]
keys = json.loads(sys.argv[3])["keys"] if len(sys.argv) > 3 else {}


def list_keys(folder):
    found = os.walk(f"{lake}/{folder}")
    return [os.path.relpath(os.path.join(at, name), lake).replace(os.sep, "/") for at, _, names in found for name in names]


def read_bytes(key):
    with open(f"{lake}/{key}", "rb") as f:
        return f.read()


def of_table(name):
    return [f for f in files.values() if f["table"] == name]


def raw_key(key):
    return open_key(keys, read_bytes(key)[-4096:])


def aad(f):
    return f["path"].encode() if f["bound"] else None


def check(f):
    """Refuses a file under another's name, where the engine takes the name from the file."""
    if f["bound"] and f["path"].encode() not in read_bytes(f["path"])[-4096:]:
        raise ValueError(f"{f['path']} is another file of the lake")


def with_pyarrow(name):
    import pyarrow.parquet as pq
    import pyarrow.parquet.encryption as pe
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    class Kms(pe.KmsClient):
        def unwrap_key(self, wrapped, master):
            b = base64.b64decode(wrapped)
            return AESGCM(base64.b64decode(keys[master])).decrypt(b[:12], b[12:], master.encode())

    for f in of_table(name):
        if not keys:
            options = {"page_checksum_verification": True}
        elif engine == "pyarrow-raw":
            options = {"decryption_properties": pe.create_decryption_properties(footer_key=raw_key(f["path"]), aad_prefix=aad(f))}
        else:
            check(f)
            factory = pe.CryptoFactory(lambda c: Kms())
            options = {"decryption_properties": factory.file_decryption_properties(pe.KmsConnectionConfig())}
        yield from pq.ParquetFile(f"{lake}/{f['path']}", **options).read().to_pylist()


def with_duckdb(name):
    import duckdb

    paths = [f"{lake}/{f['path']}" for f in of_table(name)]
    if not paths:
        return
    duckdb.sql("SET TimeZone = 'UTC'")
    time = " REPLACE (loaded_at::TIMESTAMP AS loaded_at)" if name == "artifacts" else ""
    relation = duckdb.sql(f"SELECT *{time} FROM read_parquet({paths!r}, hive_partitioning=false)")
    names = relation.columns
    for row in relation.fetchall():
        yield dict(zip(names, row))


def with_polars(name):
    import polars as pl

    for f in of_table(name):
        options = {"decryption": pl.ParquetDecryptionProperties(footer_key=raw_key(f["path"]), aad_prefix=aad(f))} if keys else {}
        yield from pl.scan_parquet(f"{lake}/{f['path']}", hive_partitioning=False, **options).collect().to_dicts()


def with_spark(name):
    global session
    from pyspark.sql import SparkSession

    if session is None:
        b = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC")
        b = b.config("spark.driver.memory", "1g").config("spark.ui.showConsoleProgress", "false")
        if keys:
            b = b.config("spark.jars", ",".join(glob.glob("parquet-hadoop-*-tests.jar")))
            b = b.config("spark.hadoop.parquet.crypto.factory.class", "org.apache.parquet.crypto.keytools.PropertiesDrivenCryptoFactory")
            b = b.config("spark.hadoop.parquet.encryption.kms.client.class", "org.apache.parquet.crypto.keytools.mocks.InMemoryKMS")
            b = b.config("spark.hadoop.parquet.encryption.key.list", ",".join(f"{k}:{v}" for k, v in keys.items()))
        session = b.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
    for f in of_table(name):
        check(f)
    if of_table(name):
        for row in session.read.parquet(*[f"{lake}/{f['path']}" for f in of_table(name)]).collect():
            yield row.asDict(recursive=True)


session = None
read = {"pyarrow": with_pyarrow, "pyarrow-raw": with_pyarrow, "duckdb": with_duckdb, "polars": with_polars, "spark": with_spark}[engine]


def plain(v):
    """Numbers that are no double, and times, as text; the rest as JSON has it."""
    import datetime
    import decimal

    if isinstance(v, decimal.Decimal):
        return str(int(v))
    if isinstance(v, datetime.datetime):
        if v.tzinfo is None:
            v = v.replace(tzinfo=datetime.timezone.utc)
        return v.astimezone(datetime.timezone.utc).isoformat()
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    if isinstance(v, list):
        return [plain(x) for x in v]
    return v


try:
    files = {"": {"table": "", "path": "", "bound": False}}

    def part(key):  # a part of a checkpoint, in the same way as a table
        files[""] |= {"path": key}
        return list(read(""))

    files, named = read_log(list_keys, read_bytes, part, keys)
    live = {(n["artifact"], n["load"], n["revision"]) for n in named.values()}
    loads = {(a, l) for a, l, _ in live}
    for name in ["ranges", "classes", "artifacts", "names"]:
        for r in read(name):
            if (r["artifact"], r["load"]) in loads and ("revision" not in r or (r["artifact"], r["load"], r["revision"]) in live):
                print(json.dumps({"table": name, **plain(r)}, ensure_ascii=False, sort_keys=True))
except Exception as e:
    print(f"{engine}: {type(e).__name__}: {str(e)[:300]}", file=sys.stderr)
    if session:
        session.stop()
    sys.exit(1)
