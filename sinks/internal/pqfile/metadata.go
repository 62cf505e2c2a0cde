package pqfile

import (
	"encoding/base64"

	"github.com/parquet-go/parquet-go/format"

	"github.com/symlake/symlake/sinks/internal/arrowmeta"
	"github.com/symlake/symlake/sinks/internal/sparkmeta"
)

// Keys under which engines note their own schema. Readers of such an engine see what it lists, and nothing else.
const (
	arrowKey = "ARROW:schema"                              // an Arrow message in base64
	sparkKey = "org.apache.spark.sql.parquet.row.metadata" // JSON
)

// engineSchema extends what an engine notes of its schema by the columns of a table. drop tells which of the file's
// columns, by number, do not stay. false: the note cannot be extended and must go, for readers would trust it.
func engineSchema(kv format.KeyValue, columns int, drop func(i int) bool, t *Table) (_ format.KeyValue, ok bool) {
	switch kv.Key {
	case arrowKey:
		kv.Value, ok = extendArrow(kv.Value, columns, drop, t)
	case sparkKey:
		kv.Value, ok = sparkmeta.Extend(kv.Value, func(fields int) (func(int) bool, bool) { return keeping(fields, columns, drop) }, ArrowColumns(t.Columns))
	default:
		ok = true
	}
	return kv, ok
}

func extendArrow(text string, columns int, drop func(i int) bool, t *Table) (string, bool) {
	framed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", false
	}
	message, err := arrowmeta.Unframe(framed)
	if err != nil {
		return "", false
	}
	s, err := arrowmeta.ParseSchema(message)
	if err != nil {
		return "", false
	}
	keep, ok := keeping(len(s.Fields), columns, drop)
	if !ok {
		return "", false
	}
	return base64.StdEncoding.EncodeToString(arrowmeta.Frame(s.Extend(keep, ArrowColumns(t.Columns)))), true
}

// keeping tells which fields of a note stay. A note may leave out all columns that do not: earlier versions added them
// without it.
func keeping(fields, columns int, drop func(i int) bool) (keep func(i int) bool, ok bool) {
	dropped := 0
	for i := range columns {
		if drop(i) {
			dropped++
		}
	}
	switch fields {
	case columns:
		return func(i int) bool { return !drop(i) }, true
	case columns - dropped:
		return func(int) bool { return true }, true
	}
	return nil, false
}

// ArrowColumns returns columns as Arrow describes them. They must hold texts and integers only.
func ArrowColumns(columns []Column) (all []arrowmeta.Column) {
	for _, c := range columns {
		a := arrowmeta.Column{Name: c.Name, Nullable: c.Nullable, Fields: ArrowColumns(c.Fields)}
		if c.Kind == Integer {
			a.Kind = arrowmeta.Integer
		}
		all = append(all, a)
	}
	return all
}
