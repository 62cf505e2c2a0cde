package flame

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// scale is a unit with its multiples, each so many of the one before.
type scale struct {
	units []string
	by    []float64
}

var scales = map[string]scale{
	"nanoseconds":  {[]string{"ns", "µs", "ms", "s"}, []float64{1000, 1000, 1000}},
	"microseconds": {[]string{"µs", "ms", "s"}, []float64{1000, 1000}},
	"milliseconds": {[]string{"ms", "s"}, []float64{1000}},
	"seconds":      {[]string{"s"}, nil},
	"bytes":        {[]string{"B", "KiB", "MiB", "GiB", "TiB"}, []float64{1024, 1024, 1024, 1024}},
	"kilobytes":    {[]string{"KiB", "MiB", "GiB"}, []float64{1024, 1024}},
}

// value returns a value with its unit, for people: "1.52 s", "3,042 samples".
func value(v float64, unit, name string) string {
	s, known := scales[strings.ToLower(unit)]
	if !known {
		what := unit
		if unit == "" || unit == "count" {
			what = name
		}
		return strings.TrimSpace(thousands(v) + " " + what)
	}
	i := 0
	for i < len(s.by) && v >= s.by[i] {
		v /= s.by[i]
		i++
	}
	if i == 0 {
		return thousands(v) + " " + s.units[i]
	}
	digits := max(2-int(math.Log10(max(v, 1))), 0)
	return strconv.FormatFloat(v, 'f', digits, 64) + " " + s.units[i]
}

// thousands returns a whole number with commas.
func thousands(v float64) string {
	text := strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// share returns a part of a whole, for people: "12.3 %".
func share(part, whole float64) string {
	if whole == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.2f %%", 100*part/whole)
}
