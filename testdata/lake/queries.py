"""queries.py ENGINE LAKE QUERIES FRAMES.csv: what the queries of jobs/queries answer, as one JSON object by name.
ENGINE is duckdb or spark. DuckDB's has "work" too: by name which operators ran, how many rows they made together, how many rows
of tables they read, and under "" how many rows the tables have. It has "code" too: artifact, first and last position of each range
of code. Spark's "work" has by name the operators of the plan that ran, and how many times it read files of ranges."""
import csv
import json
import re
import sys

engine, lake, folder, frames = sys.argv[1:5]


def text(name):
    return open(f"{folder}/{name}.sql").read().replace("./symlake-data/lake", lake)


rows = [(int(r["frame"]), r["name"], int(r["address"])) for r in csv.DictReader(open(frames))]
if engine == "duckdb":
    import os
    import tempfile

    import duckdb

    profile = os.path.join(tempfile.mkdtemp(prefix="symlake-"), "profile.json")
    con = duckdb.connect()
    con.execute(text("current"))
    con.execute("CREATE TABLE frames (frame INTEGER, name VARCHAR, address DECIMAL(20,0))")
    con.executemany("INSERT INTO frames VALUES (?, ?, ?)", rows)
    names = {n: n for n in ("biggest_functions", "coverage", "changed", "inline_hot_spots", "frames")}

    work = {"": {"rows": con.execute("SELECT count(*) FROM read_parquet(getvariable('ranges'))").fetchone()[0] + len(rows)}}

    def run(sql, name):
        con.execute("SET enable_profiling = 'json'")
        con.execute(f"SET profiling_output = '{profile}'")
        answer = con.execute(sql).fetchall()
        con.execute("SET enable_profiling = 'no_output'")
        told = json.load(open(profile))
        operators, todo = [], list(told["operator"])
        while todo:
            operators.append(todo.pop())
            todo += operators[-1].get("children", [])
        made = sum(o["intermediate_rows"] for o in operators)
        work[name] = {"operators": sorted({o["type"] for o in operators}), "made": made, "scanned": told["query"]["total_rows_scanned"]}
        return sorted(answer, key=lambda row: row[0]) if name == "frames" else answer

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

    work = {}

    def run(sql, name):
        frame = spark.sql(sql.strip().rstrip(";"))
        answer = [list(r) for r in frame.collect()]
        plan = frame._jdf.queryExecution().executedPlan().toString().partition("== Initial Plan ==")[0]
        work[name] = {"operators": sorted(set(re.findall(r"\w*(?:Join|CartesianProduct)\w*", plan))), "reads": len(re.findall(r"FileScan parquet .*lake/ranges", plan))}
        return answer


def plain(v):
    if v is None or isinstance(v, (str, float)):
        return v
    return int(v) if v == int(v) else float(v)


answers = {name: [[plain(v) for v in row] for row in run(text(file), name)] for name, file in names.items()}
answers["work"] = work
if engine == "duckdb":
    answers["code"] = con.execute("SELECT artifact, range_start, range_end - 1 FROM ranges WHERE kind <> 'sourcemap' ORDER BY ALL").fetchall()
print(json.dumps(answers))
