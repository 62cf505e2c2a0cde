package file

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"

	"modernc.org/sqlite"
)

// conn is a connection to the database, with the statements that it has prepared. One goroutine uses it at a time.
//
// It speaks to the driver without database/sql, whose locks and conversions cost more than SQLite's own work in a small
// statement.
type conn struct {
	driver   driver.Conn
	prepared map[string]driver.Stmt // by text
	args     []driver.NamedValue
}

// sqliteDriver opens connections. It has no functions and no collations of its own.
var sqliteDriver sqlite.Driver

// connect opens a connection to the database that a name of dsn means.
func connect(name string) (*conn, error) {
	c, err := sqliteDriver.Open(name)
	if err != nil {
		return nil, err
	}
	return &conn{driver: c, prepared: make(map[string]driver.Stmt)}, nil
}

// close closes the statements first: an open one would keep SQLite's connection, and with it the -wal, until the process
// ends.
func (c *conn) close() error {
	var err error
	for _, s := range c.prepared {
		err = errors.Join(err, s.Close())
	}
	return errors.Join(err, c.driver.Close())
}

// prepare returns the statement of a text. It prepares each text once.
func (c *conn) prepare(query string) (driver.Stmt, error) {
	if s := c.prepared[query]; s != nil {
		return s, nil
	}
	s, err := c.driver.Prepare(query)
	if err == nil {
		c.prepared[query] = s
	}
	return s, err
}

// bind returns args for the driver. They are valid until the next statement.
func (c *conn) bind(args []any) []driver.NamedValue {
	c.args = c.args[:0]
	for i, a := range args {
		if b, is := a.([]byte); is && b == nil {
			a = []byte{} // SQLite has a NULL, which equals nothing
		}
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return c.args
}

// exec runs a statement without rows, and returns how many rows it changed. An argument is []byte, string or int64.
func (c *conn) exec(query string, args ...any) (changed int64, err error) {
	s, err := c.prepare(query)
	if err != nil {
		return 0, err
	}
	// A background context: for another one, the driver would need a goroutine that watches it.
	r, err := s.(driver.StmtExecContext).ExecContext(context.Background(), c.bind(args))
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// each emits the rows of a statement. The values belong to emit. An error of emit comes back as it is.
func (c *conn) each(query string, args []any, emit func(values []driver.Value) error) (err error) {
	s, err := c.prepare(query)
	if err != nil {
		return err
	}
	rows, err := s.(driver.StmtQueryContext).QueryContext(context.Background(), c.bind(args))
	if err != nil {
		return err
	}
	defer func() {
		if cerr := rows.Close(); err == nil {
			err = cerr
		}
	}()
	values := make([]driver.Value, len(rows.Columns()))
	for {
		if err := rows.Next(values); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		if err := emit(values); err != nil {
			return err
		}
	}
}

// one returns the only column of the one row that a statement finds; nil if there is none.
func (c *conn) one(query string, args ...any) (b []byte, err error) {
	err = c.each(query, args, func(values []driver.Value) error {
		b = bytesOf(values[0])
		return nil
	})
	return b, err
}

// number returns the number that is a statement's one answer.
func (c *conn) number(query string, args ...any) (n int64, err error) {
	err = c.each(query, args, func(values []driver.Value) error {
		n, _ = values[0].(int64)
		return nil
	})
	return n, err
}

// bytesOf returns the bytes of a blob or text, never nil.
func bytesOf(v driver.Value) []byte {
	switch v := v.(type) {
	case []byte:
		return blob(v)
	case string:
		return []byte(v)
	}
	return []byte{}
}

// blob is b, never nil.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
