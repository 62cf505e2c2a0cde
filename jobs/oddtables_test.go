package jobs

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// oddTables writes tables as pandas, pyarrow, Polars and DuckDB write them, of three frames each at the same place.
const oddTables = `
import decimal, sys, uuid, duckdb, pyarrow as pa, pyarrow.parquet as pq, polars as pl
to, build, at = sys.argv[1], sys.argv[2], int(sys.argv[3])
names = pa.array([build] * 3)
def write(name, artifact=names, address=pa.array([at] * 3), **more):
    pq.write_table(pa.table({"artifact": artifact, "address": address}), f"{to}/{name}.parquet", **more)
write("zero", pa.array([], pa.string()), pa.array([], pa.int64()))
pq.ParquetWriter(f"{to}/nogroups.parquet", pa.schema({"artifact": pa.string(), "address": pa.int64()})).close()
write("double", address=pa.array([float(at), float("nan"), at + 0.5]))
write("gaps", address=pa.array([float(at), None, float(at)]))
write("float", address=pa.array([at, None, at], pa.float32()))
write("fixed", pa.array([bytes.fromhex(build)] * 3, pa.binary(len(build) // 2)), pa.array([at] * 3, pa.uint64()))
write("binary", pa.array([build.encode()] * 3, pa.binary()))
write("decimal", address=pa.array([decimal.Decimal(at)] * 3, pa.decimal128(20, 0)))
write("decimal256", address=pa.array([decimal.Decimal(at)] * 3, pa.decimal256(40, 0)))
write("decimal32", address=pa.array([decimal.Decimal(at)] * 3, pa.decimal128(9, 0)), store_decimal_as_integer=True)
write("unsigned", address=pa.array([at, 2**64 - 1, at], pa.uint64()))
write("unsigned32", address=pa.array([at] * 3, pa.uint32()))
write("small", address=pa.array([at] * 3, pa.int16()))
write("digits", address=pa.array([str(at), f" {at}.0", "1.8248e4"]))
write("hex", address=pa.array([hex(at), hex(at).upper(), f"0x{at:016x}"]))
write("dictionary", names.dictionary_encode(), pa.array([hex(at)] * 3).dictionary_encode())
write("large", names.cast(pa.large_string()))
write("view", names.cast(pa.string_view()))
write("brotli", compression="brotli", data_page_version="2.0")
write("lz4", compression="lz4", use_dictionary=False, column_encoding={"address": "BYTE_STREAM_SPLIT"})
pq.write_table(pa.table({"frames": pa.array([[{"artifact": build, "address": float(at)}], [], None], pa.large_list(pa.struct({"artifact": pa.large_string(), "address": pa.float64()})))}), f"{to}/pairs.parquet")
pl.DataFrame({"artifact": [build] * 3, "address": [at] * 3}, schema={"artifact": pl.Categorical, "address": pl.UInt64}).write_parquet(f"{to}/polars.parquet")
duckdb.sql(f"SELECT '{build}' AS artifact, {at}::HUGEINT AS address FROM range(3)").write_parquet(f"{to}/huge.parquet")
duckdb.sql(f"SELECT '{build}' AS artifact, {at}::UBIGINT AS address FROM range(3)").write_parquet(f"{to}/duck.parquet")
pq.write_table(pa.table({"artifact": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([uuid.UUID(int=7).bytes] * 3, pa.binary(16))), "address": pa.array([at] * 3)}), f"{to}/uuid.parquet")
`

// Tables that others write in odd ways are read: no file is refused, and each row has the answer of its place.
func TestOddTables(t *testing.T) {
	t.Parallel()
	const build, at = "564BB6C8BE48EEA9D9DB622B8689806EEA5AF3C7", "18248"
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := os.Mkdir(in, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := python(t, "pyarrow", "-c", oddTables, in, build, at)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := "\ufeff" + strings.ReplaceAll(`{"artifact":"ID","address":18248}
{"artifact":"ID","address":18248.0}
{"artifact":"ID","address":1.8248e4}
{"artifact":"ID","address":"18248"}
{"artifact":"ID","address":"0x4748"}
{"artifact":"ID","address":18248.5}
`, "ID", build)
	if err := os.WriteFile(filepath.Join(in, "marked.ndjson"), []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}

	store := filepath.Join(dir, "store")
	mustRun(t, []int{0}, "--store", store, "ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	three := map[string]int{"found": 3}
	tables := map[string]map[string]int{
		"zero.parquet": {}, "nogroups.parquet": {}, "double.parquet": {"found": 1, "invalid": 1, "outside": 1}, "gaps.parquet": {"found": 2, "invalid": 1},
		"float.parquet": {"found": 2, "invalid": 1}, "fixed.parquet": three, "binary.parquet": three, "decimal.parquet": three, "decimal256.parquet": three,
		"decimal32.parquet": three, "unsigned.parquet": {"found": 2, "outside": 1}, "unsigned32.parquet": three, "small.parquet": three, "digits.parquet": three,
		"hex.parquet": three, "dictionary.parquet": three, "large.parquet": three, "view.parquet": three, "brotli.parquet": three, "lz4.parquet": three,
		"pairs.parquet": {"found": 1, "invalid": 2}, "polars.parquet": three, "huge.parquet": {"found": 3}, "duck.parquet": three, "uuid.parquet": {"no-artifact": 3},
		"marked.ndjson": {"found": 5, "invalid": 1},
	}
	if len(tables) < 25 {
		t.Errorf("%d tables", len(tables))
	}
	for file, want := range tables {
		text, _ := mustRun(t, []int{0}, "--store", store, "--json", "symbolicate", "--input", filepath.Join(in, file), "--output", filepath.Join(out, file))
		var report struct{ Statuses map[string]int }
		if err := json.Unmarshal([]byte(text), &report); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if !maps.Equal(report.Statuses, want) {
			t.Errorf("%s: %v, want %v", file, report.Statuses, want)
		}
		if b, err := os.ReadFile(filepath.Join(out, file)); err != nil || strings.HasSuffix(file, "ndjson") && !strings.HasPrefix(string(b), "\ufeff{") {
			t.Errorf("%s: %v: %.40q", file, err, b)
		}
	}
	kinds(t, "check", in, out)
}
