package lake

import "github.com/symlake/symlake/sinks/internal/pqfile"

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

// numbered gives the columns of a table their numbers.
func numbered(t *pqfile.Table) *pqfile.Table {
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
