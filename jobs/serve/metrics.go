package serve

import (
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/internal/metrics"
	"github.com/symlake/symlake/jobs/serve/relay"
	"github.com/symlake/symlake/sinks/lookup"
)

// Metrics count requests, frames and reads. No label has a name in it.
type Metrics struct {
	registry metrics.Registry

	requests *metrics.Counter   // path, code
	seconds  *metrics.Histogram // path
	frames   *metrics.Counter   // kind, status
	blocks   *metrics.Counter   // found: yes, no
	reads    *metrics.Counter   // from, outcome
	rows     *metrics.Counter   // from, outcome
	took     *metrics.Histogram // from

	Relay *relay.Metrics // to be given the relay, if there is any
}

// NewMetrics makes a registry of their own.
func NewMetrics() *Metrics {
	times := make([]float64, 17) // 0.25 ms to 16 s
	for i := range times {
		times[i] = 0.00025 * float64(int(1)<<i)
	}
	m := new(Metrics)
	r := &m.registry
	m.requests = r.Counter("symlake_http_requests_total", "Requests answered.", "path", "code")
	m.seconds = r.Histogram("symlake_http_request_seconds", "Time to answer a request.", times, "path")
	m.frames = r.Counter("symlake_frames_total", "Frames answered.", "kind", "status")
	m.blocks = r.Counter("symlake_blocks_total", "Blocks wanted, and whether they were decoded already.", "cached")
	m.reads = r.Counter("symlake_reads_total", "Round trips past the caches of this process.", "from", "outcome")
	m.rows = r.Counter("symlake_rows_total", "Rows asked for in them.", "from", "outcome")
	m.took = r.Histogram("symlake_read_seconds", "Time of a round trip.", times, "from")
	m.Relay = relay.NewMetrics(r, times)
	r.Add(metrics.Go)
	r.Add(metrics.Process)
	return m
}

// Observer returns the observer for the client that answers.
func (m *Metrics) Observer() lookup.Observer {
	return lookup.Observer{
		Answered: func(kind symbol.Kind, status symbol.Status, n int) {
			if kind == "" {
				kind = "unknown"
			}
			m.frames.Add(n, string(kind), string(status))
		},
		Cached: func(rows, hits int) {
			m.blocks.Add(hits, "yes")
			m.blocks.Add(rows-hits, "no")
		},
		Read: func(r lookup.Read) {
			outcome := "ok"
			if r.Err != nil {
				outcome = "failed"
			}
			from := string(r.From)
			m.reads.Add(1, from, outcome)
			m.took.Observe(r.Took.Seconds(), from)
			m.rows.Add(r.Hits-r.Bad, from, "given")
			m.rows.Add(r.Bad, from, "bad")
			m.rows.Add(r.Rows-r.Hits, from, "absent")
		},
	}
}

func (m *Metrics) request(path string, code int, took time.Duration) {
	m.requests.Add(1, path, strconv.Itoa(code))
	m.seconds.Observe(took.Seconds(), path)
}

// ServeHTTP writes all metrics, compressed for a scraper that takes gzip.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", metrics.ContentType)
	h.Add("Vary", "Accept-Encoding")
	var to io.Writer = w
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		packed := gzip.NewWriter(w)
		defer packed.Close() // fails as the caller's connection does
		to = packed
	}
	_ = metrics.Write(to, m.registry.Families()) // a caller that has gone is told nothing
}
