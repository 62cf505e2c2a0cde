# Query a sealed symbol lake with DuckDB, which reads the tables that pyarrow has opened:
# pip install duckdb pyarrow cryptography
import base64, json
import duckdb, pyarrow as pa, pyarrow.parquet as pq, pyarrow.parquet.encryption as pe
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


def table(name):
    files = [manifest["live"]] if name == "live" else [f for f in manifest["files"] if f["table"] == name]
    return pa.concat_tables(
        pq.ParquetFile(root + "/" + f["path"], filesystem=fs, decryption_properties=factory.file_decryption_properties(connection)).read()
        for f in files)


all_ranges, live = table("ranges"), table("live")
duckdb.sql("CREATE TABLE ranges AS SELECT r.* FROM all_ranges r SEMI JOIN live l USING (artifact, load)")
duckdb.sql("""
  SELECT function, sum(range_end - range_start) AS bytes, count(*) AS ranges, max(depth) AS deepest
  FROM ranges GROUP BY function ORDER BY bytes DESC, function LIMIT 5""").show()
