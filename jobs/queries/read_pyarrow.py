# Read a sealed symbol lake with pyarrow: pip install pyarrow cryptography
import base64, json
import pyarrow as pa, pyarrow.parquet as pq, pyarrow.parquet.encryption as pe
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from pyarrow.fs import FileSystem

LAKE = "./symlake-data/lake"  # or s3://bucket/prefix
KEYS = {}  # master key id -> base64: symlake keys export --lake fills it in


class Kms(pe.KmsClient):
    def unwrap_key(self, wrapped, master):
        b = base64.b64decode(wrapped)
        return AESGCM(base64.b64decode(KEYS[master])).decrypt(b[:12], b[12:], master.encode())

    def wrap_key(self, key, master):
        raise NotImplementedError("the lake is written by symlake")


fs, root = FileSystem.from_uri(LAKE) if "://" in LAKE else (pa.fs.LocalFileSystem(), LAKE)
newest = max(f.path for f in fs.get_file_info(pa.fs.FileSelector(root + "/_manifest")))
manifest = json.load(fs.open_input_stream(newest))
factory, connection = pe.CryptoFactory(lambda c: Kms()), pe.KmsConnectionConfig()


def table(name, **options):
    files = [manifest["live"]] if name == "live" else [f for f in manifest["files"] if f["table"] == name]
    return pa.concat_tables(
        pq.ParquetFile(root + "/" + f["path"], filesystem=fs, decryption_properties=factory.file_decryption_properties(connection)).read(**options)
        for f in files)


# Only what counts: the load of each artifact that the manifest names.
live = table("live", columns=["artifact", "load"])
columns = ["artifact", "load", "range_start", "range_end", "function", "file", "line", "depth"]
ranges = table("ranges", columns=columns).join(live, ["artifact", "load"], join_type="left semi")
print(ranges.num_rows, "ranges of", live.num_rows, "artifacts")
size = pa.compute.subtract(ranges["range_end"], ranges["range_start"])
biggest = ranges.append_column("bytes", size).group_by("function").aggregate([("bytes", "sum")]).sort_by([("bytes_sum", "descending")])
for row in biggest.slice(0, 5).to_pylist():
    print(f'{row["bytes_sum"]:8} {row["function"]}')
