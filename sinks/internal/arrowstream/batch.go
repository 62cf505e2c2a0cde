package arrowstream

import (
	"fmt"

	"github.com/symlake/symlake/sinks/internal/arrowmeta"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// maxElements bounds the frames of a record batch.
const maxElements = MaxBatchBytes / 64

// batch reads the columns in use.
func (s *Stream) batch(m *arrowmeta.Batch, body []byte) (*Batch, error) {
	p := placer{b: m, old: s.Schema.Old}
	all, err := p.place(s.Schema.Fields)
	if err != nil {
		return nil, err
	}
	if 2*p.node != len(m.Nodes) || 2*p.buffer != len(m.Buffers) || p.variadic != len(m.Variadic) {
		return nil, fmt.Errorf("%w: it has %d fields and %d buffers, the schema %d and %d", ErrInput, len(m.Nodes)/2, len(m.Buffers)/2, p.node, p.buffer)
	}
	if m.Rows > MaxBatchBytes {
		return nil, fmt.Errorf("%w: it has %d rows; write smaller record batches", ErrInput, m.Rows)
	}
	b := &Batch{Rows: int(m.Rows), meta: m, body: body, Cells: make([]pqfile.Cells, len(s.used))}
	from := source{meta: m, body: body, left: MaxBatchBytes}
	for i := range all {
		if all[i].rows != b.Rows {
			return nil, fmt.Errorf("%w: column %q has %d rows of %d", ErrInput, all[i].f.Name, all[i].rows, b.Rows)
		}
	}
	for i, u := range s.used {
		if b.Cells[i], err = s.cells(&from, all, u, b.Rows); err != nil {
			return nil, fmt.Errorf("column %s: %w", u.leaf.Path, err)
		}
	}
	return b, nil
}

// cells reads a column in use. Structures around it may be NULL, and one list may be around it.
func (s *Stream) cells(from *source, fields []placed, u used, rows int) (to pqfile.Cells, err error) {
	p := &fields[u.path[0]]
	var absent []bool // by row of p: a structure around it is NULL
	var spans [][2]int
	for _, next := range u.path[1:] {
		null, err := from.valid(p.buffer, p.rows)
		if err != nil {
			return to, err
		}
		absent = or(absent, null)
		if p.f.Type != arrowmeta.Struct {
			child := &p.children[0]
			if spans, err = from.spans(p, child.rows); err != nil {
				return to, err
			}
			for i := range spans {
				if i < len(absent) && absent[i] {
					spans[i] = [2]int{}
				}
			}
			absent = nil
			p = child
			continue
		}
		child := &p.children[next]
		if child.rows < p.rows {
			return to, short(child.rows, p.rows)
		}
		child.rows = p.rows
		p = child
	}
	c, err := from.column(p, s.dictionaries)
	if err != nil {
		return to, err
	}
	c.null = or(absent, c.null)
	if !u.leaf.List {
		return pqfile.Cells{Texts: c.texts, Ints: c.ints, Null: c.null}, nil
	}
	// Lists may share elements, but a batch may not grow by that without end.
	total := 0
	to.Ends = make([]int, rows)
	for i := range to.Ends {
		if total += spans[i][1] - spans[i][0]; total > maxElements {
			return to, fmt.Errorf("%w: its lists have more than %d elements; write smaller record batches", ErrInput, maxElements)
		}
		to.Ends[i] = total
		first, end := spans[i][0], spans[i][1]
		if c.texts != nil {
			to.Texts = append(to.Texts, c.texts[first:end]...)
		} else if c.ints != nil {
			to.Ints = append(to.Ints, c.ints[first:end]...)
		}
		if c.null != nil {
			to.Null = append(to.Null, c.null[first:end]...)
		}
	}
	return to, nil
}

// or joins marks; nil has none.
func or(a, b []bool) []bool {
	if a == nil {
		return b
	}
	for i := range b {
		b[i] = b[i] || i < len(a) && a[i]
	}
	if b == nil {
		return a
	}
	return b
}

// spans returns which elements the rows of a list have.
func (s *source) spans(p *placed, elements int) ([][2]int, error) {
	spans := make([][2]int, p.rows)
	large := p.f.Type == arrowmeta.LargeList || p.f.Type == arrowmeta.LargeListView
	if p.f.Type == arrowmeta.FixedSizeList {
		size := p.f.Size
		if size < 0 || size > 0 && elements/size < p.rows {
			return nil, short(elements, p.rows)
		}
		for i := range spans {
			spans[i] = [2]int{i * size, (i + 1) * size}
		}
		return spans, nil
	}
	b, err := s.buffer(p.buffer + 1)
	if err != nil {
		return nil, err
	}
	if p.f.Type == arrowmeta.List || p.f.Type == arrowmeta.LargeList {
		at, err := offsets(b, large, p.rows, elements)
		if err != nil {
			return nil, err
		}
		for i := range spans {
			spans[i] = [2]int{at[i], at[i+1]}
		}
		return spans, nil
	}
	sizes, err := s.buffer(p.buffer + 2)
	if err != nil {
		return nil, err
	}
	var starts, lengths column
	index := arrowmeta.Field{Type: arrowmeta.Int, Bits: 32}
	if large {
		index.Bits = 64
	}
	if err := numbers(&index, b, p.rows, &starts); err != nil {
		return nil, err
	}
	if err := numbers(&index, sizes, p.rows, &lengths); err != nil {
		return nil, err
	}
	for i := range spans {
		at, n := starts.ints[i], lengths.ints[i]
		if n > uint64(elements) || at > uint64(elements)-n {
			return nil, fmt.Errorf("%w: a list of %d elements at %d of %d", ErrInput, n, at, elements)
		}
		spans[i] = [2]int{int(at), int(at + n)}
	}
	return spans, nil
}
