# Query a sealed symbol lake with DuckDB, which reads the tables that pyarrow has opened:
# pip install duckdb pyarrow cryptography
import duckdb, pyarrow as pa, pyarrow.parquet as pq, pyarrow.parquet.encryption as pe
from pyarrow.fs import FileSelector, FileSystem, LocalFileSystem

from lakelog import open_key, read_log

LAKE = "./symlake-data/lake"  # or s3://bucket/prefix
KEYS = {}  # master key id -> base64: symlake keys export --lake fills it in

fs, root = FileSystem.from_uri(LAKE) if "://" in LAKE else (LocalFileSystem(), LAKE)


def list_keys(folder):
    found = fs.get_file_info(FileSelector(f"{root}/{folder}", recursive=True))
    return [f.path[len(root) + 1 :] for f in found if f.is_file]


def read(key):
    with fs.open_input_file(f"{root}/{key}") as f:
        return f.read()


def open_file(key, bound):
    """A file of the lake. It is sealed to its key: under another name it does not open."""
    with fs.open_input_file(f"{root}/{key}") as f:
        size = f.size()
        f.seek(size - 8)
        f.seek(size - 8 - int.from_bytes(f.read(4), "little"))
        tail = f.read()
    props = pe.create_decryption_properties(footer_key=open_key(KEYS, tail), aad_prefix=key.encode() if bound else None)
    return pq.ParquetFile(f"{root}/{key}", filesystem=fs, decryption_properties=props)


files, live = read_log(list_keys, read, lambda key: open_file(key, False).read().to_pylist(), KEYS)


# Positions of scripts are no bytes, so their files are left out.
def table(name):
    return pa.concat_tables(open_file(f["path"], f["bound"]).read() for f in files.values() if f["table"] == name and "/kind=sourcemap/" not in f["path"])


# Only what counts: the load of each artifact that the log names.
all_ranges = table("ranges")
loads = pa.Table.from_pylist([{"artifact": n["artifact"], "load": n["load"]} for n in live.values()])
duckdb.sql("CREATE TABLE ranges AS SELECT r.* FROM all_ranges r SEMI JOIN loads l USING (artifact, load)")
duckdb.sql("""
  SELECT function, sum(range_end - range_start) AS bytes, count(*) AS ranges, max(depth) AS deepest
  FROM ranges GROUP BY function ORDER BY bytes DESC, function LIMIT 5""").show()
