package trace

import (
	"bytes"
	"math"
	"strconv"

	"github.com/symlake/symlake/formats/internal/json"
)

// chromeEvent is an event; its parts lie in the text.
type chromeEvent struct {
	name     []byte
	phase    byte
	ts, dur  []byte
	pid, tid []byte
	args     []byte
}

// set takes over a field as it is written, its key without quotes.
func (e *chromeEvent) set(key, value []byte) {
	switch string(key) {
	case "name":
		e.name = json.Bytes(value)
	case "ph":
		if len(value) == 3 {
			e.phase = value[1]
		}
	case "ts":
		e.ts = value
	case "dur":
		e.dur = value
	case "pid":
		e.pid = value
	case "tid":
		e.tid = value
	case "args":
		e.args = value
	}
}

// read takes the object apart; false: it is no event.
func (e *chromeEvent) read(v []byte) bool {
	fine := json.EachField(v, func(key, value []byte) { e.set(key[1:len(key)-1], value) })
	return fine && e.phase != 0
}

// plain reads an event that b begins with, as tracers write them: in one pass, and no further than the input at hand.
// 0: it is not whole, or anything about it is unusual, and read has to look at it.
func (e *chromeEvent) plain(b []byte) (n int) {
	*e = chromeEvent{}
	for i := 1; ; i++ { // behind a brace or comma
		i = json.SkipBlank(b, i)
		if i >= len(b) || b[i] != '"' {
			return 0
		}
		key := i + 1
		for i = key; i < len(b) && b[i] != '"' && b[i] != '\\'; i++ {
		}
		if i >= len(b) || b[i] != '"' {
			return 0
		}
		of := b[key:i]
		if i = json.SkipBlank(b, i+1); i >= len(b) || b[i] != ':' {
			return 0
		}
		from := json.SkipBlank(b, i+1)
		if i = json.PlainValue(b, from); i == 0 {
			return 0
		}
		e.set(of, b[from:i])
		if i = json.SkipBlank(b, i); i >= len(b) || b[i] != ',' && b[i] != '}' {
			return 0
		}
		if b[i] == '}' {
			if e.phase == 0 {
				return 0
			}
			return i + 1
		}
	}
}

// title is args.name.
func (e *chromeEvent) title() (name string) {
	json.EachField(e.args, func(key, value []byte) {
		if string(key) == `"name"` {
			name = json.String(value)
		}
	})
	return name
}

// values shows the numbers among the args.
func (e *chromeEvent) values(show func(series string, value float64)) {
	json.EachField(e.args, func(key, value []byte) {
		if f, err := strconv.ParseFloat(string(bytes.Trim(value, `"`)), 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			show(json.String(key), f)
		}
	})
}

// integer reads a whole number.
func integer(v []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(v), 10, 64)
	return n, err == nil
}

// micros reads a number of microseconds as nanoseconds, and cuts off the rest.
func micros(v []byte) (int64, bool) {
	if len(v) > 0 && v[0] == '"' {
		v = bytes.Trim(v, `"`)
	}
	var n int64
	i, negative := 0, false
	if len(v) > 0 && v[0] == '-' {
		negative, i = true, 1
	}
	from := i
	for ; i < len(v) && v[i]-'0' <= 9; i++ {
		if n > math.MaxInt64/10_000-1 {
			return 0, false
		}
		n = n*10 + int64(v[i]-'0')
	}
	if i == from {
		return 0, false
	}
	n *= 1000
	if i < len(v) && v[i] == '.' {
		i++
		for scale := int64(100); i < len(v) && v[i]-'0' <= 9; i++ {
			n += int64(v[i]-'0') * scale
			scale /= 10
		}
	}
	if i < len(v) { // with an exponent
		f, err := strconv.ParseFloat(string(v), 64)
		if err != nil || math.Abs(f) > math.MaxInt64/2000 {
			return 0, false
		}
		return int64(math.Round(f * 1000)), true
	}
	if negative {
		n = -n
	}
	return n, true
}
