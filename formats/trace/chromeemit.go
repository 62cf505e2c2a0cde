package trace

import "math"

// emitAll pushes the events, track by track.
func (c *chrome) emitAll() error {
	for _, t := range c.list {
		for _, o := range t.open {
			if err := c.sort.add(record{track: t.index, name: o.name, start: o.start, end: unclosed, seq: o.seq}); err != nil {
				return err
			}
		}
		t.open = nil
	}
	c.reader.last = c.last
	e := chromeEmitter{chrome: c}
	if err := c.sort.each(e.record); err != nil {
		return err
	}
	return e.close(math.MaxInt64)
}

// chromeEmitter makes nested events of sorted records.
type chromeEmitter struct {
	*chrome
	at     *chromeTrack
	thread *thread
	count  *Track
	ends   []int64 // of the thread's open calls
}

func (e *chromeEmitter) record(rec record) error {
	if err := e.alive(); err != nil {
		return err
	}
	if t := e.list[rec.track]; t != e.at {
		if err := e.close(math.MaxInt64); err != nil {
			return err
		}
		if err := e.begin(t); err != nil {
			return err
		}
	}
	if e.count != nil {
		e.event = Event{Kind: Count, Track: e.count, Time: rec.start, Value: math.Float64frombits(uint64(rec.end))}
		return e.emit(&e.event)
	}
	if err := e.close(rec.start); err != nil {
		return err
	}
	if rec.end == instant {
		e.event = Event{Kind: Instant, Track: e.thread.track, Time: e.moment(e.thread, rec.start), Name: e.names.of(rec.name), ID: rec.name}
		return e.emit(&e.event)
	}
	if top := len(e.ends) - 1; top >= 0 && rec.end > e.ends[top] {
		if rec.end != unclosed {
			e.report.Clipped++
		}
		rec.end = e.ends[top]
	}
	if len(e.ends) >= MaxDepth {
		e.report.TooDeep++
		return nil
	}
	e.ends = append(e.ends, rec.end)
	return e.reader.begin(e.thread, rec.start, rec.name, 0)
}

// begin goes to the next track.
func (e *chromeEmitter) begin(t *chromeTrack) (err error) {
	e.at, e.thread, e.count = t, nil, nil
	process := e.titles[chromeID{pid: t.pid}]
	if process == "" {
		process = e.o.Name
	}
	if t.counts {
		e.count, err = e.newTrack(Track{Kind: Counter, Name: t.counter, PID: t.pid, Process: process})
		return err
	}
	e.thread, err = e.reader.thread(int64(t.index), Track{PID: t.pid, TID: t.tid, Name: e.chrome.threads[t.chromeID], Process: process})
	return err
}

// close ends the calls that end at a time or before it.
func (e *chromeEmitter) close(at int64) error {
	for top := len(e.ends) - 1; top >= 0 && e.ends[top] <= at; top-- {
		end := e.ends[top]
		e.ends = e.ends[:top]
		open := end == unclosed
		if open {
			end = e.last
			e.report.Unclosed++
		}
		if err := e.pop(e.thread, e.moment(e.thread, end), open); err != nil {
			return err
		}
	}
	return nil
}
