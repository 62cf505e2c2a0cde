package file

import (
	"bytes"
	"database/sql/driver"
	"fmt"
	"sync"

	"github.com/symlake/symlake/sinks"
)

// maxPlaces bounds the cache: some 10 MB.
const maxPlaces = 1 << 17

// places finds the file of a load and remembers it: a load never changes its file. It remembers no
// absence, so a new load is seen at once.
type places struct {
	db *database
	mu sync.RWMutex
	of map[sinks.Prefix]string
}

func newPlaces(db *database) *places { return &places{db: db, of: make(map[sinks.Prefix]string)} }

// find gives the file of a load, "" if the store has none of it.
func (p *places) find(at sinks.Prefix) (string, error) {
	p.mu.RLock()
	name := p.of[at]
	p.mu.RUnlock()
	if name != "" {
		return name, nil
	}
	var b []byte
	err := p.db.read(func(c *conn) (err error) {
		b, err = c.one(whereQuery, at[:])
		return err
	})
	if err != nil || b == nil {
		return "", err
	}
	name = string(b)
	if !validName(name) {
		return "", fmt.Errorf("%s: load %x is in a file called %q: %w", catalogName, at, name, sinks.ErrCorrupt)
	}
	p.mu.Lock()
	if len(p.of) >= maxPlaces {
		clear(p.of)
	}
	p.of[at] = name
	p.mu.Unlock()
	return name, nil
}

func (p *places) forget(at sinks.Prefix) {
	p.mu.Lock()
	delete(p.of, at)
	p.mu.Unlock()
}

// page gives, in order, up to limit loads from the prefix from on and below
// stop (nil: no end). Pages, so that no long scan of rows holds up SQLite's checkpoints.
func (p *places) page(from, stop []byte, limit int) ([]sinks.Prefix, error) {
	query, args := "SELECT prefix FROM files WHERE prefix >= ?", []any{from}
	if stop != nil {
		query, args = query+" AND prefix < ?", append(args, stop)
	}
	query, args = query+" ORDER BY prefix LIMIT ?", append(args, int64(limit))
	var list []sinks.Prefix
	err := p.db.read(func(c *conn) error {
		list = list[:0]
		return c.each(query, args, func(values []driver.Value) error {
			b := bytesOf(values[0])
			if len(b) != sinks.PrefixBytes {
				return fmt.Errorf("a load's prefix of %d bytes: %w", len(b), sinks.ErrCorrupt)
			}
			list = append(list, sinks.Prefix(b))
			return nil
		})
	})
	return list, err
}

// loadOf is one load's place for a transaction.
type loadOf struct {
	at   sinks.Prefix
	file string
}

// enter adds loads to the table; a load that was there moves to its new file.
// It gives the files that hold no load any more.
func enter(w *writer, loads []loadOf) (empty []string, err error) {
	were := make(map[string]bool)
	var sums tally
	for _, l := range loads {
		n, err := w.exec("INSERT INTO files(prefix, file) VALUES(?, ?) ON CONFLICT(prefix) DO NOTHING", l.at[:], l.file)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			sums.add([]sinks.Count{{Name: sinks.CountStored, By: sinks.Sum(l.at[:])}})
			continue
		}
		old, err := fileOf(w, l.at)
		if err != nil {
			return nil, err
		}
		if old == l.file {
			continue
		}
		were[old] = true
		if _, err := w.exec("UPDATE files SET file = ? WHERE prefix = ?", l.file, l.at[:]); err != nil {
			return nil, err
		}
	}
	if err := w.count(&sums); err != nil {
		return nil, err
	}
	return emptied(w, were)
}

// leave removes loads from the table and gives the files that hold none any more.
func leave(w *writer, loads []sinks.Prefix) (empty []string, err error) {
	were := make(map[string]bool)
	var sums tally
	for _, at := range loads {
		old, err := fileOf(w, at)
		if err != nil {
			return nil, err
		}
		if old == "" {
			continue
		}
		were[old] = true
		if _, err := w.exec("DELETE FROM files WHERE prefix = ?", at[:]); err != nil {
			return nil, err
		}
		sums.add([]sinks.Count{{Name: sinks.CountStored, By: -sinks.Sum(at[:])}})
	}
	if err := w.count(&sums); err != nil {
		return nil, err
	}
	return emptied(w, were)
}

func fileOf(w *writer, at sinks.Prefix) (string, error) {
	name, err := w.one(whereQuery, at[:])
	return string(name), err
}

// emptied returns the files of names that no load names.
func emptied(w *writer, names map[string]bool) (empty []string, err error) {
	for name := range names {
		n, err := w.number(holdsQuery, name)
		if err != nil {
			return nil, err
		}
		if n == 0 && validName(name) {
			empty = append(empty, name)
		}
	}
	return empty, nil
}

// inUse returns the files of names that some load names, as another process sees it now.
func (p *places) inUse(names []string) (map[string]bool, error) {
	is := make(map[string]bool)
	err := p.db.read(func(c *conn) error {
		clear(is)
		for _, name := range names {
			n, err := c.number(holdsQuery, name)
			if err != nil {
				return err
			}
			if n != 0 {
				is[name] = true
			}
		}
		return nil
	})
	return is, err
}

// filesQuery finds each file once. It looks for the next file behind the last, so files of many loads cost no more.
const filesQuery = "WITH RECURSIVE f(x) AS (SELECT min(file) FROM files UNION ALL SELECT (SELECT min(file) FROM files WHERE file > x) FROM f WHERE x IS NOT NULL) SELECT x FROM f WHERE x IS NOT NULL"

// below tells whether key is below stop; nil is no end.
func below(key, stop []byte) bool { return stop == nil || bytes.Compare(key, stop) < 0 }
