"""queries.py ENGINE LAKE QUERIES FRAMES.csv: what the queries of jobs/queries answer, as one JSON object by name.
ENGINE is duckdb or spark."""
import csv
import json
import sys

engine, lake, folder, frames = sys.argv[1:5]


def text(name):
    return open(f"{folder}/{name}.sql").read().replace("./symlake-data/lake", lake)


rows = [(int(r["frame"]), r["name"], int(r["address"])) for r in csv.DictReader(open(frames))]
if engine == "duckdb":
    import duckdb

    con = duckdb.connect()
    con.execute(text("current"))
    con.execute("CREATE TABLE frames (frame INTEGER, name VARCHAR, address DECIMAL(20,0))")
    con.executemany("INSERT INTO frames VALUES (?, ?, ?)", rows)
    names = {n: n for n in ("biggest_functions", "coverage", "changed", "inline_hot_spots", "frames")}

    def run(sql):
        return con.execute(sql).fetchall()

else:
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    spark = spark.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    for statement in text("current_spark").split(";\n"):
        if statement.strip():
            spark.sql(statement)
    from decimal import Decimal

    spark.createDataFrame([(f, n, Decimal(a)) for f, n, a in rows], "frame INT, name STRING, address DECIMAL(20,0)").createOrReplaceTempView("frames")
    names = {n: n for n in ("biggest_functions", "coverage", "changed")}
    names |= {"inline_hot_spots": "inline_hot_spots_spark", "frames": "frames_spark"}

    def run(sql):
        return [list(r) for r in spark.sql(sql.strip().rstrip(";")).collect()]


def plain(v):
    if v is None or isinstance(v, (str, float)):
        return v
    return int(v) if v == int(v) else float(v)


print(json.dumps({name: [[plain(v) for v in row] for row in run(text(file))] for name, file in names.items()}))
