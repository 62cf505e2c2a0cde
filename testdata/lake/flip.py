"""flip.py ENGINE FILE KEYS: flips one bit of a sealed file at a time, in the nonce, text and tag of each of its
modules, and wants an error each time. Prints how many bits were tried. (The length before a module says what
the authenticated headers say too; Polars does not look at it.)"""
import base64
import io
import json
import os
import random
import sys

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

engine, path, keys = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])["keys"]
data = open(path, "rb").read()
footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
start = data.index(b'{"keyMaterialType"', footer)
end = data.index(b"}", start) + 1
m = json.loads(data[start:end])
b = base64.b64decode(m["wrappedDEK"])
key = AESGCM(base64.b64decode(keys[m["masterKeyID"]])).decrypt(b[:12], b[12:], m["masterKeyID"].encode())


def read(damaged):
    if engine == "pyarrow":
        import pyarrow.parquet as pq
        import pyarrow.parquet.encryption as pe

        t = pq.ParquetFile(io.BytesIO(damaged), decryption_properties=pe.create_decryption_properties(footer_key=key)).read()
        return t.num_rows
    import polars as pl

    return len(pl.read_parquet(io.BytesIO(damaged), decryption=pl.ParquetDecryptionProperties(footer_key=key)))


assert read(data) > 0
rng = random.Random(1)
places, at = [], 4
while at < footer:
    size = int.from_bytes(data[at : at + 4], "little")
    places += [rng.randrange(at + 4, at + 16) for _ in range(2)]
    places += [rng.randrange(at + 16, at + 4 + size - 16) for _ in range(3)]
    places += [rng.randrange(at + 4 + size - 16, at + 4 + size) for _ in range(2)]
    at += 4 + size
assert at == footer
places += [rng.randrange(len(data) - 500, len(data) - 8) for _ in range(20)]  # of the footer
for at in places:
    damaged = bytearray(data)
    damaged[at] ^= 1 << rng.randrange(8)
    try:
        n = read(bytes(damaged))
    except BaseException as e:  # Polars panics at some
        if isinstance(e, (KeyboardInterrupt, SystemExit)):
            raise
        continue
    sys.exit(f"a bit at {at} of {len(data)} was flipped, and {n} rows were read")
print(len(places), flush=True)
os._exit(0)  # pyarrow's threads do not survive so many errors
