package client

import (
	"context"
	"errors"
	"time"

	"github.com/symlake/symlake/sinks/hbase/internal/waits"
)

// PrepareBulkLoad asks for a staging folder in HBase's own file system, on the secure path: its
// absolute path is the token for BulkLoadHFile, and CleanupBulkLoad removes it.
func (c *Client) PrepareBulkLoad(ctx context.Context, t Table) (token string, err error) {
	err = c.try(ctx, "prepare bulk load", t, nil, func(ctx context.Context, r *Region) error {
		q := message(nil).bytes(1, t.message()).bytes(2, specifier(r))
		a, err := c.attempt(ctx, connKey{r.Server, clientService, ""}, &call{method: "PrepareBulkLoad", param: q}, c.o.Attempt)
		if err != nil {
			return err
		}
		for f := range fields(a.message, &err) {
			if f.id == 1 {
				token = string(f.bytes)
			}
		}
		return err
	})
	return token, err
}

// CleanupBulkLoad removes what PrepareBulkLoad made.
func (c *Client) CleanupBulkLoad(ctx context.Context, t Table, token string) error {
	return c.try(ctx, "clean up bulk load", t, nil, func(ctx context.Context, r *Region) error {
		q := message(nil).text(1, token).bytes(2, specifier(r))
		_, err := c.attempt(ctx, connKey{r.Server, clientService, ""}, &call{method: "CleanupBulkLoad", param: q}, c.o.Attempt)
		return err
	})
}

// FileToken is a right to act for its owner at HBase's file system.
type FileToken struct {
	Identifier, Password []byte
	Kind, Service        string
}

// BulkLoadHFile has a region take over HFiles, all or none: paths are such as its server
// sees. It is one attempt of up to timeout, on a connection of its own, since the server may copy
// for minutes. files, unless nil, lets the server read in the user's name. loaded is false when a file reaches beyond the region and, with a token, for any
// other failure too. Of an error, Moved and Unclear tell what to do.
func (c *Client) BulkLoadHFile(ctx context.Context, t Table, r *Region, family string, paths []string, token string, files *FileToken, timeout time.Duration) (loaded bool, err error) {
	q := message(nil).bytes(1, specifier(r))
	for _, p := range paths {
		q = q.bytes(2, message(nil).text(1, family).text(2, p))
	}
	q = q.flag(3, true)
	if token != "" {
		if files != nil {
			q = q.bytes(4, message(nil).bytes(1, files.Identifier).bytes(2, files.Password).text(3, files.Kind).text(4, files.Service))
		}
		q = q.text(5, token)
	}
	began := time.Now()
	a, err := c.attempt(c.waits.About(ctx, t, r), connKey{r.Server, clientService, "bulk load"}, &call{method: "BulkLoadHFile", param: q}, timeout)
	if err == nil {
		for f := range fields(a.message, &err) {
			if f.id == 1 {
				loaded = f.number != 0
			}
		}
	}
	if err != nil {
		if c.settle(t, r, err) {
			c.waits.Failed(waits.At(t, r), began, err)
		}
		return false, opError("bulk load", t, r, err)
	}
	c.waits.Answered(t, r)
	return loaded, nil
}

// Moved tells whether the region is elsewhere or no more: look the regions up again.
func Moved(err error) bool { return actionOf(err) == relocate }

// Busy tells whether the same call may succeed a little later: not with a file that the server found damaged.
func Busy(err error) bool {
	var server *ServerError
	return actionOf(err) == again && !(errors.As(err, &server) && server.damaged())
}

// Missing tells whether a server could not find a file.
func Missing(err error) bool {
	var server *ServerError
	return errors.As(err, &server) && server.Class == "java.io.FileNotFoundException"
}
