package file

import (
	"container/list"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hostfile"
	"github.com/symlake/symlake/sinks/internal/hfile"
)

// handle is an open HFile.
type handle struct {
	name string
	refs int           // guarded by handles.mu, like place and out
	at   *list.Element // in handles.order
	out  bool          // no longer in handles: the last to release it closes it

	once sync.Once
	file *os.File
	*hfile.Reader
	err error
}

// handles keeps files open, the most recently used ones. One in use is never
// closed, so there are more while more are in use.
type handles struct {
	path func(name string) string
	max  int

	mu    sync.Mutex
	byN   map[string]*handle
	order *list.List // of *handle, the last used in front
}

func newHandles(path func(string) string, max int) *handles {
	return &handles{path: path, max: max, byN: make(map[string]*handle), order: list.New()}
}

// acquire gives an open file; fs.ErrNotExist when it is gone. The caller releases it.
func (hs *handles) acquire(name string) (*handle, error) {
	hs.mu.Lock()
	h := hs.byN[name]
	if h == nil {
		h = &handle{name: name}
		h.at = hs.order.PushFront(h)
		hs.byN[name] = h
		for hs.order.Len() > hs.max {
			hs.remove(hs.order.Back().Value.(*handle))
		}
	}
	hs.order.MoveToFront(h.at)
	h.refs++
	hs.mu.Unlock()
	h.once.Do(func() { h.open(hs.path(name)) })
	if h.err != nil {
		hs.mu.Lock()
		hs.remove(h) // the next one tries again
		hs.mu.Unlock()
		hs.release(h)
		return nil, h.err
	}
	return h, nil
}

func (hs *handles) release(h *handle) {
	hs.mu.Lock()
	h.refs--
	closing := h.out && h.refs == 0
	hs.mu.Unlock()
	if closing {
		h.close()
	}
}

// remove takes h out; mu is held.
func (hs *handles) remove(h *handle) {
	if h.out {
		return
	}
	h.out = true
	hs.order.Remove(h.at)
	delete(hs.byN, h.name)
	if h.refs == 0 {
		h.close()
	}
}

// forget closes a file that is to be unlinked.
func (hs *handles) forget(name string) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if h := hs.byN[name]; h != nil {
		hs.remove(h)
	}
}

func (hs *handles) close() {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	for _, h := range hs.byN {
		hs.remove(h)
	}
}

func (h *handle) open(path string) {
	if h.file, h.err = hostfile.Open(path); h.err != nil {
		return
	}
	info, err := h.file.Stat()
	if err == nil {
		h.Reader, err = hfile.Open(h.file, info.Size())
	}
	if errors.Is(err, hfile.ErrUnsupported) { // only symlake writes here, and the version of the layout is in the format file
		err = fmt.Errorf("%w: %w", sinks.ErrCorrupt, err)
	}
	if err != nil {
		h.err = fmt.Errorf("%s: %w", path, err)
	}
}

func (h *handle) close() {
	if h.file != nil {
		h.file.Close() // only read from
	}
}
