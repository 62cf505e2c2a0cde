package lake

import (
	"github.com/symlake/symlake/sinks/internal/pqfile"
	"github.com/symlake/symlake/sinks/lake/journal"
)

var (
	artifactColumn = pqfile.NewColumn("artifact", "VARCHAR", "id of the artifact, 32 hex digits. Join on it", pqfile.Text)
	loadColumn     = pqfile.NewColumn("load", "VARCHAR", "id of the load, 16 hex digits, by age. Exact readers join what the log says of live loads on (artifact, load)", pqfile.Text)
	revisionColumn = pqfile.NewColumn("revision", "VARCHAR", "version of the facts of a load, which change without a new load. Exact readers join on it too", pqfile.Text)
)

// Names of tables.
const (
	rangesTable    = "ranges"
	classesTable   = "classes"
	artifactsTable = "artifacts"
	namesTable     = "names"
)

// columnIDs are the numbers of columns, by table: Parquet files and Iceberg tables have them as field ids. A column keeps its
// number; a new one takes the next free one. Durable. kind and day are folders of a path, and columns of Iceberg alone.
var columnIDs = map[string]map[string]int{
	rangesTable: {
		"artifact": 1, "load": 2, "range_start": 3, "range_end": 4, "function": 5, "linkage": 6, "file": 7, "line": 8, "col": 9,
		"name": 10, "ignored": 11, "depth": 12, "inlines": 13, "kind": 14, "day": 15,
		"inlines.element": 16, "inlines.function": 17, "inlines.linkage": 18, "inlines.file": 19, "inlines.line": 20, "inlines.col": 21,
		"linear": 22,
	},
	classesTable: {
		"artifact": 1, "load": 2, "class": 3, "original_class": 4, "file": 5, "member_kind": 6, "member": 7, "original_member": 8,
		"declared_in": 9, "type": 10, "params": 11, "first_line": 12, "last_line": 13, "original_first_line": 14,
		"original_last_line": 15, "rules": 16, "kind": 17, "day": 18,
		"rules.element": 19,
	},
	artifactsTable: {
		"artifact": 1, "load": 2, "revision": 3, "canonical": 4, "arch": 5, "image_base": 6, "image_end": 7, "format": 8, "parser": 9,
		"ranges": 10, "left_out": 11, "units": 12, "units_broken": 13, "lines_broken": 14, "text_bytes": 15, "covered_bytes": 16,
		"with_line_bytes": 17, "with_inline_bytes": 18, "object_url": 19, "object_member": 20, "object_etag": 21, "object_bytes": 22,
		"loaded_at": 23, "missing_parts": 24, "kind": 25, "day": 26,
		"missing_parts.element": 27,
	},
	namesTable: {"artifact": 1, "load": 2, "revision": 3, "name": 4, "name_kind": 5, "app": 6, "build": 7, "kind": 8, "day": 9},
}

// withIDs gives the columns of a table their numbers.
func withIDs(t *pqfile.Table) *pqfile.Table {
	ids := columnIDs[t.Name]
	for i := range t.Columns {
		c := &t.Columns[i]
		c.ID, c.Element = ids[c.Name], ids[c.Name+".element"]
		for j := range c.Fields {
			c.Fields[j].ID = ids[c.Name+"."+c.Fields[j].Name]
		}
	}
	return t
}

// Tables describes the tables of a lake and explains their columns. A byte of a symbol outside UTF-8 stands as \xNN; in such a
// text a backslash is doubled.
func Tables() []*pqfile.Table {
	return []*pqfile.Table{tableRanges(), tableClasses(), tableArtifacts(), tableNames(), journal.Table()}
}

func tableRanges() *pqfile.Table {
	return withIDs(&pqfile.Table{Name: rangesTable, Doc: "one row a range of positions with one answer. A position in no range is a hole",
		Sorted: []string{"artifact", "range_end"}, Blooms: []string{"artifact", "function"},
		Columns: []pqfile.Column{
			artifactColumn,
			loadColumn,
			pqfile.NewColumn("range_start", "BIGINT", "first position, from the image base (artifacts.image_base). In a script line<<32 | column, both from 0. Lines of segment n of React Native begin at n*2^24. Lines from 2^30 on number functions and modules of a runtime", pqfile.Long),
			pqfile.NewColumn("range_end", "BIGINT", "position after the last", pqfile.Long),
			pqfile.NewColumn("function", "VARCHAR", "innermost function, demangled", pqfile.Text),
			pqfile.NewColumn("linkage", "VARCHAR", "its name as stored", pqfile.Text),
			pqfile.NewColumn("file", "VARCHAR", "innermost source file", pqfile.Text),
			pqfile.NewColumn("line", "INTEGER", "from 1. 0: unknown", pqfile.Integer),
			pqfile.NewColumn("col", "INTEGER", "from 1. 0: unknown. In a script from 0, in UTF-16 units", pqfile.Integer),
			pqfile.NewColumn("name", "VARCHAR", "in a script: the identifier that its map gives here. '': none", pqfile.Text),
			pqfile.NewColumn("ignored", "INTEGER", "in a script: 1 if the map's ignore list has the source", pqfile.Integer),
			pqfile.AddedColumn("linear", "INTEGER", "in a script: 1 if line and col are of range_start and run on with the position (a range mapping). NULL: symlake wrote the file before it had this column", pqfile.Integer),
			pqfile.NewColumn("depth", "INTEGER", "number of frames: 1, and 1 for each caller that this place was inlined into", pqfile.Integer),
			{Name: "inlines", Type: "STRUCT(function, linkage, file, line, col)[]", Doc: "these callers, from the inside out, each with the place of its call", List: true,
				Fields: []pqfile.Column{
					pqfile.NewColumn("function", "VARCHAR", "", pqfile.Text),
					pqfile.NewColumn("linkage", "VARCHAR", "", pqfile.Text),
					pqfile.NewColumn("file", "VARCHAR", "", pqfile.Text),
					pqfile.NewColumn("line", "INTEGER", "", pqfile.Integer),
					pqfile.NewColumn("col", "INTEGER", "", pqfile.Integer),
				}},
		}})
}

func tableClasses() *pqfile.Table {
	return withIDs(&pqfile.Table{Name: classesTable, Doc: "one row a member of an R8 or ProGuard mapping. Members of a class are together, members of one name in the mapping's order. A class without members has one row",
		Sorted: []string{"artifact"}, Blooms: []string{"artifact", "class", "original_class"},
		Columns: []pqfile.Column{
			artifactColumn,
			loadColumn,
			pqfile.NewColumn("class", "VARCHAR", "name in the program", pqfile.Text),
			pqfile.NewColumn("original_class", "VARCHAR", "name in the source", pqfile.Text),
			pqfile.NewColumn("file", "VARCHAR", "its source file", pqfile.Text),
			pqfile.NewColumn("member_kind", "VARCHAR", "method, field, or '' for a class without members", pqfile.Text),
			pqfile.NewColumn("member", "VARCHAR", "name in the program", pqfile.Text),
			pqfile.NewColumn("original_member", "VARCHAR", "name in the source", pqfile.Text),
			pqfile.NewColumn("declared_in", "VARCHAR", "original class that declares it. Another class if the member was inlined or moved", pqfile.Text),
			pqfile.NewColumn("type", "VARCHAR", "type of a field, or that a method returns", pqfile.Text),
			pqfile.NewColumn("params", "VARCHAR", "parameters of a method, with commas between them", pqfile.Text),
			pqfile.NewColumn("first_line", "INTEGER", "lines in the program. 0: none", pqfile.Integer),
			pqfile.NewColumn("last_line", "INTEGER", "", pqfile.Integer),
			pqfile.NewColumn("original_first_line", "INTEGER", "lines in the source. 0: none", pqfile.Integer),
			pqfile.NewColumn("original_last_line", "INTEGER", "", pqfile.Integer),
			{Name: "rules", Type: "VARCHAR[]", Doc: "synthesized, outline, outlineCallsite, rewriteFrame, residualSignature", List: true, Kind: pqfile.Text},
		}})
}

func tableArtifacts() *pqfile.Table {
	return withIDs(&pqfile.Table{Name: artifactsTable, Doc: "one row a load: identity, counts, quality, where it came from",
		Sorted: []string{"artifact"}, Blooms: []string{"artifact"},
		Columns: []pqfile.Column{
			artifactColumn,
			loadColumn,
			revisionColumn,
			pqfile.NewColumn("canonical", "VARCHAR", "its full id: a build-id, UUID, map id, or sha256:…", pqfile.Text),
			pqfile.NewColumn("arch", "VARCHAR", "arm64, x86_64, …. '' for scripts", pqfile.Text),
			pqfile.NewColumn("image_base", "DECIMAL(20,0)", "address of position 0 in the file. Add it to a position for llvm-symbolizer", pqfile.Decimal),
			pqfile.NewColumn("image_end", "DECIMAL(20,0)", "first position outside the image", pqfile.Decimal),
			pqfile.NewColumn("format", "VARCHAR", "its reader: elf, macho, r8, …", pqfile.Text),
			pqfile.NewColumn("parser", "INTEGER", "version of the reader", pqfile.Integer),
			pqfile.NewColumn("ranges", "BIGINT", "ranges of the load", pqfile.Long),
			pqfile.NewColumn("left_out", "BIGINT", "of these, not in the lake, because their positions are 2^63 or above", pqfile.Long),
			pqfile.NewColumn("units", "BIGINT", "compilation units", pqfile.Long),
			pqfile.NewColumn("units_broken", "BIGINT", "of these, broken", pqfile.Long),
			pqfile.NewColumn("lines_broken", "BIGINT", "broken line programs", pqfile.Long),
			pqfile.NewColumn("text_bytes", "BIGINT", "bytes of executable segments", pqfile.Long),
			pqfile.NewColumn("covered_bytes", "BIGINT", "bytes with an answer. In a script, here and below: positions, which are no bytes", pqfile.Long),
			pqfile.NewColumn("with_line_bytes", "BIGINT", "bytes with a line in their innermost frame", pqfile.Long),
			pqfile.NewColumn("with_inline_bytes", "BIGINT", "bytes with more than one frame", pqfile.Long),
			pqfile.NewColumn("object_url", "VARCHAR", "URL of the object", pqfile.Text),
			pqfile.NewColumn("object_member", "VARCHAR", "path inside an archive", pqfile.Text),
			pqfile.NewColumn("object_etag", "VARCHAR", "", pqfile.Text),
			pqfile.NewColumn("object_bytes", "BIGINT", "size of the object", pqfile.Long),
			pqfile.NewColumn("loaded_at", "TIMESTAMP WITH TIME ZONE", "time of the load", pqfile.Moment),
			{Name: "missing_parts", Type: "VARCHAR[]", Doc: "parts that the object refers to and that were missing: dwo:ID, dwz:BUILD-ID", List: true, Kind: pqfile.Text},
		}})
}

func tableNames() *pqfile.Table {
	return withIDs(&pqfile.Table{Name: namesTable, Doc: "one row a name of an artifact, as frames carry it",
		Sorted: []string{"artifact"}, Blooms: []string{"artifact", "name"},
		Columns: []pqfile.Column{
			artifactColumn,
			loadColumn,
			revisionColumn,
			pqfile.NewColumn("name", "VARCHAR", "as given. Compare it in lower case on both sides", pqfile.Text),
			pqfile.NewColumn("name_kind", "VARCHAR", "build-id, debug-id, file, app, map-id, …", pqfile.Text),
			pqfile.NewColumn("app", "VARCHAR", "APP of an APP@BUILD", pqfile.Text),
			pqfile.NewColumn("build", "VARCHAR", "BUILD of it", pqfile.Text),
		}})
}
