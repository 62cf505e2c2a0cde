package serve

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/lookup"
)

// Metrics count requests, frames and reads. No label has a name in it.
type Metrics struct {
	registry *prometheus.Registry
	handler  http.Handler

	requests *prometheus.CounterVec   // path, code
	seconds  *prometheus.HistogramVec // path
	frames   *prometheus.CounterVec   // kind, status
	blocks   *prometheus.CounterVec   // found: yes, no
	reads    *prometheus.CounterVec   // from, outcome
	rows     *prometheus.CounterVec   // from, outcome
	took     *prometheus.HistogramVec // from
}

// NewMetrics makes a registry of their own.
func NewMetrics() *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "symlake", Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "symlake", Name: name, Help: help,
			Buckets: prometheus.ExponentialBuckets(0.00025, 2, 17)}, labels) // 0.25 ms to 16 s
	}
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: counter("http_requests_total", "Requests answered.", "path", "code"),
		seconds:  histogram("http_request_seconds", "Time to answer a request.", "path"),
		frames:   counter("frames_total", "Frames answered.", "kind", "status"),
		blocks:   counter("blocks_total", "Blocks wanted, and whether they were decoded already.", "cached"),
		reads:    counter("reads_total", "Round trips past the caches of this process.", "from", "outcome"),
		rows:     counter("rows_total", "Rows asked for in them.", "from", "outcome"),
		took:     histogram("read_seconds", "Time of a round trip.", "from"),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.frames, m.blocks, m.reads, m.rows, m.took,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.handler = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
	return m
}

// Observer returns the observer for the client that answers.
func (m *Metrics) Observer() lookup.Observer {
	return lookup.Observer{
		Answered: func(kind symbol.Kind, status symbol.Status, n int) {
			if kind == "" {
				kind = "unknown"
			}
			m.frames.WithLabelValues(string(kind), string(status)).Add(float64(n))
		},
		Cached: func(rows, hits int) {
			m.blocks.WithLabelValues("yes").Add(float64(hits))
			m.blocks.WithLabelValues("no").Add(float64(rows - hits))
		},
		Read: func(r lookup.Read) {
			outcome := "ok"
			if r.Err != nil {
				outcome = "failed"
			}
			from := string(r.From)
			m.reads.WithLabelValues(from, outcome).Inc()
			m.took.WithLabelValues(from).Observe(r.Took.Seconds())
			m.rows.WithLabelValues(from, "given").Add(float64(r.Hits - r.Bad))
			m.rows.WithLabelValues(from, "bad").Add(float64(r.Bad))
			m.rows.WithLabelValues(from, "absent").Add(float64(r.Rows - r.Hits))
		},
	}
}

func (m *Metrics) request(path string, code int, took time.Duration) {
	m.requests.WithLabelValues(path, strconv.Itoa(code)).Inc()
	m.seconds.WithLabelValues(path).Observe(took.Seconds())
}
