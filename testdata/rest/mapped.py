"""mapped.py JARS DIR: makes the Delta tables in the folder mapped, name and id, with Spark 4.1 and Delta 4.4, whose jars JARS lists.
The tables lie at DIR/name and DIR/id when they are made. Prints the rows that Spark reads.

Their files have other names for columns than the tables: of name by physical names, of id by numbers. They have deletion vectors,
checkpoints of version 2 with sidecars, in Parquet and in JSON, times without a time zone and a column that was an int. Columns
were renamed and dropped. The commits before the newest checkpoint are left out here, as a cleanup of the log leaves them out.
"""
import sys

from pyspark.sql import SparkSession

jars, to = sys.argv[1:]
artifact = "564bb6c8be48eea9d9db622b8689806eea5af3c7"
s = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.jars", jars)
     .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
     .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
     .config("spark.sql.shuffle.partitions", "1").config("spark.databricks.delta.snapshotPartitions", "1").getOrCreate())


def insert(t, first, rows, day, extra):
    s.sql(f"""insert into {t} select /*+ COALESCE(1) */ {first} + id, '{artifact}', 'stepped', timestamp_ntz'{day} 01:02:03', 'android',
        {extra} from range({rows})""")


for mode, form in ("name", "parquet"), ("id", "json"):
    s.conf.set("spark.databricks.delta.checkpointV2.topLevelFileFormat", form)
    t = f"delta.`{to}/{mode}`"
    s.sql(f"""create table {t} (address int, art string, frame0 string, day timestamp_ntz, os string, extra struct<a: string, b: array<struct<c: string>>>)
        using delta partitioned by (os) tblproperties('delta.columnMapping.mode'='{mode}', 'delta.enableDeletionVectors'='true',
        'delta.checkpointPolicy'='v2', 'delta.enableRowTracking'='false', 'delta.enableTypeWidening'='true', 'delta.checkpointInterval'='3')""")
    insert(t, 18150, 6, "2026-11-20", "named_struct('a', 'x', 'b', array(named_struct('c', 'y')))")
    s.sql(f"alter table {t} rename column art to artifact")
    s.sql(f"alter table {t} rename column os to platform")
    s.sql(f"alter table {t} alter column address type bigint")
    insert(t, 18156, 4, "2026-11-21", "null")
    s.sql(f"delete from {t} where address in (18151, 18156)")
    s.sql(f"alter table {t} drop column extra")
    s.sql(f"delete from {t} where address in (18153)")
    print(s.sql(f"select * from {t} order by address").collect())
