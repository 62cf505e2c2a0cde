package jobs

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/symlake/symlake/ingest/projection"
	"github.com/symlake/symlake/ingest/survey"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/jobs/internal/workspace"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks"
)

type statusJob struct {
	workspace.MissingFlags
	MaxLag time.Duration `help:"Exit 1, with one line, if the oldest pending object is older." placeholder:"2h"`
}

func (statusJob) Help() string { return "Example:\n  symlake status\n  symlake status --max-lag 2h" }

// statusJSON is what an operator asks first.
type statusJSON struct {
	Store     string         `json:"store"`
	Artifacts int            `json:"artifacts"`
	Loading   int            `json:"loading"`  // loads in progress, abandoned ones too until gc
	Obsolete  int            `json:"obsolete"` // loads that were replaced or never published: gc removes their rows
	Ranges    uint64         `json:"ranges"`
	Rows      uint64         `json:"rows"`
	Bytes     uint64         `json:"bytes"` // sealed rows of published loads
	Objects   map[string]int `json:"objects"`
	Backlog   int            `json:"backlog"`
	Conflicts int            `json:"conflicts"` // between owners of sources, not settled
	Untold    int            `json:"untold"`    // processes that ended without telling their report
	// Coverage is by bytes of code, over all published loads that know how many there are.
	Coverage wire.Coverage `json:"coverage"`
	// LagSeconds is the age of the oldest object that is listed and not done.
	LagSeconds float64        `json:"lag_seconds"`
	Rejects    map[string]int `json:"rejects"`
	Runs       []runJSON      `json:"runs"` // the last ten that touched an object, newest first
	// Tables are the Iceberg tables of the lake, if it has some.
	Tables []projection.Table `json:"tables,omitempty"`
}

type runJSON struct {
	Run     string         `json:"run"`
	Last    time.Time      `json:"last"`
	Objects map[string]int `json:"objects"`
}

// Check finds faults in the words before anything is opened.
func (j statusJob) Check(*session.Session) error {
	if j.MaxLag < 0 {
		return exit.Usage("--max-lag %v is below 0", j.MaxLag)
	}
	return nil
}

// Run prints lag, backlog, rejects by reason, last runs and sizes.
func (j statusJob) Run(p *workspace.Workspace) error {
	s, err := p.OpenRecords(true)
	if j.Skips(p.Session, err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer s.Close()
	taken, err := survey.Brief(p.Ctx, s.Catalog)
	if err != nil {
		return err
	}
	st := newStatus(p.StoreURL(), taken)
	st.Tables = tablesNow(p, s)
	if p.Flags.JSON {
		err = p.PrintJSON(st)
	} else if p.OutView.People {
		err = st.show(p)
	} else {
		err = st.print(p)
	}
	p.Reported = true
	err = errors.Join(err, st.tell(p), checkLog(p, s))
	if lag := time.Duration(st.LagSeconds * float64(time.Second)); err == nil && j.MaxLag > 0 && lag > j.MaxLag {
		err = fmt.Errorf("%d objects wait, the oldest since %s, longer than %s", st.Backlog, lag.Round(time.Second), j.MaxLag)
	}
	return err
}

// checkLog returns an error if the log of the lake was damaged or rolled back. Status needs no access to the lake: verify and ingest
// tell that it is out of reach.
func checkLog(p *workspace.Workspace, s *session.Records) error {
	lake, err := p.OpenLake(s, false)
	if err != nil {
		return nil
	}
	if _, err := lake.Noted(p.Ctx); errors.Is(err, sinks.ErrCorrupt) {
		return err
	}
	return nil
}

// lastRuns is how many runs status names.
const lastRuns = 10

// newStatus returns the status of a store by its survey.
func newStatus(store string, s *survey.Survey) statusJSON {
	st := statusJSON{Store: store, Artifacts: s.Artifacts, Loading: s.Loading, Obsolete: s.Obsolete, Ranges: s.Ranges, Rows: s.Rows, Bytes: s.Bytes,
		Objects: s.Objects, Backlog: s.Backlog, Conflicts: s.Conflicts, Untold: s.Untold, Coverage: wire.NewCoverage(s.Quality),
		LagSeconds: s.Lag(time.Now()).Seconds(), Rejects: s.Rejects, Runs: []runJSON{}}
	for _, r := range s.Runs {
		if len(r.Objects) > 0 && len(st.Runs) < lastRuns {
			st.Runs = append(st.Runs, runJSON{r.Run, r.Last, r.Objects})
		}
	}
	return st
}

// Failed tells in the metrics that the store's state is not known: the metrics of an earlier status would stand.
func (statusJob) Failed(s *session.Session, err error) error {
	p := workspace.New(s)
	if !p.Measured() {
		return err
	}
	m := workspace.NewMetrics("")
	statusSuccess(m, 0)
	return errors.Join(err, p.Tell("symlake_status", m))
}

func (st statusJSON) print(p *workspace.Workspace) error {
	fmt.Fprintf(p.Out, "store      %s\nartifacts  %d (%d loading, %d loads for gc)\nranges     %d in %d rows, %d bytes\ncoverage   %.1f %% of code has an answer, of that %.1f %% a line and %.1f %% inlined calls\nbacklog    %d objects, oldest %s\n",
		st.Store, st.Artifacts, st.Loading, st.Obsolete, st.Ranges, st.Rows, st.Bytes, 100*st.Coverage.Text, 100*st.Coverage.Line, 100*st.Coverage.Inline, st.Backlog, time.Duration(st.LagSeconds*float64(time.Second)).Round(time.Second))
	for _, state := range sortedKeys(st.Objects) {
		fmt.Fprintf(p.Out, "objects    %6d %s\n", st.Objects[state], state)
	}
	for _, why := range sortedKeys(st.Rejects) {
		fmt.Fprintf(p.Out, "rejected   %6d %s\n", st.Rejects[why], term.OneLine(why))
	}
	if st.Untold > 0 {
		fmt.Fprintf(p.Out, "untold     %6d reports: see symlake report --pending\n", st.Untold)
	}
	if st.Conflicts > 0 {
		fmt.Fprintf(p.Out, "conflicts  %6d open: see symlake objects --state conflict\n", st.Conflicts)
	}
	for _, t := range st.Tables {
		fmt.Fprintf(p.Out, "table      %s\n", tableText(t))
	}
	for _, r := range st.Runs {
		if _, err := fmt.Fprintf(p.Out, "run        %s %s %s\n", r.Last.UTC().Format(time.RFC3339), r.Run, counts(r.Objects)); err != nil {
			return err
		}
	}
	return nil
}

// show prints the status for a person: facts, then a table of each kind of thing.
func (st statusJSON) show(p *workspace.Workspace) error {
	v := p.OutView
	fact := func(name, text string) {
		text = strings.ReplaceAll(term.Wrap(text, v.Width()-11), "\n", "\n           ")
		fmt.Fprintf(p.Out, "%s %s\n", v.Paint(term.Bold, fmt.Sprintf("%-10s", name)), text)
	}
	fact("Store", term.Shorten(st.Store, max(20, v.Width()-11)))
	artifacts := term.Count(st.Artifacts)
	if st.Loading+st.Obsolete > 0 {
		artifacts += fmt.Sprintf(" (%d loading, %s for gc)", st.Loading, term.Counted(st.Obsolete, "load"))
	}
	fact("Artifacts", artifacts)
	fact("Holds", fmt.Sprintf("%s in %s, %s", term.Counted(st.Ranges, "range"), term.Counted(st.Rows, "row"), term.Size(st.Bytes)))
	if c := st.Coverage; c.Text > 0 {
		fact("Coverage", fmt.Sprintf("%s of code; of that %s with a line, %s inlined", term.Percent(c.Text), term.Percent(c.Line), term.Percent(c.Inline)))
	}
	if st.Backlog == 0 {
		fact("Backlog", v.Paint(term.Green, "none"))
	} else {
		fact("Backlog", v.Paint(term.Yellow, fmt.Sprintf("%s, the oldest since %s", term.Counted(st.Backlog, "object"), term.Rough(time.Duration(st.LagSeconds*float64(time.Second))))))
	}
	if st.Untold > 0 {
		fact("Untold", v.Paint(term.Yellow, term.Counted(st.Untold, "report"))+": see symlake report --pending")
	}
	if st.Conflicts > 0 {
		fact("Conflicts", v.Paint(term.Yellow, term.Count(st.Conflicts))+": see symlake objects --state conflict")
	}
	for _, t := range st.Tables {
		if t.Behind != "" {
			fact("Table", v.Paint(term.Yellow, tableText(t)))
		}
	}
	objects := p.Table(term.Column{Name: "OBJECTS", Right: true}, term.Column{Name: "STATE", Ink: term.States})
	for _, state := range sortedKeys(st.Objects) {
		objects.Row(term.Count(st.Objects[state]), state)
	}
	rejects := p.Table(term.Column{Name: "REJECTED", Right: true}, term.Column{Name: "REASON", Least: 20})
	for _, why := range sortedKeys(st.Rejects) {
		rejects.Row(term.Count(st.Rejects[why]), why)
	}
	runs := p.Table(term.Column{Name: "RUN", Least: 16, Whole: true, Ink: term.Loud}, term.Column{Name: "ENDED", Right: true}, term.Column{Name: "OBJECTS", Least: 16})
	for _, r := range st.Runs {
		runs.Row(r.Run, term.Age(r.Last, time.Now()), counts(r.Objects))
	}
	for _, t := range []*term.Table{objects, rejects, runs} {
		if t.Empty() {
			continue
		}
		fmt.Fprintln(p.Out)
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// counts returns numbers of objects with their states.
func counts(objects map[string]int) string {
	var list []string
	for _, state := range sortedKeys(objects) {
		list = append(list, fmt.Sprintf("%d %s", objects[state], state))
	}
	return strings.Join(list, ", ")
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// statusSuccess says whether the metrics beside it are of now.
func statusSuccess(m *workspace.Metrics, value float64) {
	m.One("symlake_status_success", "1 if the last status could read the store; 0: it tells nothing else.", value)
}

// tell tells how the store is.
func (st *statusJSON) tell(p *workspace.Workspace) error {
	if !p.Measured() {
		return nil
	}
	m := workspace.NewMetrics("")
	statusSuccess(m, 1)
	m.One("symlake_artifacts", "Artifacts with a published load.", float64(st.Artifacts))
	m.One("symlake_ranges", "Ranges of published loads.", float64(st.Ranges))
	m.One("symlake_rows", "Rows of published loads.", float64(st.Rows))
	m.One("symlake_stored_bytes", "Bytes of sealed rows of published loads.", float64(st.Bytes))
	m.One("symlake_loading", "Loads in progress, abandoned ones too until gc.", float64(st.Loading))
	m.One("symlake_obsolete_loads", "Loads that were replaced or never published, until gc removes their rows.", float64(st.Obsolete))
	m.Set("symlake_objects", "Objects of the ledger by state.", "state", workspace.Floats(st.Objects))
	m.Set("symlake_rejected_objects", "Quarantined objects by reason.", "reason", workspace.Floats(st.Rejects))
	m.One("symlake_conflicts", "Conflicts between owners of sources that nobody has settled.", float64(st.Conflicts))
	m.One("symlake_backlog_objects", "Objects that are listed and not done.", float64(st.Backlog))
	m.One("symlake_lag_seconds", "Age of the oldest object that is listed and not done.", st.LagSeconds)
	if len(st.Tables) > 0 {
		behind := map[string]float64{}
		for _, t := range st.Tables {
			behind[t.Table] = 0
			if t.Behind != "" {
				behind[t.Table] = 1
			}
		}
		m.Set("symlake_table_behind", "1 if an Iceberg table does not show what the lake names.", "table", behind)
	}
	m.Set("symlake_coverage_ratio", "Shares of code with an answer (text), and of that with a line and with inlined calls.", "what",
		map[string]float64{"text": st.Coverage.Text, "line": st.Coverage.Line, "inline": st.Coverage.Inline})
	return p.Tell("symlake_status", m)
}
