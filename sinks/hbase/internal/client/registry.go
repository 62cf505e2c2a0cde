package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/symlake/symlake/sinks/hbase/internal/tlsfiles"
	"github.com/symlake/symlake/sinks/hbase/internal/zookeeper"
)

func (g *registry) forgetMeta(server string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.metaServer == server {
		g.metaServer = ""
	}
}

func (g *registry) forgetMaster(server string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.masterServer == server {
		g.masterServer = ""
	}
}

func (g *registry) meta(ctx context.Context, c *Client) (string, error) {
	g.mu.Lock()
	server := g.metaServer
	g.mu.Unlock()
	if server != "" {
		return server, nil
	}
	server, err := c.whereMeta(ctx)
	if err != nil {
		return "", fmt.Errorf("find hbase:meta: %w", err)
	}
	g.mu.Lock()
	g.metaServer = server
	g.mu.Unlock()
	return server, nil
}

func (g *registry) master(ctx context.Context, c *Client) (string, error) {
	g.mu.Lock()
	server := g.masterServer
	g.mu.Unlock()
	if server != "" {
		return server, nil
	}
	server, err := c.whereMaster(ctx)
	if err != nil {
		return "", fmt.Errorf("find the active master: %w", err)
	}
	g.mu.Lock()
	g.masterServer = server
	g.mu.Unlock()
	return server, nil
}

func (c *Client) whereMeta(ctx context.Context) (string, error) {
	if len(c.o.ZooKeeper) > 0 {
		return c.zooKeeper(ctx, "/meta-region-server")
	}
	a, err := c.ask(ctx, "GetMetaRegionLocations")
	if err != nil {
		return "", err
	}
	for f := range fields(a.message, &err) {
		if f.id != 1 {
			continue
		}
		for g := range fields(f.bytes, &err) { // RegionLocation
			if g.id == 2 {
				return serverName(g.bytes)
			}
		}
	}
	if err == nil {
		err = errClosed
	}
	return "", err
}

func (c *Client) whereMaster(ctx context.Context) (string, error) {
	if len(c.o.ZooKeeper) > 0 {
		return c.zooKeeper(ctx, "/master")
	}
	a, err := c.ask(ctx, "GetActiveMaster")
	if err != nil {
		return "", err
	}
	for f := range fields(a.message, &err) {
		if f.id == 1 {
			return serverName(f.bytes)
		}
	}
	if err == nil {
		err = errNoMaster
	}
	return "", err
}

// ask asks the registries of the known servers, the last good one first. It does not wait for a silent server before it
// asks the next one.
func (c *Client) ask(ctx context.Context, method string) (answer, error) {
	c.registry.mu.Lock()
	servers := slices.Clone(c.o.Servers)
	if i := slices.Index(servers, c.registry.good); i > 0 {
		servers[0], servers[i] = servers[i], servers[0]
	}
	c.registry.mu.Unlock()
	began := time.Now()
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	type reply struct {
		server string
		answer answer
		err    error
	}
	replies := make(chan reply, len(servers))
	next := time.NewTimer(0)
	defer next.Stop()
	var all []error
	for asked := 0; len(all) < len(servers); {
		select {
		case <-next.C:
			if asked < len(servers) {
				server := servers[asked]
				asked++
				go func() {
					a, err := c.askOne(asking, server, method)
					replies <- reply{server, a, err}
				}()
				next.Reset(registryHead)
			}
		case r := <-replies:
			if r.err == nil {
				c.registry.mu.Lock()
				c.registry.good, c.registry.reached = r.server, true
				c.registry.mu.Unlock()
				return r.answer, nil
			}
			all = append(all, r.err)
			next.Reset(0)
		case <-ctx.Done():
			return answer{}, fmt.Errorf("RPC registry on %s: %w", strings.Join(servers, ", "), ctx.Err())
		}
	}
	return answer{}, c.unreached(all, &lostError{"the RPC registry", errors.Join(all...)}, began)
}

// registryHead is how long a server may take before the next one is asked too.
const registryHead = 500 * time.Millisecond

// askOne asks the registry of one server.
func (c *Client) askOne(ctx context.Context, server, method string) (answer, error) {
	began := time.Now()
	a, err := c.attempt(ctx, connKey{server, registryService, ""}, &call{method: method}, min(c.o.Reach, c.o.Attempt))
	if errors.Is(err, errAttempt) { // in the midst of connecting
		err = fmt.Errorf("%s: %w", server, err)
	}
	if err == nil || ctx.Err() != nil || !hungUp(err) {
		return a, err
	}
	ctx, cancel := context.WithDeadline(ctx, began.Add(c.o.Reach))
	defer cancel()
	switch { // both hang up on whoever does not begin as they expect
	case !tlsfiles.Wanted(c.o.Security.TLS) && c.speaksTLS(ctx, server):
		err = tlsfiles.Demanded(server)
	case c.speaksZooKeeper(ctx, server):
		err = &lostError{server, fmt.Errorf("%w: it is ZooKeeper: write hbase+zk:// for it, or name a master or region server", errForeign)}
	}
	return answer{}, err
}

// speaksZooKeeper reports whether a server opens a session of ZooKeeper.
func (c *Client) speaksZooKeeper(ctx context.Context, address string) bool {
	_, err := c.zkRead(ctx, address, "/")
	return err == nil
}

// windowsReset is what Windows calls ECONNRESET: WSAECONNRESET.
const windowsReset = syscall.Errno(10054)

// hungUp reports whether the other end closed the connection.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, windowsReset)
}

// speaksTLS reports whether a server answers a TLS handshake at all.
func (c *Client) speaksTLS(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, min(c.o.Reach, c.o.Attempt))
	defer cancel()
	nc, err := c.o.Dial(ctx, address)
	if err != nil {
		return false
	}
	defer nc.Close()
	// The client sends nothing over this connection, so any certificate will do.
	err = tls.Client(nc, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(ctx)
	var alert tls.AlertError
	var remote *net.OpError // how the package wraps an alert of the other side
	return err == nil || errors.As(err, &alert) || errors.As(err, &remote) && remote.Op == "remote error"
}

// zooKeeper reads which server a node of HBase's names, from any member of the quorum.
func (c *Client) zooKeeper(ctx context.Context, node string) (string, error) {
	var all []error
	began := time.Now()
	first := rand.IntN(len(c.o.ZooKeeper))
	for i := range c.o.ZooKeeper {
		member := c.o.ZooKeeper[(first+i)%len(c.o.ZooKeeper)]
		data, err := c.zkRead(ctx, member, c.o.Parent+node)
		if err == nil {
			c.registry.mu.Lock()
			c.registry.reached = true
			c.registry.mu.Unlock()
			return zkServer(data)
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		all = append(all, fmt.Errorf("ZooKeeper on %s: %w", member, err))
	}
	return "", c.unreached(all, &lostError{"ZooKeeper", errors.Join(all...)}, began)
}

// zkServer reads a node: 0xFF ‖ u32 n ‖ n bytes ‖ "PBUF" ‖ a message with a ServerName as field 1.
func zkServer(data []byte) (string, error) {
	if len(data) < 5 || data[0] != 0xff || uint64(binary.BigEndian.Uint32(data[1:])) > uint64(len(data)-5) {
		return "", fmt.Errorf("%w: a node that HBase did not write", errMalformed)
	}
	b, ok := bytes.CutPrefix(data[5+binary.BigEndian.Uint32(data[1:]):], []byte("PBUF"))
	if !ok {
		return "", fmt.Errorf("%w: a node without its magic", errMalformed)
	}
	var err error
	for f := range fields(b, &err) {
		if f.id == 1 {
			return serverName(f.bytes)
		}
	}
	if err == nil {
		err = errClosed
	}
	return "", err
}

// zkRead reads a node from a member of a quorum.
func (c *Client) zkRead(ctx context.Context, member, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, min(c.o.Reach, c.o.Attempt))
	defer cancel()
	nc, err := c.o.Dial(ctx, member)
	if err != nil {
		return nil, err
	}
	return zookeeper.Read(ctx, nc, path)
}
