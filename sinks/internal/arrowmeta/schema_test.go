package arrowmeta

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
)

// everyType is a schema with the types of Arrow that its library for Go writes.
func everyType() *arrow.Schema {
	meta := arrow.NewMetadata([]string{"unit", "owner"}, []string{"ms", "crash team"})
	inner := arrow.StructOf(arrow.Field{Name: "artifact", Type: arrow.BinaryTypes.String}, arrow.Field{Name: "address", Type: arrow.PrimitiveTypes.Uint64, Nullable: true})
	return arrow.NewSchema([]arrow.Field{
		{Name: "null", Type: arrow.Null, Nullable: true},
		{Name: "int8", Type: arrow.PrimitiveTypes.Int8, Metadata: meta},
		{Name: "uint64", Type: arrow.PrimitiveTypes.Uint64, Nullable: true},
		{Name: "double", Type: arrow.PrimitiveTypes.Float64},
		{Name: "half", Type: arrow.FixedWidthTypes.Float16},
		{Name: "binary", Type: arrow.BinaryTypes.Binary},
		{Name: "text", Type: arrow.BinaryTypes.String},
		{Name: "large", Type: arrow.BinaryTypes.LargeString},
		{Name: "view", Type: arrow.BinaryTypes.StringView},
		{Name: "bool", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "decimal", Type: &arrow.Decimal256Type{Precision: 50, Scale: 2}},
		{Name: "berlin", Type: &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "Europe/Berlin"}},
		{Name: "duration", Type: arrow.FixedWidthTypes.Duration_us},
		{Name: "fixed", Type: &arrow.FixedSizeBinaryType{ByteWidth: 20}},
		{Name: "dictionary", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: arrow.BinaryTypes.String, Ordered: true}},
		{Name: "frames", Type: arrow.ListOf(inner)},
		{Name: "wide", Type: arrow.LargeListOf(arrow.PrimitiveTypes.Int64)},
		{Name: "three", Type: arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float32)},
		{Name: "map", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32)},
		{Name: "runs", Type: arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String)},
		{Name: "union", Type: arrow.DenseUnionOf([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int32}}, []arrow.UnionTypeCode{5})},
	}, &meta)
}

// message returns the schema message of a stream without rows.
func message(t testing.TB, s *arrow.Schema) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := ipc.NewWriter(&b, ipc.WithSchema(s)).Close(); err != nil {
		t.Fatal(err)
	}
	m, err := Unframe(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// read has the library of Arrow read a schema.
func read(t testing.TB, message []byte) *arrow.Schema {
	t.Helper()
	stream := append(Frame(message), 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0)
	r, err := ipc.NewReader(bytes.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	return r.Schema()
}

var answers = []Column{{Name: "function"}, {Name: "line", Kind: Integer}, {Name: "reason", Nullable: true}, {Name: "inlines", Fields: []Column{{Name: "file"}, {Name: "col", Kind: Integer}}}}

// Every field of every type stays as it was, its metadata too, and the added ones follow.
func TestExtend(t *testing.T) {
	old := everyType()
	s, err := ParseSchema(message(t, old))
	if err != nil {
		t.Fatal(err)
	}
	got := read(t, s.Extend(func(int) bool { return true }, answers, Pair{"symlake.answers", "function,line"}))
	n := len(old.Fields())
	for i, f := range old.Fields() {
		if !got.Field(i).Equal(f) {
			t.Errorf("%s became %s", f, got.Field(i))
		}
	}
	for i, want := range []arrow.Field{
		{Name: "function", Type: arrow.BinaryTypes.String}, {Name: "line", Type: arrow.PrimitiveTypes.Int32}, {Name: "reason", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "inlines", Type: arrow.ListOfField(arrow.Field{Name: "element", Type: arrow.StructOf(arrow.Field{Name: "file", Type: arrow.BinaryTypes.String}, arrow.Field{Name: "col", Type: arrow.PrimitiveTypes.Int32})})},
	} {
		if !got.Field(n + i).Equal(want) {
			t.Errorf("added %s, want %s", got.Field(n+i), want)
		}
	}
	for key, want := range map[string]string{"unit": "ms", "owner": "crash team", "symlake.answers": "function,line"} {
		if v, _ := got.Metadata().GetValue(key); v != want {
			t.Errorf("metadata %s is %q", key, v)
		}
	}
}

// A second run removes the columns that the first one added.
func TestExtendAgain(t *testing.T) {
	old := everyType()
	s, err := ParseSchema(message(t, old))
	if err != nil {
		t.Fatal(err)
	}
	n := len(s.Fields)
	for range 3 {
		s, err = ParseSchema(s.Extend(func(i int) bool { return i < n }, answers, Pair{"symlake.answers", "x"}))
		if err != nil {
			t.Fatal(err)
		}
	}
	got := read(t, s.b)
	if len(got.Fields()) != n+len(answers) || got.Metadata().Len() != 3 || !got.Field(n-1).Equal(old.Field(n-1)) {
		t.Errorf("%d fields, metadata %s", len(got.Fields()), got.Metadata())
	}
}

func TestParse(t *testing.T) {
	s, err := ParseSchema(message(t, everyType()))
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]Field{}
	for _, f := range s.Fields {
		by[f.Name] = f
	}
	if f := by["uint64"]; f.Type != Int || f.Bits != 64 || f.Signed || !f.Nullable {
		t.Errorf("%+v", f)
	}
	if f := by["double"]; f.Type != Float || f.Bits != 64 {
		t.Errorf("%+v", f)
	}
	if f := by["decimal"]; f.Type != Decimal || f.Bits != 256 || f.Scale != 2 {
		t.Errorf("%+v", f)
	}
	if f := by["fixed"]; f.Type != FixedSizeBinary || f.Size != 20 {
		t.Errorf("%+v", f)
	}
	if f := by["dictionary"]; f.Type != UTF8 || f.Dictionary == nil || f.Dictionary.Bits != 16 || f.Dictionary.Signed {
		t.Errorf("%+v", f)
	}
	if f := by["frames"]; f.Type != List || len(f.Children) != 1 || len(f.Children[0].Children) != 2 || f.Children[0].Children[1].Name != "address" {
		t.Errorf("%+v", f)
	}
	if f := by["three"]; f.Size != 3 {
		t.Errorf("%+v", f)
	}
}

// A field that is its own ancestor, and lists that all share one list, end.
func TestShared(t *testing.T) {
	w := &builder{b: make([]byte, 4)}
	at, root := w.table(cell{0, 2, 4}, cell{1, 1, schemaHeader}, cell{2, 4, 0})
	w.link(0, at)
	at, where := w.table(cell{1, 4, 0})
	w.link(root[2], at)
	from := where[0]
	for range 40 { // each list has the next one's field twice a thousand times
		refs := w.offsets(from, 1000)
		at, where := w.table(cell{2, 1, uint64(Struct)}, cell{3, 4, 0}, cell{5, 4, 0})
		for _, r := range refs {
			w.link(r, at)
		}
		kind, _ := w.table()
		w.link(where[1], kind)
		from = where[2]
	}
	w.offsets(from, 0)
	if _, err := ParseSchema(w.b); !errors.Is(err, ErrMessage) {
		t.Errorf("%v", err)
	}
}

// Any bytes are a schema or ErrMessage. A schema can be extended and read again.
func FuzzSchema(f *testing.F) {
	f.Add(message(f, everyType()))
	f.Add(message(f, arrow.NewSchema(nil, nil)))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ParseSchema(b)
		if err != nil {
			if !errors.Is(err, ErrMessage) {
				t.Fatal(err)
			}
			return
		}
		again, err := ParseSchema(s.Extend(func(int) bool { return true }, answers))
		if err != nil {
			return // more fields than there may be
		}
		if len(again.Fields) != len(s.Fields)+len(answers) {
			t.Fatalf("%d fields of %d", len(again.Fields), len(s.Fields))
		}
	})
}

func FuzzMessage(f *testing.F) {
	b := &Batch{Rows: 3, Nodes: []int64{3, 0}, Buffers: []int64{0, 0, 0, 16}, Variadic: []int64{2}, Compressed: true, Codec: Zstd, version: version5}
	f.Add(b.Encode(64))
	f.Add([]byte{4, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ParseMessage(b)
		if err != nil {
			if !errors.Is(err, ErrMessage) {
				t.Fatal(err)
			}
			return
		}
		if m.Header != HeaderBatch {
			return
		}
		again, err := ParseMessage(m.Batch.Encode(m.BodyBytes))
		if err != nil || again.Batch.Rows != m.Batch.Rows || len(again.Batch.Nodes) != len(m.Batch.Nodes) || len(again.Batch.Buffers) != len(m.Batch.Buffers) {
			t.Fatalf("%v: %+v became %+v", err, m.Batch, again)
		}
	})
}

// A message is read in time in proportion to its length.
func TestLinear(t *testing.T) {
	size := func(n int) (bytes int, allocs float64) {
		fields := make([]arrow.Field, n)
		for i := range fields {
			fields[i] = arrow.Field{Name: string(binary.AppendUvarint([]byte("f"), uint64(i))), Type: arrow.PrimitiveTypes.Int64}
		}
		m := message(t, arrow.NewSchema(fields, nil))
		return len(m), testing.AllocsPerRun(3, func() {
			s, err := ParseSchema(m)
			if err != nil {
				t.Fatal(err)
			}
			s.Extend(func(int) bool { return true }, answers)
		})
	}
	_, one := size(1000)
	_, four := size(4000)
	if four > 5*one {
		t.Errorf("%v allocations of 1,000 fields, %v of 4,000", one, four)
	}
}
