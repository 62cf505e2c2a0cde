package file

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// view is a way to read the database. SQLite's own way for readers that may
// not write needs its side files (-wal, -shm), which are there only while a
// writer is, or after one died. Without changes in them the database is whole
// in its one file, and is opened as immutable: then SQLite takes no lock and
// would not notice a writer, so every answer is checked against the file's state.
type view struct {
	path    string
	options string
	still   os.FileInfo // immutable: the file as it was when it was opened; else nil
	refs    int         // guarded by database.viewMu, like old
	old     bool        // replaced: the last to release it closes it

	mu   sync.Mutex
	idle []*conn // guarded by mu; at most maxIdle
}

// maxIdle bounds the connections that a view keeps for later readers.
const maxIdle = 4

// errMoved: a writer came while an immutable view was read.
var errMoved = errors.New("the catalog was changed while it was read: run it again")

// errNoIndex says that a writer died and its -shm is gone; a reader cannot make one. A writer that
// closes removes -shm just before -wal, so the error may pass.
var errNoIndex = errors.New("holds changes but its -shm is missing: open the store once for writing")

func openView(path string, readOnly bool) (*view, error) {
	v := &view{path: path, options: "mode=rw&" + busy}
	if readOnly {
		info, err := settled(path)
		if err != nil {
			return nil, err
		}
		switch {
		case !pending(path):
			v.options = "mode=ro&immutable=1"
			v.still = info
		case size(path+"-shm") < 0:
			return nil, fmt.Errorf("%s-wal %w", path, errNoIndex)
		default:
			v.options = "mode=ro&readonly_shm=1&" + busy
		}
	}
	// The first statement reads the file: it may be damaged, or without the tables.
	if err := v.use(func(c *conn) error { _, err := c.prepare(getQuery); return err }); err != nil {
		moved := !v.unmoved()
		v.close()
		if moved {
			err = errMoved
		}
		return nil, err
	}
	return v, nil
}

// use calls read with a connection that nothing else uses meanwhile. Several goroutines may call it.
func (v *view) use(read func(c *conn) error) error {
	c, err := v.take()
	if err != nil {
		return err
	}
	err = read(c)
	v.mu.Lock()
	kept := len(v.idle) < maxIdle
	if kept {
		v.idle = append(v.idle, c)
	}
	v.mu.Unlock()
	if !kept {
		c.close() // only read with
	}
	return err
}

func (v *view) take() (*conn, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if n := len(v.idle); n > 0 {
		c := v.idle[n-1]
		v.idle = v.idle[:n-1]
		return c, nil
	}
	return connect(dsn(v.path, v.options))
}

// close closes the connections. Nothing uses them: see database.release.
func (v *view) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range v.idle {
		c.close() // only read with
	}
	v.idle = nil
}

// size of a file, -1 if there is none.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return -1
	}
	return info.Size()
}

// settled returns the state of a file once its time of change tells that state from every later one.
// Clocks of file systems tick up to every 10 ms, so settled looks at a file that just changed again
// after its tick.
func settled(path string) (os.FileInfo, error) {
	const ticks = 20 * time.Millisecond
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	age := time.Since(info.ModTime())
	if age > ticks {
		return info, nil
	}
	time.Sleep(min(ticks, ticks-age))
	return os.Stat(path)
}

// pending reports whether changes may stand beside the database's one file. A -wal is 32 bytes of
// header, then changes. A writer that was killed may leave the header alone; SQLite cannot read such
// a -wal without writing, and tries for 10 s.
func pending(path string) bool { return size(path+"-wal") > 32 }

// fresh tells whether what v shows is the newest: a writer that came since puts its changes in -wal first.
func (v *view) fresh() bool { return v.still == nil || v.unmoved() && !pending(v.path) }

// unmoved tells whether what v just read was of one state of the file.
func (v *view) unmoved() bool {
	if v.still == nil {
		return true
	}
	info, err := os.Stat(v.path)
	return err == nil && os.SameFile(info, v.still) && info.Size() == v.still.Size() && info.ModTime().Equal(v.still.ModTime())
}

// passing tells the errors of a read-only view that a new view cures.
func passing(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_BUSY:
		return true
	}
	return errors.Is(err, errMoved) || errors.Is(err, errNoIndex)
}
