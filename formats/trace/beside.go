package trace

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
)

// The columns of a .timer file behind its time, shown as Nanoscope's viewer does.
var timerColumns = [...]struct {
	name  string
	unit  Unit
	since bool // shown from the first sample on
}{
	{"CPU time", Nanoseconds, true},
	{"major page faults", Things, true},
	{"minor page faults", Things, true},
	{"context switches", Things, true},
	{"allocated bytes", Bytes, false},
	{"allocated objects", Things, false},
	{"thread allocated bytes", Bytes, false},
	{"thread freed bytes", Bytes, false},
}

// timer reads the counters beside a Nanoscope trace.
func (r *reader) timer(t *thread) error {
	var tracks [len(timerColumns)]*Track
	var first [len(timerColumns)]int64
	last := int64(0)
	return r.rows(".timer", 1+len(timerColumns), func(row []int64) (err error) {
		if row[0] < last {
			r.report.Backward++
		}
		last = max(last, row[0])
		for i, c := range timerColumns {
			value := row[1+i]
			if tracks[i] == nil {
				tracks[i], err = r.newTrack(Track{Kind: Counter, Parent: t.track, Name: c.name, PID: t.track.PID, Unit: c.unit})
				if err != nil {
					return err
				}
				if c.since {
					first[i] = value
				}
			}
			r.event = Event{Kind: Count, Track: tracks[i], Time: last, Value: float64(value - first[i])}
			if err := r.emit(&r.event); err != nil {
				return err
			}
		}
		return nil
	})
}

// stateFile reads the thread's states beside a Nanoscope trace: time, state before, state after.
func (r *reader) stateFile(t *thread) error {
	s := &states{r: r, thread: t, names: states7[:]}
	return r.rows(".state", 3, func(row []int64) error {
		if s.track == nil && row[0] > 0 {
			if err := s.enter(0, uint64(row[1])); err != nil {
				return err
			}
		}
		return s.enter(row[0], uint64(row[2]))
	})
}

// rows reads lines of numbers parted by commas, which must be at least columns many, of the file beside the
// trace with a suffix. Numbers are not negative.
func (r *reader) rows(suffix string, columns int, each func(row []int64) error) error {
	if r.o.Beside == nil {
		return nil
	}
	f, err := r.o.Beside(suffix, false)
	if f == nil || err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 64<<10)
	row := make([]int64, columns)
	for at := int64(0); ; {
		line, err := in.ReadSlice('\n')
		long := false
		from := at
		at += int64(len(line))
		for errors.Is(err, bufio.ErrBufferFull) {
			long = true
			line, err = in.ReadSlice('\n')
			at += int64(len(line))
		}
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 || long {
			if long || !numbers(line, row) {
				r.bad(suffix, from, strconv.Itoa(columns)+" numbers parted by commas")
			} else if err := each(row); err != nil {
				return err
			}
		}
		if end {
			return nil
		}
		if err := r.alive(); err != nil {
			return err
		}
	}
}

func numbers(line []byte, row []int64) bool {
	for i := range row {
		field, rest, more := bytes.Cut(line, []byte{','})
		n, err := strconv.ParseInt(string(bytes.TrimSpace(field)), 10, 64)
		if err != nil || n < 0 || !more && i < len(row)-1 {
			return false
		}
		row[i], line = n, rest
	}
	return true
}
