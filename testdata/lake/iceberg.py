"""iceberg.py ENGINE LAKE: every row of the Iceberg tables of a lake, one JSON record a line, as an engine reads it with
nothing of ours between. ENGINE: pyiceberg, polars, duckdb, spark.

The tables are those of the lake's folder, or of the REST catalog that ICEBERG_REST names, in the namespace
ICEBERG_NAMESPACE. ICEBERG_TABLES names the tables. ICEBERG_STACKS names lakes whose table stacks Spark reads after them, by
its folder; their rows bear the lake as name. DELTA_TABLES names folders of Delta tables, which Spark reads after these. Exits
with 1 when the engine refuses.
"""
import glob
import json
import os
import sys

engine, lake = sys.argv[1], sys.argv[2]
rest = os.environ.get("ICEBERG_REST")
namespace = os.environ.get("ICEBERG_NAMESPACE", "symlake")
tables = os.environ.get("ICEBERG_TABLES", "ranges classes artifacts names").split()
deltas = [d for d in os.environ.get("DELTA_TABLES", "").split(":") if d and engine == "spark"]


def metadata(name):
    """The newest metadata of a table in the lake's folder, found as engines find it."""
    folder = f"{lake}/iceberg/{name}/metadata"
    return f"{folder}/v{open(folder + '/version-hint.text').read()}.metadata.json"


def iceberg_table(name):
    from pyiceberg.catalog import load_catalog
    from pyiceberg.table import StaticTable

    return load_catalog("c", uri=rest).load_table((namespace, name)) if rest else StaticTable.from_metadata(metadata(name))


def with_pyiceberg(name):
    yield from iceberg_table(name).scan().to_arrow().to_pylist()


def with_polars(name):
    import polars as pl

    yield from pl.scan_iceberg(iceberg_table(name) if rest else metadata(name), reader_override="native").collect().to_dicts()


def with_duckdb(name):
    global session
    import duckdb

    if session is None:
        session = duckdb.connect()
        for x in ["avro", "httpfs", "icu", "iceberg"]:
            for p in sys.path:
                for file in glob.glob(f"{p}/duckdb_extension_{x}/extensions/*/*.duckdb_extension"):
                    session.execute(f"LOAD '{file}'")
        session.execute("SET TimeZone = 'UTC'")
        if rest:
            session.execute(f"ATTACH '' AS c (TYPE iceberg, ENDPOINT '{rest}', AUTHORIZATION_TYPE 'none')")
    table = f"c.{namespace}.{name}" if rest else f"iceberg_scan('{lake}/iceberg/{name}')"
    time = " REPLACE (loaded_at::TIMESTAMP AS loaded_at)" if name == "artifacts" else ""
    relation = session.sql(f"SELECT *{time} FROM {table}")
    names = relation.columns
    for row in relation.fetchall():
        yield dict(zip(names, row))


def spark():
    global session
    from pyspark.sql import SparkSession

    if session is None:
        b = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC")
        b = b.config("spark.driver.memory", "1g").config("spark.ui.showConsoleProgress", "false")
        b = b.config("spark.jars", ",".join(glob.glob("jars/iceberg-spark-runtime-*.jar") + glob.glob("../delta/jars/*.jar")))
        if deltas:
            b = b.config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
            b = b.config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
            b = b.config("spark.databricks.delta.snapshotPartitions", "1").config("spark.sql.shuffle.partitions", "1")
        b = b.config("spark.sql.catalog.c", "org.apache.iceberg.spark.SparkCatalog")
        if rest:
            b = b.config("spark.sql.catalog.c.type", "rest").config("spark.sql.catalog.c.uri", rest)
        else:
            b = b.config("spark.sql.catalog.c.type", "hadoop").config("spark.sql.catalog.c.warehouse", lake)
        session = b.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
    return session


def with_spark(name):
    for row in spark().table(f"c.{namespace if rest else 'iceberg'}.{name}").collect():
        yield row.asDict(recursive=True)


session = None
read = {"pyiceberg": with_pyiceberg, "polars": with_polars, "duckdb": with_duckdb, "spark": with_spark}[engine]


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
    if isinstance(v, datetime.date):
        return v.isoformat()
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    if isinstance(v, list):
        return [plain(x) for x in v]
    return v


try:
    for name in tables:
        for r in read(name):
            if name != "stacks":  # a table of the lake
                assert r.pop("kind") and r.pop("day")  # columns that no file has
            print(json.dumps({"table": name, **plain(r)}, ensure_ascii=False, sort_keys=True))
    for folder in filter(None, os.environ.get("ICEBERG_STACKS", "").split(":") if engine == "spark" else []):
        for r in spark().read.format("iceberg").load(f"{folder}/iceberg/stacks").collect():
            print(json.dumps({"table": folder, **plain(r.asDict(recursive=True))}, ensure_ascii=False, sort_keys=True))
    for folder in deltas:
        for r in spark().read.format("delta").load(folder).collect():
            print(json.dumps({"table": folder, **plain(r.asDict(recursive=True))}, ensure_ascii=False, sort_keys=True))
except Exception as e:
    print(f"{engine}: {type(e).__name__}: {str(e)[:300]}", file=sys.stderr)
    sys.exit(1)
