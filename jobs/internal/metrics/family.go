package metrics

import (
	"bufio"
	"cmp"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ContentType is the type of the text that Write writes.
const ContentType = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"

// Family is all samples of one name.
type Family struct {
	Name, Help string
	Kind       string // counter, gauge, histogram or summary
	Samples    []Sample
}

// Sample is a number with its labels. Suffix is the part of its name behind the family's.
type Sample struct {
	Suffix string
	Labels []Label
	Value  float64
}

// Label is a label and its value.
type Label struct{ Name, Value string }

func compareLabels(a, b []Label) int {
	return slices.CompareFunc(a, b, func(a, b Label) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value))
	})
}

// Gauge returns a family of gauges: one for each key of by, which is the value of the label. An empty label is left out.
// All gauges have the labels of common.
func Gauge(name, help, label string, by map[string]float64, common ...Label) Family {
	f := Family{Name: name, Help: help, Kind: "gauge"}
	for value, n := range by {
		labels := slices.Clone(common)
		if label != "" {
			labels = append(labels, Label{label, value})
		}
		slices.SortFunc(labels, func(a, b Label) int { return cmp.Compare(a.Name, b.Name) })
		f.Samples = append(f.Samples, Sample{Labels: labels, Value: n})
	}
	slices.SortFunc(f.Samples, func(a, b Sample) int { return compareLabels(a.Labels, b.Labels) })
	return f
}

var (
	helpText   = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelValue = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// Write writes families as text.
func Write(w io.Writer, all []Family) error {
	b := bufio.NewWriter(w) // keeps its first error for Flush
	for _, f := range all {
		b.WriteString("# HELP " + f.Name + " " + helpText.Replace(f.Help) + "\n# TYPE " + f.Name + " " + f.Kind + "\n")
		for _, s := range f.Samples {
			b.WriteString(f.Name + s.Suffix)
			for i, l := range s.Labels {
				sign := byte('{')
				if i > 0 {
					sign = ','
				}
				b.WriteByte(sign)
				b.WriteString(l.Name + `="` + labelValue.Replace(strings.ToValidUTF8(l.Value, "\uFFFD")) + `"`)
			}
			if len(s.Labels) > 0 {
				b.WriteByte('}')
			}
			b.WriteString(" " + number(s.Value) + "\n")
		}
	}
	return b.Flush()
}

// number is a value as Prometheus writes it.
func number(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// WriteFile replaces a file by the text of families, in one step, readable for all: the collector is another user.
func WriteFile(path string, all []Family) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp") // another end than .prom: collectors pass it over
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone once renamed
	if err = Write(f, all); err == nil {
		err = f.Chmod(0o644)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
