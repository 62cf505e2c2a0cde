# Read a sealed symbol lake with pyarrow: pip install pyarrow cryptography
import pyarrow as pa, pyarrow.compute, pyarrow.parquet as pq, pyarrow.parquet.encryption as pe
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
def table(name, **options):
    return pa.concat_tables(open_file(f["path"], f["bound"]).read(**options) for f in files.values() if f["table"] == name and "/kind=sourcemap/" not in f["path"])


# Only what counts: the load of each artifact that the log names.
loads = pa.Table.from_pylist([{"artifact": n["artifact"], "load": n["load"]} for n in live.values()])
columns = ["artifact", "load", "range_start", "range_end", "function", "file", "line", "depth"]
ranges = table("ranges", columns=columns).join(loads, ["artifact", "load"], join_type="left semi")
print(ranges.num_rows, "ranges of", loads.num_rows, "artifacts")
size = pa.compute.subtract(ranges["range_end"], ranges["range_start"])
biggest = ranges.append_column("bytes", size).group_by("function").aggregate([("bytes", "sum")]).sort_by([("bytes_sum", "descending")])
for row in biggest.slice(0, 5).to_pylist():
    print(f'{row["bytes_sum"]:8} {row["function"]}')
