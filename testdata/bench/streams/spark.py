"""spark.py SYMLAKE STORE TABLE.parquet: prints what Spark takes to answer the rows of a table by mapInArrow, as a JSON object.

"read" reads the table and drops it. "copy" passes its batches through Python as they are, and "answer" through symlake. "some"
asks for function, file, line and status alone. "write" writes all answers as Parquet. Each has seconds of wall and of processor
time: of Spark, its Python and symlake. The same job ran before on a part of the table, so that compilers have warmed up."""
import json
import os
import sys
import tempfile
import time

symlake, store, table = sys.argv[1:]
program = os.path.basename(symlake)
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../jobs/spark"))
sys.dont_write_bytecode = True
from pyspark.sql import SparkSession
from symlake_spark import ship, symbolicate


def ticks():
    """Returns the processor time of this process, of all below it, and of those that they have waited for."""
    parent, used = {}, {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as f:
                    fields = f.read().rpartition(")")[2].split()
            except OSError:
                continue
            parent[int(name)], used[int(name)] = int(fields[1]), sum(map(int, fields[11:15]))
    ours, grown = {os.getpid()}, True
    while grown:
        more = {p for p, up in parent.items() if up in ours} - ours
        grown = bool(more)
        ours |= more
    return sum(used.get(p, 0) for p in ours) / os.sysconf("SC_CLK_TCK")


spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
spark = spark.config("spark.sql.warehouse.dir", tempfile.gettempdir()).config("spark.driver.memory", "2g").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
ship(spark, symlake)
rows = spark.read.parquet(table)


def drop(frame):
    frame.write.format("noop").mode("overwrite").save()


with tempfile.TemporaryDirectory(prefix="symlake-spark-") as folder:
    answer = lambda rows: symbolicate(rows, store=store, program=program)
    write = lambda frame: frame.write.option("compression", "zstd").mode("overwrite").parquet(folder + "/out")
    jobs = {
        "read": drop,
        "copy": lambda rows: drop(rows.mapInArrow(lambda batches: batches, rows.schema)),
        "answer": lambda rows: drop(answer(rows)),
        "some": lambda rows: drop(symbolicate(rows, store=store, program=program, only=["function", "file", "line", "status"])),
        "write": lambda rows: write(answer(rows)),
    }
    took = {"rows": rows.count()}
    for name, job in jobs.items():
        job(rows.limit(500_000))
        wall, cpu = time.perf_counter(), ticks()
        job(rows)
        took[name] = {"wall": time.perf_counter() - wall, "cpu": ticks() - cpu}
    found = spark.read.parquet(folder + "/out").filter("status = 'found'").count()
    took["found"] = found
spark.stop()
print(json.dumps(took))
