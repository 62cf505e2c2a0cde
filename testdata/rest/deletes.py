"""deletes.py JAR DIR: makes the Iceberg tables in this folder that have rows deleted inside files, deletes and vectors, with Spark
4.1 and Iceberg 1.11, whose runtime for Spark is JAR. They lie at DIR when they are made.

deletes has version 2 and position deletes. It is partitioned by days(day) and truncate(3, os). Its column artifact was called art in
the first file. 6 of its 10 rows are left: the addresses 18150, 18152, 18154, 18157, 18158, 18159. vectors has version 3, which keeps
deleted rows as deletion vectors. 4 of its 6 rows are left: 18150, 18152, 18153, 18155.
"""
import sys

from pyspark.sql import SparkSession

jar, to = sys.argv[1:]
s = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.jars", jar)
     .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
     .config("spark.sql.catalog.c", "org.apache.iceberg.spark.SparkCatalog").config("spark.sql.catalog.c.type", "hadoop")
     .config("spark.sql.catalog.c.warehouse", to).config("spark.sql.shuffle.partitions", "1").getOrCreate())
artifact = "564bb6c8be48eea9d9db622b8689806eea5af3c7"


def rows(*more):
    return " union all ".join(f"select {18150 + i} address, '{artifact}' art, 'stepped' frame0{m}" for i, m in enumerate(more))


def day(d):
    return f", date'2026-11-{d}' day, 'android' os"


properties = "'write.delete.mode'='merge-on-read', 'write.metadata.compression-codec'='none'"
s.sql(f"""create table c.n.deletes (address bigint, art string, frame0 string, day date, os string) using iceberg
    partitioned by (days(day), truncate(3, os)) tblproperties('format-version'='2', {properties})""")
s.sql("insert into c.n.deletes select /*+ COALESCE(1) */ * from (" + rows(*[day(20)] * 6) + ")")
s.sql("alter table c.n.deletes rename column art to artifact")
s.sql("insert into c.n.deletes select /*+ COALESCE(1) */ address + 6, art, frame0, day, os from (" + rows(*[day(21)] * 4) + ")")
s.sql("delete from c.n.deletes where address in (18151, 18156)")
s.sql("delete from c.n.deletes where address in (18153, 18155)")
s.sql(f"create table c.n.vectors (address bigint, artifact string, frame0 string) using iceberg tblproperties('format-version'='3', {properties})")
s.sql("insert into c.n.vectors select /*+ COALESCE(1) */ * from (" + rows(*[""] * 6) + ")")
s.sql("delete from c.n.vectors where address in (18151, 18154)")
for t in "deletes", "vectors":
    print([r.address for r in s.sql(f"select address from c.n.{t} order by address").collect()])
