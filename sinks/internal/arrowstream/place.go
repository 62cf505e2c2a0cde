package arrowstream

import (
	"fmt"

	"github.com/symlake/symlake/sinks/internal/arrowmeta"
)

// placed is a field with its place in a batch.
type placed struct {
	f        *arrowmeta.Field
	rows     int
	buffer   int // first one
	buffers  int
	children []placed
}

// placer numbers the nodes and buffers of fields.
type placer struct {
	b                      *arrowmeta.Batch
	old                    bool
	node, buffer, variadic int
}

func (p *placer) place(fields []arrowmeta.Field) ([]placed, error) {
	all := make([]placed, len(fields))
	for i := range fields {
		f := &fields[i]
		x := &all[i]
		x.f, x.buffer = f, p.buffer
		if 2*p.node+1 >= len(p.b.Nodes) {
			return nil, fmt.Errorf("%w: it has %d fields, the schema has more", ErrInput, len(p.b.Nodes)/2)
		}
		if rows := p.b.Nodes[2*p.node]; rows < 0 || rows > MaxBatchBytes {
			return nil, fmt.Errorf("%w: column %q has %d rows", ErrInput, f.Name, rows)
		} else {
			x.rows = int(rows)
		}
		p.node++
		var err error
		if x.buffers, err = p.count(f); err != nil {
			return nil, err
		}
		if p.buffer += x.buffers; 2*p.buffer > len(p.b.Buffers) {
			return nil, fmt.Errorf("%w: it has %d buffers, the schema has more", ErrInput, len(p.b.Buffers)/2)
		}
		if f.Dictionary == nil {
			if x.children, err = p.place(f.Children); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// count returns how many buffers a field has, its children excepted.
func (p *placer) count(f *arrowmeta.Field) (int, error) {
	if f.Dictionary != nil {
		return 2, nil
	}
	switch f.Type {
	case arrowmeta.Null, arrowmeta.RunEndEncoded:
		return 0, nil
	case arrowmeta.FixedSizeList, arrowmeta.Struct:
		return 1, nil
	case arrowmeta.Binary, arrowmeta.UTF8, arrowmeta.LargeBinary, arrowmeta.LargeUTF8, arrowmeta.ListView, arrowmeta.LargeListView:
		return 3, nil
	case arrowmeta.BinaryView, arrowmeta.UTF8View:
		if p.variadic >= len(p.b.Variadic) {
			return 0, fmt.Errorf("%w: column %q has no count of its buffers", ErrInput, f.Name)
		}
		n := p.b.Variadic[p.variadic]
		p.variadic++
		if n < 0 || n > int64(len(p.b.Buffers)) {
			return 0, fmt.Errorf("%w: column %q has %d buffers", ErrInput, f.Name, n)
		}
		return 2 + int(n), nil
	case arrowmeta.Union:
		n := 1
		if f.Dense {
			n++
		}
		if p.old {
			n++
		}
		return n, nil
	case arrowmeta.Int, arrowmeta.Float, arrowmeta.Bool, arrowmeta.Decimal, arrowmeta.Date, arrowmeta.Time, arrowmeta.Timestamp, arrowmeta.Interval,
		arrowmeta.FixedSizeBinary, arrowmeta.Duration, arrowmeta.List, arrowmeta.LargeList, arrowmeta.Map:
		return 2, nil
	}
	return 0, fmt.Errorf("%w: column %q is of type %d, whose buffers are not known", ErrInput, f.Name, f.Type)
}
