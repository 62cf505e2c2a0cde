"""dump.py ENGINE LAKE [KEYS]: every row of the lake that counts, one JSON record a line, as an engine reads it.

ENGINE: pyarrow, pyarrow-raw (one key, unwrapped here), duckdb, polars, spark. KEYS, for a sealed lake: what
symlake keys export --lake --json prints. Exits with 1 when the engine refuses.
"""
import base64
import glob
import json
import sys

engine, lake = sys.argv[1], sys.argv[2]
keys = json.loads(sys.argv[3])["keys"] if len(sys.argv) > 3 else {}
manifest = json.load(open(max(glob.glob(lake + "/_manifest/*.json"))))


def paths(name):
    files = [manifest["live"]] if name == "live" else [f for f in manifest["files"] if f["table"] == name]
    return [lake + "/" + f["path"] for f in files]


def raw_key(path):
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    data = open(path, "rb").read()
    tail = data[-8 - int.from_bytes(data[-8:-4], "little") :]
    start = tail.index(b'{"keyMaterialType"')
    m = json.loads(tail[start : tail.index(b"}", start) + 1])
    b = base64.b64decode(m["wrappedDEK"])
    return AESGCM(base64.b64decode(keys[m["masterKeyID"]])).decrypt(b[:12], b[12:], m["masterKeyID"].encode())


def with_pyarrow(name):
    import pyarrow.parquet as pq
    import pyarrow.parquet.encryption as pe
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    class Kms(pe.KmsClient):
        def unwrap_key(self, wrapped, master):
            b = base64.b64decode(wrapped)
            return AESGCM(base64.b64decode(keys[master])).decrypt(b[:12], b[12:], master.encode())

    for p in paths(name):
        if not keys:
            options = {"page_checksum_verification": True}
        elif engine == "pyarrow-raw":
            options = {"decryption_properties": pe.create_decryption_properties(footer_key=raw_key(p))}
        else:
            factory = pe.CryptoFactory(lambda c: Kms())
            options = {"decryption_properties": factory.file_decryption_properties(pe.KmsConnectionConfig())}
        yield from pq.ParquetFile(p, **options).read().to_pylist()


def with_duckdb(name):
    import duckdb

    if not paths(name):
        return
    duckdb.sql("SET TimeZone = 'UTC'")
    time = " REPLACE (loaded_at::TIMESTAMP AS loaded_at)" if name == "artifacts" else ""
    relation = duckdb.sql(f"SELECT *{time} FROM read_parquet({paths(name)!r}, hive_partitioning=false)")
    names = relation.columns
    for row in relation.fetchall():
        yield dict(zip(names, row))


def with_polars(name):
    import polars as pl

    for p in paths(name):
        options = {"decryption": pl.ParquetDecryptionProperties(footer_key=raw_key(p))} if keys else {}
        yield from pl.scan_parquet(p, hive_partitioning=False, **options).collect().to_dicts()


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
    if paths(name):
        for row in session.read.parquet(*paths(name)).collect():
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
    live = {(r["artifact"], r["load"], r["revision"]) for r in read("live")}
    loads = {(a, l) for a, l, _ in live}
    for name in ["ranges", "classes", "artifacts", "names"]:
        for r in read(name):
            if (r["artifact"], r["load"]) in loads and ("revision" not in r or (r["artifact"], r["load"], r["revision"]) in live):
                print(json.dumps({"table": name, **plain(r)}, ensure_ascii=False, sort_keys=True))
except Exception as e:
    print(f"{engine}: {type(e).__name__}: {str(e)[:300]}", file=sys.stderr)
    sys.exit(1)
