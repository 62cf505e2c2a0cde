"""equality.py JAR DIR: makes the Iceberg table equality in this folder, with Spark 4.1 and Iceberg 1.11, whose runtime for Spark is
JAR. The table lies at DIR/n/equality when it is made; older versions of its metadata are left out here. Prints the addresses that
Spark reads.

Rows are deleted by value, as Flink writes it: Spark writes the Parquet files of values, with field ids, and Iceberg commits them.
The table is partitioned by os at first, then by nothing. Its column artifact was called art in the first files.
"""
import os
import shutil
import sys

from pyspark.sql import SparkSession
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

jar, to = sys.argv[1:]
s = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.jars", jar)
     .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
     .config("spark.sql.catalog.c", "org.apache.iceberg.spark.SparkCatalog").config("spark.sql.catalog.c.type", "hadoop")
     .config("spark.sql.catalog.c.cache-enabled", "false")
     .config("spark.sql.catalog.c.warehouse", to).config("spark.sql.shuffle.partitions", "1").getOrCreate())
s.sparkContext.setLogLevel("ERROR")
iceberg = s._jvm.org.apache.iceberg
artifact = "564bb6c8be48eea9d9db622b8689806eea5af3c7"
root = f"{to}/n/equality"
types = {"address": (1, LongType()), "art": (2, StringType()), "frame0": (3, StringType()), "os": (4, StringType()), "build": (5, IntegerType())}
files = 0


def table():
    return iceberg.hadoop.HadoopTables(s._jsc.hadoopConfiguration()).load(root)


def write(names, rows):
    """A Parquet file in the table's folder; its path and size."""
    global files
    files += 1
    schema = StructType([StructField(n, types[n][1], True, {"parquet.field.id": types[n][0]}) for n in names])
    s.createDataFrame(rows, schema).coalesce(1).write.mode("overwrite").parquet(f"{to}/one")
    part, = [f for f in os.listdir(f"{to}/one") if f.endswith(".parquet")]
    path = f"{root}/data/{files}.parquet"
    shutil.move(f"{to}/one/{part}", path)
    shutil.rmtree(f"{to}/one")
    return path


def described(builder, path, rows, partition):
    builder = builder.withPath(path).withFormat("parquet").withFileSizeInBytes(os.path.getsize(path)).withRecordCount(len(rows))
    return (builder.withPartitionPath(partition) if partition else builder).build()


def by_value(names, rows, partition=""):
    ids = s.sparkContext._gateway.new_array(s._jvm.int, len(names))
    for i, n in enumerate(names):
        ids[i] = types[n][0]
    return described(iceberg.FileMetadata.deleteFileBuilder(table().spec()).ofEqualityDeletes(ids), write(names, rows), rows, partition)


def insert(rows):
    values = ", ".join(rows)
    s.sql(f"insert into c.n.equality select /*+ COALESCE(1) */ * from values {values}")


def row(address, system="android", frame0="'stepped'", more=""):
    return f"({address}L, '{artifact}', {frame0}, '{system}'{more})"


s.sql("""create table c.n.equality (address bigint, art string, frame0 string, os string) using iceberg
    partitioned by (os) tblproperties('format-version'='2', 'write.metadata.compression-codec'='none')""")
insert([row(18150), row(18151), row(18152), row(18153), row(18157, frame0="null"), row(18157)])
insert([row(18154, "ios"), row(18155, "ios")])
# 18154 lies in another partition.
table().newRowDelta().addDeletes(by_value(["address"], [(18151,), (18154,)], "os=android")).commit()
insert([row(18151), row(18156)])
# NULL equals NULL.
table().newRowDelta().addDeletes(by_value(["address", "frame0"], [(18157, None)], "os=android")).commit()
# An upsert: a deletion does not reach rows of its own commit.
again = [(18152, artifact, "stepped", "android")]
data = described(iceberg.DataFiles.builder(table().spec()), write(["address", "art", "frame0", "os"], again), again, "os=android")
table().newRowDelta().addRows(data).addDeletes(by_value(["address"], [(18152,)], "os=android")).commit()
s.sql("alter table c.n.equality rename column art to artifact")
s.sql("alter table c.n.equality add column build int")
insert([row(18158, more=", 7"), row(18159, more=", 8")])
# Rows of before have NULL in the new column.
table().newRowDelta().addDeletes(by_value(["build", "address"], [(None, 18150), (None, 18158), (8, 18159)], "os=android")).commit()
# Without a partition a deletion reaches all files.
s.sql("alter table c.n.equality drop partition field os")
table().newRowDelta().addDeletes(by_value(["address"], [(18155,)])).commit()
print([r.address for r in s.sql("select address from c.n.equality order by address").collect()])
