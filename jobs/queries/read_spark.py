# Read a sealed symbol lake with Spark 4: pip install pyspark cryptography
# The class that unwraps keys is parquet-java's own, for tests; production has one for its key service:
#   mvn dependency:copy -Dartifact=org.apache.parquet:parquet-hadoop:1.17.0:jar:tests -DoutputDirectory=.
# in the version of the parquet-hadoop jar that Spark brings.
import glob, os
from pyspark.sql import SparkSession, functions as F

from lakelog import read_log

LAKE = "./symlake-data/lake"
KEYS = {}  # master key id -> base64: symlake keys export --lake fills it in

spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.jars", ",".join(glob.glob("parquet-hadoop-*-tests.jar")))
    .config("spark.hadoop.parquet.crypto.factory.class", "org.apache.parquet.crypto.keytools.PropertiesDrivenCryptoFactory")
    .config("spark.hadoop.parquet.encryption.kms.client.class", "org.apache.parquet.crypto.keytools.mocks.InMemoryKMS")
    .config("spark.hadoop.parquet.encryption.key.list", ",".join(f"{k}:{v}" for k, v in KEYS.items()))
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")


def list_keys(folder):
    found = os.walk(f"{LAKE}/{folder}")
    return [os.path.relpath(os.path.join(at, name), LAKE).replace(os.sep, "/") for at, _, names in found for name in names]


def read(key):
    with open(f"{LAKE}/{key}", "rb") as f:
        return f.read()


files, live = read_log(list_keys, read, lambda key: (r.asDict() for r in spark.read.parquet(f"{LAKE}/{key}").collect()), KEYS)


def own_name(f):
    """The path of a file. Spark takes the name that a file is sealed to from the file itself, so look at it here."""
    path = f"{LAKE}/{f['path']}"
    with open(path, "rb") as file:
        file.seek(-8, 2)
        file.seek(-8 - int.from_bytes(file.read(4), "little"), 2)
        if f["bound"] and f["path"].encode() not in file.read():
            raise ValueError(f"{path} is another file of the lake")
    return path


# Positions of scripts are no bytes, so their files are left out.
def table(name):
    return spark.read.parquet(*[own_name(f) for f in files.values() if f["table"] == name and "/kind=sourcemap/" not in f["path"]])


# Only what counts: the load of each artifact that the log names.
loads = spark.createDataFrame([(n["artifact"], n["load"]) for n in live.values()], "artifact STRING, load STRING")
ranges = table("ranges").join(loads, ["artifact", "load"], "left_semi")
(
    ranges.groupBy("function")
    .agg(F.sum(F.col("range_end") - F.col("range_start")).alias("bytes"), F.count("*").alias("ranges"), F.max("depth").alias("deepest"))
    .orderBy(F.desc("bytes"), "function")
    .show(5, truncate=60)
)
