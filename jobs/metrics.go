package jobs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/push"

	"github.com/symlake/symlake/ingest/report"
)

// pushTime bounds how long a job waits for the Pushgateway: the job's own work is done by then.
const pushTime = 10 * time.Second

// metricSet is what one job has to tell: gauges, since a job is over when they are read.
type metricSet struct {
	*prometheus.Registry
	labels prometheus.Labels // of all of them
}

func newMetrics(labels prometheus.Labels) *metricSet {
	return &metricSet{prometheus.NewRegistry(), labels}
}

// set adds a gauge, by one label if its name is not empty.
func (m *metricSet) set(name, help, label string, values map[string]float64) {
	var names []string
	if label != "" {
		names = []string{label}
	}
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: m.labels}, names)
	m.MustRegister(g)
	for k, v := range values {
		if label == "" {
			g.WithLabelValues().Set(v)
		} else {
			g.WithLabelValues(k).Set(v)
		}
	}
}

func (m *metricSet) one(name, help string, value float64) {
	m.set(name, help, "", map[string]float64{"": value})
}

// floats makes gauges of counts.
func floats[K ~string, V int | int64 | uint64 | float64](counts map[K]V) map[string]float64 {
	out := make(map[string]float64, len(counts))
	for k, v := range counts {
		out[string(k)] = float64(v)
	}
	return out
}

// tell writes metrics where the configuration says: into a folder that node_exporter's textfile
// collector reads, to a Pushgateway. A file that cannot be written is an error: an old one would
// pass for news. A Pushgateway that does not answer is logged as one, and fails no job.
func (p *process) tell(job string, m *metricSet) (err error) {
	if dir := p.flags.Metrics; dir != "" {
		name := job
		if shard := m.labels["shard"]; shard != "" {
			name += "_" + strings.ReplaceAll(shard, "/", "_of_")
		}
		if werr := m.write(filepath.Join(dir, name+".prom")); werr != nil {
			err = fmt.Errorf("metrics were not written: %w: the folder of --metrics must be writable", werr)
		}
	}
	if url := p.flags.Pushgateway; url != "" {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), pushTime)
		defer cancel()
		pusher := push.New(url, job).Gatherer(m)
		if shard := m.labels["shard"]; shard != "" { // its own group, or the last shard would hide the others
			pusher = pusher.Grouping("part", shard)
		}
		if err := pusher.PushContext(ctx); err != nil {
			p.log.Error("metrics were not pushed", "error", err.Error())
		}
	}
	return err
}

// write replaces a file, readable for all: the collector is another user.
func (m *metricSet) write(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return prometheus.WriteToTextfile(path, m)
}

// measured reports whether anybody is to hear metrics.
func (p *process) measured() bool { return p.flags.Metrics != "" || p.flags.Pushgateway != "" }

// tellRun tells what a run of ingest did.
func (p *process) tellRun(r *report.Report, err error) error {
	if !p.measured() {
		return nil
	}
	labels := prometheus.Labels{}
	if r.Shard != "" {
		labels["shard"] = r.Shard
	}
	m := newMetrics(labels)
	o := r.Objects
	outcomes := map[string]int{"seen": o.Seen, "new": o.New, "pending": o.Pending, "loaded": o.Loaded, "kept": o.Kept, "conflict": o.Conflict, "rejected": o.Rejected, "failed": o.Failed, "gone": o.Gone}
	for _, n := range o.Skipped {
		outcomes["skipped"] += n
	}
	m.set("symlake_run_objects", "Objects of the last ingest by what became of them.", "outcome", floats(outcomes))
	m.set("symlake_run_bytes", "Bytes of the last ingest: objects read, rows stored, files of the lake.", "kind",
		map[string]float64{"read": float64(r.Bytes.Read), "stored": float64(r.Bytes.Stored), "lake": float64(r.Bytes.Lake)})
	m.one("symlake_run_artifacts", "Artifacts published by the last ingest.", float64(r.Artifacts))
	m.one("symlake_run_ranges", "Ranges published by the last ingest.", float64(r.Ranges))
	m.one("symlake_run_classes", "Classes of mappings published by the last ingest.", float64(r.Classes))
	rejects := map[string]int{}
	for _, x := range r.Rejected {
		rejects[reasonKind(x.Error)]++
	}
	m.set("symlake_run_rejected", "Objects and members that the last ingest newly rejected, by reason.", "reason", floats(rejects))
	m.one("symlake_run_conflicts", "Artifacts that the last ingest kept out, because another owner holds them.", float64(r.Conflicted))
	m.set("symlake_run_stage_seconds", "Seconds that the workers of the last ingest spent, by stage.", "stage", r.Stages)
	m.one("symlake_run_seconds", "Seconds that the last ingest took.", r.Seconds)
	m.one("symlake_run_ended_timestamp_seconds", "When the last ingest ended.", float64(time.Now().UnixMilli())/1000)
	success := 1.0
	if err != nil || o.Failed > 0 {
		success = 0
	}
	m.one("symlake_run_success", "1 if the last ingest did its work; rejected objects are no failure.", success)
	return p.tell("symlake_ingest", m)
}

// statusSuccess says whether the metrics beside it are of now.
func statusSuccess(m *metricSet, value float64) {
	m.one("symlake_status_success", "1 if the last status could read the store; 0: it tells nothing else.", value)
}

// tell tells how the store is.
func (st *statusJSON) tell(p *process) error {
	if !p.measured() {
		return nil
	}
	m := newMetrics(prometheus.Labels{})
	statusSuccess(m, 1)
	m.one("symlake_artifacts", "Artifacts with a published load.", float64(st.Artifacts))
	m.one("symlake_ranges", "Ranges of published loads.", float64(st.Ranges))
	m.one("symlake_rows", "Rows of published loads.", float64(st.Rows))
	m.one("symlake_stored_bytes", "Bytes of sealed rows of published loads.", float64(st.Bytes))
	m.one("symlake_loading", "Loads in progress, abandoned ones too until gc.", float64(st.Loading))
	m.one("symlake_obsolete_loads", "Loads that were replaced or never published, until gc removes their rows.", float64(st.Obsolete))
	m.set("symlake_objects", "Objects of the ledger by state.", "state", floats(st.Objects))
	m.set("symlake_rejected_objects", "Quarantined objects by reason.", "reason", floats(st.Rejects))
	m.one("symlake_conflicts", "Conflicts between owners of sources that nobody has settled.", float64(st.Conflicts))
	m.one("symlake_backlog_objects", "Objects that are listed and not done.", float64(st.Backlog))
	m.one("symlake_lag_seconds", "Age of the oldest object that is listed and not done.", st.LagSeconds)
	m.set("symlake_coverage_ratio", "Shares of code with an answer (text), and of that with a line and with inlined calls.", "what",
		map[string]float64{"text": st.Coverage.Text, "line": st.Coverage.Line, "inline": st.Coverage.Inline})
	return p.tell("symlake_status", m)
}

var (
	parserError = regexp.MustCompile(`^([a-z0-9]+): \S+\+0x[0-9a-f]+: ([^:]+)`)
	anyNumber   = regexp.MustCompile(`(0x)?[0-9][0-9a-fA-F]*`)
)

// reasonKind is what a reason has in common with others of its kind: "elf: corrupt input" of an error of a parser, else
// what stands before a colon, without numbers. So counts by reason stay few.
func reasonKind(reason string) string {
	if m := parserError.FindStringSubmatch(reason); m != nil {
		return m[1] + ": " + m[2]
	}
	parts := strings.SplitN(reason, ": ", 3)
	if len(parts) > 2 {
		parts = parts[:2]
	}
	return anyNumber.ReplaceAllString(strings.Join(parts, ": "), "N")
}
