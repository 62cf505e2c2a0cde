// Package hdfs writes HBase's files on HDFS. It is a package of its own so that a program that only
// reads a store links no client of HDFS.
//
// Files are colinmarc/hdfs's. Below it, sinks/hbase/internal/namenode logs in at NameNodes and DataNodes, protects
// calls and blocks, and finds the active NameNode. What the client would write wrongly is refused when the first file
// is made: erasure-coded folders and encryption zones.
package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path"
	"sync"
	"time"

	"github.com/colinmarc/hdfs/v2"

	"github.com/symlake/symlake/sinks/hbase/internal/bulk"
	"github.com/symlake/symlake/sinks/hbase/internal/namenode"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// dfs is HDFS by its own protocol, for which HBase's root says all that is
// needed. (WebHDFS would save the dependency, but it is another port, which
// clusters close, and knows nothing of name services.)
type dfs struct {
	c           *hdfs.Client
	root, user  string
	replication int
	blockSize   int64

	conn    *namenode.Conn // below c
	lent    *bulk.Token    // of the process's parent
	service string         // that tokens are for; "": no NameNode asks for them

	mu    sync.Mutex
	dirs  map[string]bool // folders that are there and fit
	token *namenode.Token
}

// Open connects to the HDFS of a root and logs in. ctx bounds the life of what it returns.
func Open(ctx context.Context, root string, o bulk.FileOptions) (bulk.FileSystem, error) {
	host, _, err := bulk.LocalPath(root)
	if err != nil {
		return nil, err
	}
	s, err := readSettings(host, &o)
	if err != nil {
		return nil, err
	}
	id, err := newIdentity(s, o.Security)
	if err != nil {
		return nil, err
	}
	if o.User == "" {
		if o.User, err = processUser(); err != nil {
			return nil, err
		}
	}
	d := &dfs{root: "hdfs://" + host, user: id.user(o.User), dirs: make(map[string]bool)}
	if err := d.connect(ctx, s, id, &o); err != nil {
		return nil, err
	}
	return d, nil
}

func processUser() (string, error) {
	u, err := user.Current()
	if err != nil {
		return "", err
	}
	return u.Username, nil
}

// connect makes the client. Its first call asks for what the NameNode gives new files.
func (d *dfs) connect(ctx context.Context, s *settings, id *identity, o *bulk.FileOptions) error {
	o.User = id.user(o.User)
	n := namenode.Options{Addresses: s.addresses, Root: d.root, User: o.User, Notice: o.Notice,
		Hostnames: s.hostnames, Fallback: o.Security.AllowInsecureFallback, Append: map[string][]byte{"getServerDefaults": unencrypted}}
	if id.proves() {
		n.Login = id.login
	}
	d.conn = namenode.New(ctx, n)
	defaults, err := d.conn.Defaults()
	if err != nil {
		d.conn.Close()
		return d.sentence(err, "log in", d.root)
	}
	blocks := &transfer{conn: d.conn, on: d.conn.Proven(), least: s.transfer, encrypted: defaults.Encrypt, privileged: s.privileged}
	// The client sees one NameNode and DataNodes without security. The connections behind it know better.
	options := hdfs.ClientOptions{Addresses: []string{d.root}, User: o.User, UseDatanodeHostname: s.hostnames}
	options.NamenodeDialFunc = func(context.Context, string, string) (net.Conn, error) { return d.conn, nil }
	options.DatanodeDialFunc = func(_ context.Context, network, address string) (net.Conn, error) {
		return blocks.dial(ctx, network, address)
	}
	if d.c, err = hdfs.NewClient(options); err != nil {
		d.conn.Close()
		return fmt.Errorf("connect to %s: %w", d.root, err)
	}
	if _, err := d.c.ServerDefaults(); err != nil { // it keeps them, and asks no more
		d.c.Close()
		return d.sentence(err, "log in", d.root)
	}
	d.replication, d.blockSize = defaults.Replication, defaults.BlockSize
	switch {
	case id.token != nil:
		d.lent = (*bulk.Token)(id.token)
	case d.conn.Proven():
		d.service = s.tokenService(d.conn.Peer())
	}
	return nil
}

// unencrypted has the client leave the encryption of blocks to transfer: the field encryptDataTransfer of
// serverDefaults, once more, with false.
var unencrypted = []byte{1<<3 | 2, 2, 6 << 3, 0}

// Token implements bulk.FileSystem. A region server has no ticket of ours: it shows the token.
func (d *dfs) Token(context.Context) (*bulk.Token, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lent != nil {
		return d.lent, nil
	}
	if d.token == nil && d.service != "" {
		t, err := d.conn.DelegationToken(d.user)
		if err != nil || t == nil {
			return nil, err
		}
		t.Service = d.service
		d.token = t
	}
	return (*bulk.Token)(d.token), nil
}

// Close ends the connections to NameNodes, and the token.
func (d *dfs) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.token != nil {
		_ = d.conn.CancelToken(d.token) // it ends after a day by itself
		d.token = nil
	}
	return d.c.Close()
}

// fileMode is the mode of files. A NameNode takes it as it comes: umasks are for clients.
const fileMode = 0o666

func (d *dfs) Create(ctx context.Context, name string) (bulk.Output, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	_, p, err := bulk.LocalPath(name)
	if err != nil {
		return nil, err
	}
	if err := d.folder(path.Dir(p)); err != nil {
		return nil, err
	}
	w, err := d.c.CreateFile(p, d.replication, d.blockSize, fileMode)
	if err != nil {
		return nil, d.sentence(err, "create", p)
	}
	return &dfsOutput{w: w, d: d, path: p, ctx: ctx}, nil
}

// folder makes a folder, open to all, and sees to it that the client can write there.
func (d *dfs) folder(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dirs[dir] {
		return nil
	}
	if err := d.c.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return d.sentence(err, "make", dir)
	}
	info, err := d.c.Stat(dir)
	if err != nil {
		return d.sentence(err, "look at", dir)
	}
	if err := fits(dir, info); err != nil {
		return err
	}
	d.dirs[dir] = true
	return nil
}

// Flags of a file's or folder's state.
const flagEncrypted = 2

// fits refuses folders where the client would write what none can read.
func fits(dir string, info fs.FileInfo) error {
	s, ok := info.Sys().(*hdfs.FileStatus)
	why := ""
	switch {
	case !ok || !info.IsDir():
		return fmt.Errorf("%s is no folder", dir)
	case s.GetEcPolicy() != nil:
		why = fmt.Sprintf("is erasure-coded (%s): give HBase's staging folder replication (hdfs ec -setPolicy -replicate -path DIR)", s.GetEcPolicy().GetName())
	case s.GetFlags()&flagEncrypted != 0:
		why = "is in an encryption zone"
	default:
		return nil
	}
	return security.Refused(fmt.Errorf("HDFS folder %s %s; write the files with --hfiles-out, or load with --load-mode puts", dir, why))
}

const (
	// closeWait is how long the last block may take to have its copies.
	closeWait = 2 * time.Minute
	// transferWait is how long DataNodes may take over a piece of a block.
	transferWait = 2 * time.Minute
	dialWait     = 10 * time.Second
)

type dfsOutput struct {
	w    *hdfs.FileWriter
	d    *dfs
	path string
	ctx  context.Context // of the batch
	over bool
	some bool // bytes were written
}

// Write writes to the DataNodes that the NameNode names. If one of them is down when the file begins, the file begins anew
// on others.
func (o *dfsOutput) Write(p []byte) (int, error) {
	n, err := o.write(p)
	if err != nil && !o.some && o.ctx.Err() == nil && fromDataNode(err) {
		o.d.conn.AvoidDead()
		_ = o.w.Close() // it is removed next
		if err := o.d.c.Remove(o.path); err != nil {
			return 0, o.d.sentence(err, "remove", o.path)
		}
		if o.w, err = o.d.c.CreateFile(o.path, o.d.replication, o.d.blockSize, fileMode); err != nil {
			return 0, o.d.sentence(err, "create", o.path)
		}
		n, err = o.write(p)
	}
	o.some = true
	return n, o.d.sentence(err, "write", o.path)
}

func (o *dfsOutput) write(p []byte) (int, error) {
	if err := o.w.SetDeadline(time.Now().Add(transferWait)); err != nil {
		return 0, err
	}
	return o.w.Write(p)
}

func (o *dfsOutput) Close() error {
	o.over = true
	deadline := time.Now().Add(closeWait)
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		if err := o.w.SetDeadline(time.Now().Add(transferWait)); err != nil {
			return o.d.sentence(err, "close", o.path)
		}
		err := o.w.Close()
		if err == nil {
			return nil
		}
		if !hdfs.IsErrReplicating(err) || time.Now().After(deadline) {
			return o.d.sentence(err, "close", o.path)
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
		_ = o.w.SetDeadline(time.Now().Add(dialWait))
		_ = o.w.Close() // it is removed next
	}
}

func (d *dfs) Open(_ context.Context, name string) (bulk.Input, error) {
	_, p, err := bulk.LocalPath(name)
	if err != nil {
		return nil, err
	}
	f, err := d.c.Open(p)
	if err != nil {
		return nil, d.sentence(err, "open", p)
	}
	return &dfsInput{f, d}, nil
}

type dfsInput struct {
	*hdfs.FileReader
	d *dfs
}

func (i *dfsInput) Size() int64 { return i.Stat().Size() }

func (i *dfsInput) ReadAt(p []byte, at int64) (int, error) {
	if err := i.SetDeadline(time.Now().Add(transferWait)); err != nil {
		return 0, i.d.sentence(err, "read", i.Name())
	}
	n, err := i.FileReader.ReadAt(p, at)
	return n, i.d.sentence(err, "read", i.Name())
}

func (d *dfs) Remove(_ context.Context, name string) error {
	_, p, err := bulk.LocalPath(name)
	if err != nil {
		return err
	}
	if err := d.c.RemoveAll(p); err != nil && !errors.Is(err, os.ErrNotExist) {
		return d.sentence(err, "remove", p)
	}
	return nil
}
