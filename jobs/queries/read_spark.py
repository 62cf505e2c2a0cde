# Read a sealed symbol lake with Spark 4: pip install pyspark
# The class that unwraps keys is parquet-java's own, for tests; production has one for its key service:
#   mvn dependency:copy -Dartifact=org.apache.parquet:parquet-hadoop:1.17.0:jar:tests -DoutputDirectory=.
# in the version of the parquet-hadoop jar that Spark brings.
import glob, json
from pyspark.sql import SparkSession, functions as F

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
manifest = json.load(open(max(glob.glob(LAKE + "/_manifest/*.json"))))


def table(name):
    files = [manifest["live"]] if name == "live" else [f for f in manifest["files"] if f["table"] == name]
    return spark.read.parquet(*[LAKE + "/" + f["path"] for f in files])


# Only what counts: the load of each artifact that the manifest names.
ranges = table("ranges").join(table("live").select("artifact", "load"), ["artifact", "load"], "left_semi")
(
    ranges.groupBy("function")
    .agg(F.sum(F.col("range_end") - F.col("range_start")).alias("bytes"), F.count("*").alias("ranges"), F.max("depth").alias("deepest"))
    .orderBy(F.desc("bytes"), "function")
    .show(5, truncate=60)
)
