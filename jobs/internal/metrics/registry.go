// Package metrics counts and measures, and writes the results in the text format of Prometheus, version 0.0.4: for a
// scraper, into a file of node_exporter's textfile collector, to a Pushgateway. Counters and histograms are safe for
// concurrent use.
package metrics

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
)

// maxLabels is the most labels that a counter or histogram has.
const maxLabels = 2

// values are the values of a family's labels, in the order of its labels.
type values [maxLabels]string

// Registry is the list of metrics that are shown together.
type Registry struct {
	mu      sync.Mutex
	sources []func() []Family
}

// Add has the registry show what a function returns at the time.
func (r *Registry) Add(source func() []Family) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sources = append(r.sources, source)
}

// Families returns all metrics of this moment in the order of their names, without families that are empty.
func (r *Registry) Families() []Family {
	r.mu.Lock()
	sources := slices.Clone(r.sources)
	r.mu.Unlock()
	var all []Family
	for _, source := range sources {
		all = append(all, source()...)
	}
	all = slices.DeleteFunc(all, func(f Family) bool { return len(f.Samples) == 0 })
	slices.SortFunc(all, func(a, b Family) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// vector is a metric for each combination of values that its labels had.
type vector[T any] struct {
	family Family // without samples
	labels []string
	make   func() *T

	mu sync.RWMutex
	of map[values]*T
}

func newVector[T any](f Family, labels []string, make func() *T) vector[T] {
	if len(labels) > maxLabels {
		panic("metrics: " + f.Name + " has too many labels")
	}
	return vector[T]{family: f, labels: labels, make: make, of: map[values]*T{}}
}

// at returns the metric of these values of the labels. The first call for them makes it.
func (v *vector[T]) at(of []string) *T {
	var key values
	if copy(key[:], of) != len(v.labels) || len(of) != len(v.labels) {
		panic("metrics: " + v.family.Name + " has other labels")
	}
	v.mu.RLock()
	m := v.of[key]
	v.mu.RUnlock()
	if m != nil {
		return m
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if m = v.of[key]; m == nil {
		m = v.make()
		v.of[key] = m
	}
	return m
}

// show returns the family with the samples of each metric, in the order of labels and values.
func (v *vector[T]) show(samples func(m *T, labels []Label) []Sample) []Family {
	type one struct {
		labels []Label
		metric *T
	}
	v.mu.RLock()
	all := make([]one, 0, len(v.of))
	for key, m := range v.of {
		labels := make([]Label, len(v.labels))
		for i, name := range v.labels {
			labels[i] = Label{name, key[i]}
		}
		slices.SortFunc(labels, func(a, b Label) int { return cmp.Compare(a.Name, b.Name) })
		all = append(all, one{labels, m})
	}
	v.mu.RUnlock()
	slices.SortFunc(all, func(a, b one) int { return compareLabels(a.labels, b.labels) })
	f := v.family
	for _, o := range all {
		f.Samples = append(f.Samples, samples(o.metric, o.labels)...)
	}
	return []Family{f}
}

// Counter counts by the values of its labels.
type Counter struct{ vector[atomic.Int64] }

// Counter adds a counter to the registry.
func (r *Registry) Counter(name, help string, labels ...string) *Counter {
	c := &Counter{newVector(Family{Name: name, Help: help, Kind: "counter"}, labels, func() *atomic.Int64 { return new(atomic.Int64) })}
	r.Add(func() []Family {
		return c.show(func(m *atomic.Int64, labels []Label) []Sample {
			return []Sample{{Labels: labels, Value: float64(m.Load())}}
		})
	})
	return c
}

// Add adds n, which may be zero, to the count of these values of the labels.
func (c *Counter) Add(n int, of ...string) { c.at(of).Add(int64(n)) }

// Histogram counts observations up to each of its bounds, by the values of its labels.
type Histogram struct {
	vector[observed]
	bounds []float64
}

type observed struct {
	mu     sync.Mutex
	counts []uint64 // by bound, each without the ones before; the last is above all bounds
	sum    float64
}

// Histogram adds a histogram to the registry. The bounds ascend.
func (r *Registry) Histogram(name, help string, bounds []float64, labels ...string) *Histogram {
	h := &Histogram{bounds: bounds}
	h.vector = newVector(Family{Name: name, Help: help, Kind: "histogram"}, labels,
		func() *observed { return &observed{counts: make([]uint64, len(bounds)+1)} })
	r.Add(func() []Family { return h.show(h.samples) })
	return h
}

// Observe counts v among the observations of these values of the labels.
func (h *Histogram) Observe(v float64, of ...string) {
	o := h.at(of)
	i, _ := slices.BinarySearch(h.bounds, v)
	o.mu.Lock()
	o.counts[i]++
	o.sum += v
	o.mu.Unlock()
}

func (h *Histogram) samples(o *observed, labels []Label) []Sample {
	o.mu.Lock()
	counts, sum := slices.Clone(o.counts), o.sum
	o.mu.Unlock()
	var list []Sample
	total := uint64(0)
	for i, n := range counts {
		total += n
		bound := "+Inf"
		if i < len(h.bounds) {
			bound = number(h.bounds[i])
		}
		list = append(list, Sample{"_bucket", append(slices.Clip(labels), Label{"le", bound}), float64(total)})
	}
	return append(list, Sample{"_sum", labels, sum}, Sample{"_count", labels, float64(total)})
}
