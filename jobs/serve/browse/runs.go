package browse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/symlake/symlake/ingest/survey"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/catalog"
)

// RunQuery says which runs a page has.
type RunQuery struct {
	From  string // Next of the page before
	Limit int
}

// Runs emits the runs of a survey, newest first.
func Runs(s *survey.Survey, q RunQuery, emit func(*wire.Run) error) (End, error) {
	var end End
	before, err := parseRun(q.From)
	if err != nil {
		return end, err
	}
	at := 0
	if before != nil {
		at, _ = slices.BinarySearchFunc(s.Runs, before, compareRuns)
	}
	for _, r := range s.Runs[at:] {
		if end.Passed == q.Limit {
			end.Next = fmt.Sprintf("%d.%s", r.Last.UnixNano(), r.Run)
			break
		}
		end.Passed++
		out := wire.NewRun(r)
		if err := emit(&out); err != nil {
			return end, err
		}
	}
	return end, nil
}

// compareRuns is the order of a survey's runs.
func compareRuns(a, b *survey.Run) int {
	return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Run, b.Run))
}

// parseRun reads a cursor of runs, NANOSECONDS.RUN; nil of "".
func parseRun(cursor string) (*survey.Run, error) {
	if cursor == "" {
		return nil, nil
	}
	last, run, ok := strings.Cut(cursor, ".")
	n, err := strconv.ParseUint(last, 10, 63)
	if !ok || err != nil {
		return nil, ErrCursor
	}
	return &survey.Run{Run: run, Last: time.Unix(0, int64(n))}, nil
}

const (
	// maxAccounts bounds the accounts that are read for a run.
	maxAccounts = 10_000
	// maxProcesses and maxReports bound the processes of a run that are told, and the bytes of their reports.
	maxProcesses = 200
	maxReports   = 8 << 20
)

// Run returns a run of a survey with the accounts of its processes, oldest first; nil: neither knows it.
func Run(ctx context.Context, c *catalog.Catalog, s *survey.Survey, name string) (*wire.RunDetail, error) {
	d := &wire.RunDetail{Taken: s.Taken, Run: wire.Run{Run: name, Objects: map[string]int{}, Rejects: map[string]int{}}, Processes: []wire.RunProcess{}}
	at := slices.IndexFunc(s.Runs, func(r *survey.Run) bool { return r.Run == name })
	if at >= 0 {
		d.Run = wire.NewRun(s.Runs[at])
	}
	read, bytes := 0, 0
	err := c.Accounts.Each(ctx, func(a *catalog.Account) error {
		if read++; read > maxAccounts || len(d.Processes) >= maxProcesses {
			return errFull
		}
		if a.Run != name {
			return nil
		}
		p := wire.NewRunProcess(a)
		if bytes += len(p.Report); bytes > maxReports {
			p.Report = nil
		}
		d.Processes = append(d.Processes, p)
		return nil
	})
	if err != nil && !errors.Is(err, errFull) {
		return nil, err
	}
	if at < 0 && len(d.Processes) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(d.Processes, func(a, b wire.RunProcess) int { return a.Started.Compare(b.Started) })
	if at < 0 { // it began after the survey
		d.Run.First, d.Run.Last = d.Processes[0].Started, d.Processes[len(d.Processes)-1].Started
	}
	return d, nil
}
