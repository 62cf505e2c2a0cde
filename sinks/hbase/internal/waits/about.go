package waits

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/symlake/symlake/sinks/hbase/internal/regions"
)

// At is the place that calls for a region of a table wait for; r nil: any region of it. A table without a name is the
// cluster.
func At(table fmt.Stringer, r *regions.Region) Place {
	name := table.String()
	switch {
	case r != nil:
		return Place{Name: fmt.Sprintf("region %s of table %s", r.Encoded, name), Server: r.Server}
	case name != "":
		return Place{Name: "table " + name}
	}
	return Place{Name: "HBase"}
}

// subject is what the calls under a context are for.
type subject struct {
	table  fmt.Stringer
	region *regions.Region
}

// subjectKey is the key of a subject in a context.
type subjectKey struct{}

// About notes in a context what its calls are for, if there is a Notice.
func (w *Waits) About(ctx context.Context, table fmt.Stringer, r *regions.Region) context.Context {
	if !w.On() {
		return ctx
	}
	return context.WithValue(ctx, subjectKey{}, subject{table, r})
}

// Slow returns a channel that fires each few seconds that a call waits. Without About it never fires.
func Slow(ctx context.Context) (fire <-chan time.Time, stop func()) {
	if ctx.Value(subjectKey{}) == nil {
		return nil, func() {}
	}
	t := time.NewTicker(After)
	return t.C, t.Stop
}

// ErrSilent says that a server has not answered yet.
var ErrSilent = errors.New("no answer for some seconds")

// Silent notes that a server has not answered a call since it began.
func (w *Waits) Silent(ctx context.Context, server string, began time.Time) {
	if s, ok := ctx.Value(subjectKey{}).(subject); ok {
		p := At(s.table, s.region)
		p.Server = server
		w.Failed(p, began, ErrSilent)
	}
}

// Answered notes that regions of a table answered, if any place is waited for.
func (w *Waits) Answered(table fmt.Stringer, list ...*regions.Region) {
	if w.waiting.Load() == 0 {
		return
	}
	for _, r := range append(list, nil) {
		w.answered(At(table, r), time.Now())
	}
}
