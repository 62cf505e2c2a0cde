# Read a sealed symbol lake with Polars: pip install polars cryptography
import base64, glob, json
import polars as pl
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

LAKE = "./symlake-data/lake"
KEYS = {}  # master key id -> base64: symlake keys export --lake fills it in


def key(path):
    """The key of a file, from the key material before its footer."""
    with open(path, "rb") as f:
        f.seek(-8, 2)
        f.seek(-8 - int.from_bytes(f.read(4), "little"), 2)
        text = f.read()
    start = text.index(b'{"keyMaterialType"')
    m = json.loads(text[start : text.index(b"}", start) + 1])
    b = base64.b64decode(m["wrappedDEK"])
    return AESGCM(base64.b64decode(KEYS[m["masterKeyID"]])).decrypt(b[:12], b[12:], m["masterKeyID"].encode())


manifest = json.load(open(max(glob.glob(LAKE + "/_manifest/*.json"))))


def table(name):
    files = [manifest["live"]] if name == "live" else [f for f in manifest["files"] if f["table"] == name]
    paths = [LAKE + "/" + f["path"] for f in files]
    return pl.concat([pl.scan_parquet(p, hive_partitioning=False, decryption=pl.ParquetDecryptionProperties(footer_key=key(p))) for p in paths])


# Only what counts: the load of each artifact that the manifest names.
ranges = table("ranges").join(table("live").select("artifact", "load"), on=["artifact", "load"], how="semi")
print(
    ranges.group_by("function")
    .agg((pl.col("range_end") - pl.col("range_start")).sum().alias("bytes"), pl.len().alias("ranges"), pl.col("depth").max().alias("deepest"))
    .sort(["bytes", "function"], descending=[True, False])
    .head(5)
    .collect()
)
