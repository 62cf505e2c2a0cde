package parquet

var (
	artifactColumn = column("artifact", "VARCHAR", "id of the artifact, 32 hex digits; join on it", text)
	loadColumn     = column("load", "VARCHAR", "id of the load, 16 hex digits, by age; exact readers join live on (artifact, load)", text)
	revisionColumn = column("revision", "VARCHAR", "of the facts of a load, which change without a new load; exact readers join live on it too", text)
)

// Names of tables.
const (
	rangesTable    = "ranges"
	classesTable   = "classes"
	artifactsTable = "artifacts"
	namesTable     = "names"
	liveTable      = "live"
)

// Tables describes the lake: the one place where its columns are explained. What
// is no UTF-8 in the symbols stands as \xNN a byte, and backslashes beside it doubled.
func Tables() []*Table {
	return []*Table{tableRanges(), tableClasses(), tableArtifacts(), tableNames(), tableLive()}
}

func tableRanges() *Table {
	return &Table{Name: rangesTable, Doc: "one row a range of positions with one answer; a position in no range is a hole",
		sorted: []string{"artifact", "range_end"}, blooms: []string{"artifact", "function"},
		Columns: []Column{
			artifactColumn,
			loadColumn,
			column("range_start", "BIGINT", "first position, from the image base (artifacts.image_base); of a script line<<32 | column, both from 0; lines from 2^30 on are no places: tables that runtimes count functions and modules by", long),
			column("range_end", "BIGINT", "position after the last", long),
			column("function", "VARCHAR", "innermost function, demangled", text),
			column("linkage", "VARCHAR", "its name as stored", text),
			column("file", "VARCHAR", "innermost source file", text),
			column("line", "INTEGER", "from 1; 0: unknown", integer),
			column("col", "INTEGER", "from 1; 0: unknown; of a script from 0, in UTF-16 units", integer),
			column("name", "VARCHAR", "of a script: the identifier that its map gives here; '': none", text),
			column("ignored", "INTEGER", "of a script: 1 if the source is none of the application's own", integer),
			column("depth", "INTEGER", "frames: 1 + callers that this place was inlined into", integer),
			{Name: "inlines", Type: "STRUCT(function, linkage, file, line, col)[]", Doc: "these callers, from the inside out: each with the place of its call", list: true,
				fields: []Column{
					column("function", "VARCHAR", "", text),
					column("linkage", "VARCHAR", "", text),
					column("file", "VARCHAR", "", text),
					column("line", "INTEGER", "", integer),
					column("col", "INTEGER", "", integer),
				}},
		}}
}

func tableClasses() *Table {
	return &Table{Name: classesTable, Doc: "one row a member of an R8 or ProGuard mapping, those of a class together, those of one name in the mapping's order; a class without members has one row",
		sorted: []string{"artifact"}, blooms: []string{"artifact", "class", "original_class"},
		Columns: []Column{
			artifactColumn,
			loadColumn,
			column("class", "VARCHAR", "class as it stands in the program", text),
			column("original_class", "VARCHAR", "class in the source", text),
			column("file", "VARCHAR", "its source file", text),
			column("member_kind", "VARCHAR", "method, field, or '' for a class without members", text),
			column("member", "VARCHAR", "member as it stands in the program", text),
			column("original_member", "VARCHAR", "member in the source", text),
			column("declared_in", "VARCHAR", "original class that declares it (another one for what was inlined or moved)", text),
			column("type", "VARCHAR", "what a method returns, type of a field", text),
			column("params", "VARCHAR", "parameters of a method, parted by commas", text),
			column("first_line", "INTEGER", "lines in the program; 0: none", integer),
			column("last_line", "INTEGER", "", integer),
			column("original_first_line", "INTEGER", "lines in the source; 0: none", integer),
			column("original_last_line", "INTEGER", "", integer),
			{Name: "rules", Type: "VARCHAR[]", Doc: "synthesized, outline, outlineCallsite, rewriteFrame, residualSignature", list: true, kind: text},
		}}
}

func tableArtifacts() *Table {
	return &Table{Name: artifactsTable, Doc: "one row a load: identity, counts, quality, where it came from",
		sorted: []string{"artifact"}, blooms: []string{"artifact"},
		Columns: []Column{
			artifactColumn,
			loadColumn,
			revisionColumn,
			column("canonical", "VARCHAR", "its full id: a build-id, UUID, map id, or sha256:…", text),
			column("arch", "VARCHAR", "arm64, x86_64, …; '' for scripts", text),
			column("image_base", "DECIMAL(20,0)", "address of position 0 in the file; add it for what llvm-symbolizer takes", decimal),
			column("image_end", "DECIMAL(20,0)", "first position outside the image", decimal),
			column("format", "VARCHAR", "what read it", text),
			column("parser", "INTEGER", "version of that", integer),
			column("ranges", "BIGINT", "ranges of the load", long),
			column("left_out", "BIGINT", "of these, not in the lake: positions from 2^63 on", long),
			column("units", "BIGINT", "compilation units", long),
			column("units_broken", "BIGINT", "of these, not readable", long),
			column("lines_broken", "BIGINT", "line programs that were dropped", long),
			column("text_bytes", "BIGINT", "bytes of executable segments", long),
			column("covered_bytes", "BIGINT", "bytes with an answer", long),
			column("with_line_bytes", "BIGINT", "bytes whose innermost frame has a line", long),
			column("with_inline_bytes", "BIGINT", "bytes with more than one frame", long),
			column("object_url", "VARCHAR", "object it was read from", text),
			column("object_member", "VARCHAR", "path inside an archive", text),
			column("object_etag", "VARCHAR", "", text),
			column("object_bytes", "BIGINT", "size of the object", long),
			column("loaded_at", "TIMESTAMP WITH TIME ZONE", "when", moment),
			{Name: "missing_parts", Type: "VARCHAR[]", Doc: "what the object refers to and was not there: dwo:ID, dwz:BUILD-ID", list: true, kind: text},
		}}
}

func tableNames() *Table {
	return &Table{Name: namesTable, Doc: "one row a name of an artifact: what a frame carries",
		sorted: []string{"artifact"}, blooms: []string{"artifact", "name"},
		Columns: []Column{
			artifactColumn,
			loadColumn,
			revisionColumn,
			column("name", "VARCHAR", "as given; match it in lower case on both sides", text),
			column("name_kind", "VARCHAR", "build-id, debug-id, file, app, map-id, …", text),
			column("app", "VARCHAR", "APP of an APP@BUILD", text),
			column("build", "VARCHAR", "BUILD of it", text),
		}}
}

func tableLive() *Table {
	return &Table{Name: liveTable, Doc: "one row an artifact: the load and revision that count; a new file with each manifest",
		sorted: []string{"artifact"},
		Columns: []Column{
			artifactColumn,
			loadColumn,
			revisionColumn,
			column("file", "VARCHAR", "key of the file that holds its rows of ranges or classes; '': it has none", text),
			column("facts", "VARCHAR", "key of the file that holds its row of artifacts", text),
			column("names", "VARCHAR", "key of the file that holds its rows of names; '': it has none", text),
		}}
}
