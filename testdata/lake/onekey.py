"""onekey.py ENGINE LAKE KEYS: how many files of the table ranges the data key of the first one opens. KEYS: what
symlake keys export --lake --json prints."""
import base64
import glob
import json
import sys

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

engine, lake, keys = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])["keys"]
files = sorted(glob.glob(lake + "/ranges/**/*.parquet", recursive=True))
data = open(files[0], "rb").read()
start = data.index(b'{"keyMaterialType"', len(data) - 8 - int.from_bytes(data[-8:-4], "little"))
m = json.loads(data[start : data.index(b"}", start) + 1])
b = base64.b64decode(m["wrappedDEK"])
key = AESGCM(base64.b64decode(keys[m["masterKeyID"]])).decrypt(b[:12], b[12:], m["masterKeyID"].encode())


def lines(path):
    if engine == "polars":
        import polars as pl

        return pl.read_parquet(path, hive_partitioning=False, decryption=pl.ParquetDecryptionProperties(footer_key=key))["line"].sum()
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
    import pyarrow.parquet.encryption as pe

    t = pq.ParquetFile(path, decryption_properties=pe.create_decryption_properties(footer_key=key)).read()
    return pc.sum(t["line"]).as_py()


opened = 0
for path in files:
    try:
        opened += lines(path) > 0
    except Exception:
        pass
print(opened)
