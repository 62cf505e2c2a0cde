package gecko

import "context"

// visitor takes the parts of a profile. Each method reads or skips the value at hand.
type visitor interface {
	meta(s *stream, p *process) error
	libs(s *stream, p *process, t *tables) error
	strings(s *stream, t *tables) error
	table(s *stream, t *tables, name string) error
	// samples takes what refers to stacks: "samples", "markers", "jsAllocations", "nativeAllocations".
	samples(s *stream, t *thread, name string) error
	// word takes another member of a thread.
	word(s *stream, t *thread, name string) error
}

// walker goes through a profile. The first walk makes processes and threads, and later ones meet them again.
type walker struct {
	visitor
	ctx      context.Context
	doc      *document
	making   bool
	nextProc int
	nextThr  int
}

// mostNested bounds processes within processes, and mostThreads the threads of a profile.
const (
	mostNested  = 16
	mostThreads = 1 << 18
)

// profile walks a profile of a process.
func (w *walker) profile(s *stream, nested int) error {
	p := w.process()
	if p == nil || nested > mostNested {
		return s.skip()
	}
	return s.object(func(key string) error {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		switch key {
		case "meta":
			return w.meta(s, p)
		case "libs":
			return w.libs(s, p, nil)
		case "shared":
			return s.object(func(key string) error { return w.member(s, p.shared, key) })
		case "threads":
			return s.array(func(int) error { return w.thread(s, p) }, nil)
		case "processes":
			return s.array(func(int) error { return w.profile(s, nested+1) }, nil)
		}
		return s.skip()
	})
}

// process returns the next process.
func (w *walker) process() *process {
	if w.making {
		p := &process{version: null}
		p.shared = newTables(p)
		w.doc.processes = append(w.doc.processes, p)
	}
	if w.nextProc == len(w.doc.processes) {
		return nil
	}
	w.nextProc++
	return w.doc.processes[w.nextProc-1]
}

// thread walks the next thread.
func (w *walker) thread(s *stream, p *process) error {
	if w.making && len(w.doc.threads) < mostThreads {
		w.doc.threads = append(w.doc.threads, &thread{process: p, own: newTables(p), pid: null, tid: null})
	}
	if c, err := s.peek(); err != nil || c != '{' || w.nextThr == len(w.doc.threads) {
		w.nextThr = min(w.nextThr+1, len(w.doc.threads))
		return s.skip()
	}
	t := w.doc.threads[w.nextThr]
	w.nextThr++
	return s.object(func(key string) error {
		switch key {
		case "samples", "markers", "jsAllocations", "nativeAllocations":
			return w.samples(s, t, key)
		case "libs":
			return w.libs(s, p, t.own)
		case "name", "processName", "pid", "tid":
			return w.word(s, t, key)
		}
		return w.member(s, t.own, key)
	})
}

// member walks a table, if key names one.
func (w *walker) member(s *stream, t *tables, key string) error {
	switch key {
	case "stringArray", "stringTable":
		return w.strings(s, t)
	}
	if _, is := wanted[key]; is {
		return w.table(s, t, key)
	}
	return s.skip()
}
