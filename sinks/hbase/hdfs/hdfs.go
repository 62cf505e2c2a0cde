// Package hdfs writes HBase's files on HDFS. It is a package of its own so that a program that only
// reads a store links no client of HDFS.
package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path"
	"time"

	"github.com/colinmarc/hdfs/v2"
	"github.com/colinmarc/hdfs/v2/hadoopconf"

	"github.com/symlake/symlake/sinks/hbase/internal/bulk"
)

// dfs is HDFS by its own protocol, for which HBase's root says all that is
// needed. (WebHDFS would save the dependency, but it is another port, which
// clusters close, and knows nothing of name services.)
type dfs struct{ c *hdfs.Client }

// Open connects to the HDFS of a root.
func Open(root string, o bulk.FileOptions) (bulk.FileSystem, error) {
	host, _, err := bulk.LocalPath(root)
	if err != nil {
		return nil, err
	}
	options := hdfs.ClientOptions{User: o.User}
	if o.HadoopConf != "" {
		conf, err := hadoopconf.Load(o.HadoopConf)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", o.HadoopConf, err)
		}
		options = hdfs.ClientOptionsFromConf(conf)
		if options.KerberosClient != nil || options.KerberosServicePrincipleName != "" {
			return nil, fmt.Errorf("%s asks for Kerberos, which is not spoken: write the files with --hfiles-out", o.HadoopConf)
		}
		options.User = o.User
	}
	// A host with a port is an address; without, it is a name service of the configuration, or a host.
	if len(options.Addresses) == 0 || hasPort(host) {
		if !hasPort(host) {
			host += ":8020"
		}
		options.Addresses = []string{host}
	}
	if options.User == "" {
		if options.User, err = processUser(); err != nil {
			return nil, err
		}
	}
	c, err := hdfs.NewClient(options)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", root, err)
	}
	return &dfs{c}, nil
}

func hasPort(host string) bool {
	for i := len(host) - 1; i >= 0; i-- {
		if host[i] == ':' {
			return true
		}
		if host[i] < '0' || host[i] > '9' {
			return false
		}
	}
	return false
}

func processUser() (string, error) {
	u, err := user.Current()
	if err != nil {
		return "", err
	}
	return u.Username, nil
}

func (d *dfs) Create(ctx context.Context, name string) (bulk.Output, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	_, p, err := bulk.LocalPath(name)
	if err != nil {
		return nil, err
	}
	dir := path.Dir(p)
	switch err := d.c.Mkdir(dir, 0o777); {
	case err == nil:
		if err := d.c.Chmod(dir, 0o777); err != nil { // the server's umask may narrow it
			return nil, err
		}
	case !errors.Is(err, fs.ErrExist):
		return nil, err
	}
	defaults, err := d.c.ServerDefaults()
	if err != nil {
		return nil, err
	}
	w, err := d.c.CreateFile(p, defaults.Replication, defaults.BlockSize, 0o666)
	if err != nil {
		return nil, err
	}
	return &dfsOutput{FileWriter: w, c: d.c, path: p, ctx: ctx}, nil
}

type dfsOutput struct {
	*hdfs.FileWriter
	c    *hdfs.Client
	path string
	ctx  context.Context // of the batch
	over bool
}

// closeWait is how long the last block may take to have its copies.
const closeWait = 2 * time.Minute

func (o *dfsOutput) Close() error {
	o.over = true
	deadline := time.Now().Add(closeWait)
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := o.FileWriter.Close()
		if err == nil {
			return o.c.Chmod(o.path, 0o666)
		}
		if !hdfs.IsErrReplicating(err) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-o.ctx.Done():
			return o.ctx.Err()
		case <-time.After(wait):
		}
	}
}

func (o *dfsOutput) Abort() {
	if !o.over {
		o.over = true
		_ = o.FileWriter.Close() // it is removed next
	}
}

func (d *dfs) Open(_ context.Context, name string) (bulk.Input, error) {
	_, p, err := bulk.LocalPath(name)
	if err != nil {
		return nil, err
	}
	f, err := d.c.Open(p)
	if err != nil {
		return nil, err
	}
	return &dfsInput{f}, nil
}

type dfsInput struct{ *hdfs.FileReader }

func (i *dfsInput) Size() int64 { return i.Stat().Size() }

func (d *dfs) Remove(_ context.Context, name string) error {
	_, p, err := bulk.LocalPath(name)
	if err != nil {
		return err
	}
	if err := d.c.RemoveAll(p); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
