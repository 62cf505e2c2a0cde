"""spark.py RAW OUT README: in a folder with the program symlake and the store symlake-data, answers the tables of RAW by
mapInArrow of Spark, and compares each row with what symbolicate --input wrote into OUT. Runs the Python of README on a view
crashes. Then has Spark write a table, answers it as a file, and looks for the added columns. Prints the rows compared.
"""
import os
import re
import subprocess
import sys

raw, out, readme = sys.argv[1:]
sys.path.insert(0, os.path.dirname(readme))
from pyspark.sql import SparkSession
from symlake_spark import ship, symbolicate

spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.execution.arrow.maxRecordsPerBatch", "7").config("spark.task.maxFailures", "1").getOrCreate()
spark.sparkContext.setLogLevel("OFF")
ship(spark, "symlake")
compared = 0
for path in [raw + "/" + name for name in ("flat.parquet", "pairs.parquet", "stack.parquet")]:
    rows = spark.read.parquet(path).repartition(2, "id")
    got = symbolicate(rows, store="symlake-data").orderBy("id")
    want = spark.read.parquet(out + "/" + os.path.basename(path)).orderBy("id")
    if got.columns != want.columns:
        sys.exit(f"{path}: columns {got.columns}, in the file {want.columns}")
    for a, b in zip(got.collect(), want.collect(), strict=True):
        if a != b:
            sys.exit(f"{path}: {a}\nin the file: {b}")
        compared += 1
empty = symbolicate(spark.createDataFrame([], "artifact string, address long"), store="symlake-data")
if empty.collect() or empty.columns[-1] != "inlines":
    sys.exit("a table without rows has rows")

spark.read.parquet(raw + "/flat.parquet").createOrReplaceTempView("crashes")
exec(re.search(r"```python\n(.*?)```", open(readme).read(), re.S)[1])

spark.table("crashes").selectExpr("artifact", "address AS pc", "frame0").coalesce(1).write.parquet("written")
subprocess.run(["./symlake", "--store", "symlake-data", "symbolicate", "--input", "written/*.parquet", "--output", "read", "--column", "address=pc", "--prefix", "sym_"], check=True, capture_output=True)
again = spark.read.parquet("read/*.parquet")
prefixed = symbolicate(spark.read.parquet("written"), store="symlake-data", columns={"address": "pc"}, prefix="sym_")
if again.columns != prefixed.columns or again.orderBy("pc", "sym_line").collect() != prefixed.orderBy("pc", "sym_line").collect():
    sys.exit(f"Spark's own table: columns {again.columns}, and {prefixed.columns}")

few = symbolicate(spark.read.parquet("written"), store="symlake-data", columns={"address": "pc"}, prefix="sym_", only=["line", "function"])
if few.columns != ["artifact", "pc", "frame0", "sym_function", "sym_line"] or few.orderBy("pc", "sym_line").collect() != again.select(few.columns).orderBy("pc", "sym_line").collect():
    sys.exit(f"two added columns alone: {few.columns}")
try:
    symbolicate(spark.table("crashes"), store="symlake-data", only=["lines"])
    sys.exit("an added column that is not there passed")
except ValueError as e:
    if "lines" not in str(e):
        raise
try:
    symbolicate(spark.table("crashes"), store="symlake-data", arguments=["--column", "artifact=none"]).collect()
    sys.exit("a column that is not there passed")
except Exception as e:
    if 'there is no column "none"' not in str(e):
        raise
if len(symbolicate(spark.table("crashes"), store="symlake-data").take(1)) != 1:
    sys.exit("no first row")
print(compared)
