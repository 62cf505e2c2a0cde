package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/symlake/symlake/jobs/internal/metrics"
)

// pushTime bounds how long a job waits for the Pushgateway: the job's own work is done by then.
const pushTime = 10 * time.Second

// Metrics is what one job has to tell: gauges, since a job is over when they are read.
type Metrics struct {
	shard    string // "": of all shards
	families metrics.Registry
}

// NewMetrics returns empty metrics of a shard; "": of a job without shards.
func NewMetrics(shard string) *Metrics { return &Metrics{shard: shard} }

// Set adds a gauge, by one label if its name is not empty.
func (m *Metrics) Set(name, help, label string, values map[string]float64) {
	var common []metrics.Label
	if m.shard != "" {
		common = []metrics.Label{{Name: "shard", Value: m.shard}}
	}
	f := metrics.Gauge(name, help, label, values, common...)
	m.families.Add(func() []metrics.Family { return []metrics.Family{f} })
}

// One sets a metric without labels of its own.
func (m *Metrics) One(name, help string, value float64) {
	m.Set(name, help, "", map[string]float64{"": value})
}

// Floats makes gauges of counts.
func Floats[K ~string, V int | int64 | uint64 | float64](counts map[K]V) map[string]float64 {
	out := make(map[string]float64, len(counts))
	for k, v := range counts {
		out[string(k)] = float64(v)
	}
	return out
}

// Tell writes metrics where the configuration says: into a folder that node_exporter's textfile
// collector reads, to a Pushgateway. A file that cannot be written is an error: an old one would
// pass for news. A Pushgateway that does not answer is logged as one, and fails no job.
func (p *Workspace) Tell(job string, m *Metrics) (err error) {
	if dir := p.Flags.Metrics; dir != "" {
		name := job
		if m.shard != "" {
			name += "_" + strings.ReplaceAll(m.shard, "/", "_of_")
		}
		if werr := m.write(filepath.Join(dir, name+".prom")); werr != nil {
			err = fmt.Errorf("metrics were not written: %w: the folder of --metrics must be writable", werr)
		}
	}
	if url := p.Flags.Pushgateway; url != "" {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(p.Ctx), pushTime)
		defer cancel()
		// A shard has its own group, or the last one would hide the others.
		if err := metrics.Push(ctx, url, job, m.shard, m.families.Families()); err != nil {
			p.Log.Error("metrics were not pushed", "error", err.Error())
		}
	}
	return err
}

// write replaces a file, and makes its folder.
func (m *Metrics) write(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return metrics.WriteFile(path, m.families.Families())
}

// Measured reports whether anybody is to hear metrics.
func (p *Workspace) Measured() bool { return p.Flags.Metrics != "" || p.Flags.Pushgateway != "" }
