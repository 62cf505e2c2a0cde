package build

import (
	"context"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks/scratch"
)

// A load that fails gives up call frame information that is being read ahead. What that took comes back.
func TestUnwindAhead(t *testing.T) {
	t.Parallel()
	rules := []string{"", string((&unwind.Rules{CFA: unwind.Rule{How: unwind.Register, Reg: 7, Offset: 8}}).Append(nil))}
	reading, ended := make(chan struct{}), false
	a := &formats.Artifact{Unwind: func(ctx context.Context, emit func(*symbol.Unwind) error) (q symbol.Quality, err error) {
		defer func() { ended = true }()
		ranges := []symbol.UnwindRange{{Start: 1, End: 2, Rules: 1}}
		if err := emit(&symbol.Unwind{Rank: symbol.UnwindDebug, Rules: rules, Ranges: ranges}); err != nil {
			return q, err
		}
		close(reading)
		<-ctx.Done()
		return q, ctx.Err()
	}}
	limits := formats.Limits{}.WithDefaults()
	budget := scratch.NewBudget(1 << 20)
	b := &Builder{Opener: Opener{Budget: budget, Scratch: t.TempDir(), Limits: &limits}, Tally: report.NewTally(&report.Report{Stages: map[string]float64{}})}
	w := &unwinding{b: b, format: &formats.Format{Name: "endless"}, of: a, ruleBytes: 1 << 20}
	w.begin(t.Context())
	<-reading
	if budget.Used() == 0 {
		t.Error("the rules take nothing of the budget")
	}
	if err := w.close(); err != nil || !ended || budget.Used() != 0 {
		t.Errorf("closed: %v; the parser ended: %t; %d bytes of the budget are not given back", err, ended, budget.Used())
	}
}
