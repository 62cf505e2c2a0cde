package relay

import (
	"net/http"
	"time"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/jobs/internal/metrics"
)

// Metrics count messages, samples and places. Each message and each sample has one outcome.
type Metrics struct {
	messages, bytes *metrics.Counter // protocol, outcome
	samples         *metrics.Counter // outcome
	places          *metrics.Counter // status
	kept            *metrics.Counter
	seconds         *metrics.Histogram // outcome
}

// NewMetrics adds the metrics to a registry.
func NewMetrics(r *metrics.Registry, times []float64) *Metrics {
	return &Metrics{
		messages: r.Counter("symlake_relay_messages_total", "Messages of OpenTelemetry profiles that came, by what became of them.", "protocol", "outcome"),
		bytes:    r.Counter("symlake_relay_bytes_total", "Bytes of these messages, inflated.", "protocol", "outcome"),
		samples:  r.Counter("symlake_relay_samples_total", "Samples in these messages.", "outcome"),
		places:   r.Counter("symlake_relay_places_total", "Places of profiles that were asked for.", "status"),
		kept:     r.Counter("symlake_relay_kept_total", "Parts of profiles that could not be read, and went on as they came."),
		seconds:  r.Histogram("symlake_relay_seconds", "Time to answer a message and to send it on.", times, "outcome"),
	}
}

// The outcomes of a message.
const (
	forwarded = "forwarded" // the next receiver has it
	rejected  = "rejected"  // it is at fault: sending it again does not help
	retried   = "retry"     // its exporter was told to send it again
)

// outcome returns what became of a message.
func (p *Reply) outcome() string {
	switch p.Code {
	case http.StatusOK:
		return forwarded
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return retried
	}
	return rejected
}

// message counts a message. A nil Metrics counts nothing.
func (m *Metrics) message(protocol, outcome string, c *profile.Counts, bytes int, took time.Duration) {
	if m == nil {
		return
	}
	m.messages.Add(1, protocol, outcome)
	m.bytes.Add(bytes, protocol, outcome)
	m.seconds.Observe(took.Seconds(), outcome)
	if c == nil {
		return
	}
	m.samples.Add(int(c.Samples), outcome)
	m.places.Add(int(c.Answered), "found")
	m.places.Add(int(c.Named), "named")
	for i := range c.Unanswered {
		m.places.Add(int(c.Unanswered[i].Places), string(c.Unanswered[i].Status))
	}
	for i := range c.Kept {
		m.kept.Add(int(c.Kept[i].Parts))
	}
}
