package tables

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/symlake/symlake/sinks/answer"
	"github.com/symlake/symlake/sinks/lookup"
)

// streamOf writes record batches as one stream.
func streamOf(t testing.TB, o []ipc.Option, batches ...arrow.Record) []byte {
	t.Helper()
	var b bytes.Buffer
	w := ipc.NewWriter(&b, append(o, ipc.WithSchema(batches[0].Schema()))...)
	for _, r := range batches {
		must(t, w.Write(r))
	}
	must(t, w.Close())
	return b.Bytes()
}

// records reads a stream.
func recordsOf(t testing.TB, stream []byte) (all []arrow.Record) {
	t.Helper()
	r, err := ipc.NewReader(bytes.NewReader(stream))
	must(t, err)
	for r.Next() {
		rec := r.Record()
		rec.Retain()
		all = append(all, rec)
	}
	if err := r.Err(); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return all
}

// stream answers a stream with a client of its own.
func (w *world) stream(t testing.TB, in []byte, o Options) ([]byte, *Report, error) {
	o.Client = answer.New(lookup.New(w.store, w.kek, lookup.Options{CacheBytes: 1 << 20}))
	var out bytes.Buffer
	report, err := Stream(t.Context(), o, bytes.NewReader(in), &out)
	return out.Bytes(), report, err
}

// frameBatch makes rows of frames with columns of other types beside them.
func frameBatch(rows int, dictionary bool) arrow.Record {
	mem := memory.DefaultAllocator
	text := arrow.DataType(arrow.BinaryTypes.String)
	if dictionary {
		text = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "artifact", Type: text},
		{Name: "tags", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.ListOf(arrow.PrimitiveTypes.Float32)), Nullable: true},
		{Name: "address", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "took", Type: arrow.FixedWidthTypes.Duration_us},
		{Name: "frame0", Type: arrow.BinaryTypes.LargeString},
	}, nil)
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		if dictionary {
			if err := b.Field(1).(*array.BinaryDictionaryBuilder).AppendString(artifactName(i % 2)); err != nil {
				panic(err)
			}
		} else {
			b.Field(1).(*array.StringBuilder).Append(artifactName(i % 2))
		}
		m := b.Field(2).(*array.MapBuilder)
		if i%3 == 0 {
			m.AppendNull()
		} else {
			m.Append(true)
			m.KeyBuilder().(*array.StringBuilder).Append("k")
			m.ItemBuilder().(*array.ListBuilder).Append(true)
			m.ItemBuilder().(*array.ListBuilder).ValueBuilder().(*array.Float32Builder).Append(float32(i))
		}
		if i%7 == 6 {
			b.Field(3).AppendNull()
		} else {
			b.Field(3).(*array.Float64Builder).Append(float64(i % 10 * functionBytes))
		}
		b.Field(4).(*array.DurationBuilder).Append(arrow.Duration(i))
		b.Field(5).(*array.LargeStringBuilder).Append("exact")
	}
	return b.NewRecord()
}

// Batches of frames come out with the same rows, their columns as they were, and the answers of their places.
func TestStreamFrames(t *testing.T) {
	w := newWorld(t, 2, 20)
	for name, o := range map[string][]ipc.Option{"plain": nil, "zstd": {ipc.WithZstd()}, "lz4": {ipc.WithLZ4()}} {
		for _, dictionary := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, dictionary %t", name, dictionary), func(t *testing.T) {
				batches := []arrow.Record{frameBatch(100, dictionary), frameBatch(0, dictionary), frameBatch(3000, dictionary)}
				out, report, err := w.stream(t, streamOf(t, o, batches...), Options{})
				must(t, err)
				if report.Rows != 3100 || report.Statuses["found"] == 0 || report.Statuses["invalid"] == 0 {
					t.Errorf("%+v", report)
				}
				got := recordsOf(t, out)
				if len(got) != len(batches) {
					t.Fatalf("%d batches", len(got))
				}
				for n, want := range batches {
					compareBatch(t, want, got[n])
				}
				// An answered stream is answered again: its added columns give way.
				again, _, err := w.stream(t, out, Options{})
				must(t, err)
				for n, rec := range recordsOf(t, again) {
					if !array.RecordEqual(rec, got[n]) {
						t.Errorf("batch %d, answered again, differs", n)
					}
				}
			})
		}
	}
}

func compareBatch(t *testing.T, want, got arrow.Record) {
	t.Helper()
	if got.NumRows() != want.NumRows() {
		t.Fatalf("%d rows of %d", got.NumRows(), want.NumRows())
	}
	for i, f := range want.Schema().Fields() {
		if !got.Schema().Field(i).Equal(f) || !array.Equal(want.Column(i), got.Column(i)) {
			t.Errorf("column %s changed", f.Name)
		}
	}
	at := len(want.Schema().Fields())
	function, line, status, group := got.Column(at).(*array.String), got.Column(at+2).(*array.Int32), got.Column(at+4).(*array.String), got.Column(at+6).(*array.String)
	address := want.Column(3).(*array.Float64)
	for i := range int(want.NumRows()) {
		if address.IsNull(i) {
			if status.Value(i) != "invalid" || !group.IsNull(i) {
				t.Errorf("row %d: %s", i, status.Value(i))
			}
			continue
		}
		f := int(address.Value(i)) / functionBytes
		if status.Value(i) != "found" || function.Value(i) != functionName(i%2, f) || line.Value(i) != int32(f+1) || group.IsNull(i) {
			t.Errorf("row %d: %s %s %d", i, status.Value(i), function.Value(i), line.Value(i))
		}
	}
}

// stackBatch makes rows of lists of pairs.
func stackBatch(rows int) arrow.Record {
	pair := arrow.StructOf(arrow.Field{Name: "artifact", Type: arrow.BinaryTypes.String}, arrow.Field{Name: "address", Type: arrow.PrimitiveTypes.Uint64, Nullable: true})
	schema := arrow.NewSchema([]arrow.Field{{Name: "frames", Type: arrow.LargeListOf(pair), Nullable: true}, {Name: "frame0", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	list := b.Field(0).(*array.LargeListBuilder)
	for i := range rows {
		b.Field(1).(*array.StringBuilder).Append("stepped")
		if i%5 == 4 {
			list.AppendNull()
			continue
		}
		list.Append(true)
		for k := range i % 4 {
			s := list.ValueBuilder().(*array.StructBuilder)
			s.Append(true)
			s.FieldBuilder(0).(*array.StringBuilder).Append(artifactName(0))
			s.FieldBuilder(1).(*array.Uint64Builder).Append(uint64((i + k) % 20 * functionBytes))
		}
	}
	return b.NewRecord()
}

func TestStreamStacks(t *testing.T) {
	w := newWorld(t, 1, 20)
	whole := stackBatch(90)
	// A slice has lists that begin within its elements.
	out, report, err := w.stream(t, streamOf(t, nil, whole.NewSlice(0, 30), whole.NewSlice(30, 90)), Options{Prefix: "sym_"})
	must(t, err)
	if report.Rows != 90 {
		t.Errorf("%+v", report)
	}
	row := 0
	for _, rec := range recordsOf(t, out) {
		chain := rec.Column(9).(*array.List)
		lines := chain.ListValues().(*array.Struct)
		for i := range int(rec.NumRows()) {
			from, to := chain.ValueOffsets(i)
			want := row % 4
			if row%5 == 4 || want == 0 {
				if status := rec.Column(6).(*array.String).Value(i); status != "invalid" {
					t.Errorf("row %d: %s", row, status)
				}
				row++
				continue
			}
			if int(to-from) != want {
				t.Errorf("row %d: %d functions, want %d", row, to-from, want)
			}
			for k := range want {
				if got := lines.Field(2).(*array.String).Value(int(from) + k); got != functionName(0, (row+k)%20) {
					t.Errorf("row %d, frame %d: %s", row, k, got)
				}
			}
			row++
		}
	}
}

// A stream gets the columns that the options name alone, with the values that they have among all.
func TestStreamAdds(t *testing.T) {
	w := newWorld(t, 2, 20)
	for name, in := range map[string][]byte{"frames": streamOf(t, []ipc.Option{ipc.WithZstd()}, frameBatch(100, true), frameBatch(7, true)), "stacks": streamOf(t, nil, stackBatch(90))} {
		list, other := "inlines", "chain"
		if name == "stacks" {
			list, other = other, list
		}
		out, _, err := w.stream(t, in, Options{Prefix: "sym_"})
		must(t, err)
		whole := recordsOf(t, out)
		for _, added := range [][]string{{"line"}, {"status", "function"}, {list}, {list, "reason", "file"}, AddedNames()[:7]} {
			out, _, err := w.stream(t, in, Options{Prefix: "sym_", Added: added})
			must(t, err)
			for n, rec := range recordsOf(t, out) {
				all, at := whole[n], 0
				for i, f := range all.Schema().Fields() {
					if plain, ours := strings.CutPrefix(f.Name, "sym_"); ours && !slices.Contains(added, plain) {
						continue
					}
					if got := rec.Schema().Field(at); !got.Equal(f) || !array.Equal(rec.Column(at), all.Column(i)) {
						t.Errorf("%s, %v: column %s differs from %s", name, added, got.Name, f.Name)
					}
					at++
				}
				if at != int(rec.NumCols()) || at != int(all.NumCols())-8+len(added) {
					t.Errorf("%s, %v: %d columns", name, added, rec.NumCols())
				}
			}
		}
		if _, _, err := w.stream(t, in, Options{Added: []string{other}}); err == nil || errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "stacks get chain, and frames inlines") {
			t.Errorf("%s with %s: %v", name, other, err)
		}
	}
}

// Several streams follow each other, and each gets one.
func TestStreamsInARow(t *testing.T) {
	w := newWorld(t, 2, 20)
	one := streamOf(t, nil, frameBatch(10, false))
	out, report, err := w.stream(t, append(one[:len(one):len(one)], one...), Options{})
	must(t, err)
	single, _, err := w.stream(t, one, Options{})
	must(t, err)
	if report.Rows != 20 || !bytes.Equal(out, append(single[:len(single):len(single)], single...)) {
		t.Errorf("%d rows, %d bytes of %d", report.Rows, len(out), 2*len(single))
	}
	if out, report, err := w.stream(t, nil, Options{}); err != nil || len(out) > 0 || report.Rows > 0 {
		t.Errorf("no stream: %v, %d bytes", err, len(out))
	}
}

// A stream that is cut anywhere is a fault of the input, and its output has no mark of its end unless the cut is between
// messages.
func TestStreamCut(t *testing.T) {
	w := newWorld(t, 2, 20)
	in := streamOf(t, nil, frameBatch(10, true), frameBatch(20, true))
	whole := 0
	for n := 1; n < len(in); n += 13 {
		out, _, err := w.stream(t, in[:n], Options{})
		if err != nil && !errors.Is(err, ErrInput) {
			t.Fatalf("%d bytes: %v", n, err)
		}
		ended := bytes.HasSuffix(out, []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})
		if err == nil {
			whole++
		}
		if ended != (err == nil) {
			t.Errorf("%d bytes: %v, and the output is marked %t", n, err, ended)
		}
	}
	if whole > 8 {
		t.Errorf("%d cuts passed", whole)
	}
}

// A stream with any bytes changed is answered, or is a fault of the input.
func FuzzStream(f *testing.F) {
	w := newWorld(f, 2, 20)
	f.Add(streamOf(f, nil, frameBatch(5, true)), uint(0), byte(0))
	f.Add(streamOf(f, []ipc.Option{ipc.WithZstd()}, frameBatch(5, false)), uint(700), byte(0xff))
	f.Add(streamOf(f, []ipc.Option{ipc.WithLZ4()}, stackBatch(5)), uint(500), byte(0x80))
	f.Fuzz(func(t *testing.T, in []byte, at uint, to byte) {
		if len(in) > 0 {
			in = bytes.Clone(in)
			in[at%uint(len(in))] = to
		}
		if _, _, err := w.stream(t, in, Options{}); err != nil && !errors.Is(err, ErrInput) {
			t.Fatal(err)
		}
	})
}

// A changed byte anywhere in a stream is a fault of the input, or changes nothing.
func TestStreamDamage(t *testing.T) {
	w := newWorld(t, 2, 20)
	for _, in := range [][]byte{streamOf(t, nil, frameBatch(5, true)), streamOf(t, []ipc.Option{ipc.WithZstd()}, stackBatch(8))} {
		for at := 0; at < len(in); at += 2 {
			for _, to := range []byte{1, 0xff} {
				damaged := bytes.Clone(in)
				damaged[at] = to
				if _, _, err := w.stream(t, damaged, Options{}); err != nil && !errors.Is(err, ErrInput) {
					t.Fatalf("byte %d is %#x: %v", at, to, err)
				}
			}
		}
	}
}
