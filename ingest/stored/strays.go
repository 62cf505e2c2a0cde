package stored

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

const (
	// A load of at most smallBytes is small. So many small loads in a row are read whole, in scans of scanLoads loads
	// and scanBytes: that costs less than a question for each gap between them.
	smallBytes = 32 << 10
	smallLoads = 8
	scanLoads  = 4096
	scanBytes  = 8 << 20
)

// Known is a load that a record names.
type Known struct {
	Load
	Bytes uint64 // of its rows
}

// AppendKnown appends the loads that a record names, without loads in progress that except is true for (nil: all).
func AppendKnown(known []Known, r *catalog.Record, except func(catalog.Progress) bool) []Known {
	for _, l := range []*row.Loaded{r.Published, r.Previous} {
		if l != nil {
			known = append(known, Known{Load{r.ID, l.Load}, l.Bytes})
		}
	}
	for _, p := range r.Progress {
		if except != nil && except(p) {
			continue
		}
		// No record counts its bytes.
		known = append(known, Known{Load{r.ID, p.Load}, math.MaxUint64})
	}
	return known
}

// Strays emits the loads of a store that are not among known, in no particular order. It sorts known. Its cost is a
// scan of the small loads, and a question for each gap between the others, 256 of them at a time.
func Strays(ctx context.Context, b sinks.Blocks, known []Known, emit func(symbol.ID, sinks.Load) error) error {
	slices.SortFunc(known, func(x, y Known) int {
		return cmp.Or(bytes.Compare(x.Artifact[:], y.Artifact[:]), bytes.Compare(x.ID[:], y.ID[:]))
	})
	s := &straying{blocks: b, known: known, from: []byte{}, emit: emit}
	for s.from != nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if n := s.small(); n-s.at >= smallLoads {
			err = s.scan(ctx, n)
		} else {
			err = s.ask(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// straying is how far Strays came: all loads before from are done, and known[at] is the first known one behind it.
type straying struct {
	blocks sinks.Blocks
	known  []Known
	at     int
	from   []byte // nil: all is done
	emit   func(symbol.ID, sinks.Load) error
}

func (k Known) prefix() []byte { return row.LoadPrefix(k.Artifact, k.ID) }

// small returns where the small loads that begin at known[at] end.
func (s *straying) small() int {
	n, size := s.at, uint64(0)
	for n < len(s.known) && n-s.at < scanLoads && s.known[n].Bytes <= smallBytes && size < scanBytes {
		size += s.known[n].Bytes
		n++
	}
	return n
}

// errLarge ends a scan in a load that is not small.
var errLarge = errors.New("a large load")

// scan reads the rows from s.from to known[n].
func (s *straying) scan(ctx context.Context, n int) error {
	span := sinks.Span{From: s.from}
	if n < len(s.known) {
		span.Stop = s.known[n].prefix()
	}
	var found [][]byte // strays
	var now []byte     // prefix of the load that is being read
	size := 0
	err := s.blocks.Scan(ctx, span, func(r sinks.Row) error {
		p, err := prefixOf(r)
		if err != nil {
			return err
		}
		if !bytes.Equal(p, now) {
			now, size = bytes.Clone(p), 0
			for s.at < n && bytes.Compare(s.known[s.at].prefix(), p) < 0 {
				s.at++
			}
			if s.at == n || !bytes.Equal(s.known[s.at].prefix(), p) {
				found = append(found, now)
			}
		}
		if size += len(r.Key) + len(r.Value); size > 2*smallBytes {
			return errLarge
		}
		return nil
	})
	switch {
	case err == errLarge:
		s.from = After(now)
		for s.at < n && bytes.Compare(s.known[s.at].prefix(), now) <= 0 {
			s.at++
		}
	case err != nil:
		return err
	default:
		s.from, s.at = span.Stop, n
	}
	return s.give(found)
}

// ask asks for the first row in each gap between the known loads.
func (s *straying) ask(ctx context.Context) error {
	n := min(len(s.known), s.at+haveRowsAtOnce)
	var spans []sinks.Span
	for ; s.at < n; s.at++ {
		p := s.known[s.at].prefix()
		if s.from != nil && bytes.Compare(s.from, p) < 0 {
			spans = append(spans, sinks.Span{From: s.from, Stop: p})
		}
		s.from = After(p)
	}
	if n == len(s.known) {
		if s.from != nil {
			spans = append(spans, sinks.Span{From: s.from})
		}
		s.from = nil
	}
	for len(spans) > 0 {
		var found [][]byte
		var again []sinks.Span
		var failed error
		err := s.blocks.First(ctx, spans, func(i int, r sinks.Row, err error) {
			if err == nil && r.Key == nil {
				return
			}
			var p []byte
			if err == nil {
				p, err = prefixOf(r)
			}
			if err != nil {
				failed = errors.Join(failed, err)
				return
			}
			found = append(found, bytes.Clone(p))
			if next := After(p); next != nil && (spans[i].Stop == nil || bytes.Compare(next, spans[i].Stop) < 0) {
				again = append(again, sinks.Span{From: next, Stop: spans[i].Stop})
			}
		})
		if err := errors.Join(err, failed); err != nil {
			return err
		}
		if err := s.give(found); err != nil {
			return err
		}
		spans = again
	}
	return nil
}

// give emits strays. The store is not being read meanwhile, so that emit may change it.
func (s *straying) give(prefixes [][]byte) error {
	for _, p := range prefixes {
		if err := s.emit(symbol.ID(p[:16]), sinks.Load(p[16:])); err != nil {
			return err
		}
	}
	return nil
}
