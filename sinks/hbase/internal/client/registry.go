package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"
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

// ask asks the registry of each known server in turn, the last good one first.
func (c *Client) ask(ctx context.Context, method string) (answer, error) {
	c.registry.mu.Lock()
	servers := slices.Clone(c.o.Servers)
	if i := slices.Index(servers, c.registry.good); i > 0 {
		servers[0], servers[i] = servers[i], servers[0]
	}
	c.registry.mu.Unlock()
	var all []error
	for _, s := range servers {
		a, err := c.attempt(ctx, connKey{s, registryService, ""}, &call{method: method}, min(dialTimeout, c.o.Attempt))
		if err == nil {
			c.registry.mu.Lock()
			c.registry.good = s
			c.registry.mu.Unlock()
			return a, nil
		}
		if ctx.Err() != nil {
			return answer{}, fmt.Errorf("RPC registry on %s: %w", s, ctx.Err())
		}
		if hungUp(err) {
			if c.speaksTLS(ctx, s) { // which hangs up on whoever does not begin with a handshake
				err = fmt.Errorf("%s demands TLS: %w", s, ErrUnspoken)
			}
		}
		if errors.Is(err, ErrUnspoken) {
			return answer{}, err
		}
		all = append(all, err)
	}
	return answer{}, &lostError{"the RPC registry", errors.Join(all...)}
}

// windowsReset is what Windows calls ECONNRESET: WSAECONNRESET.
const windowsReset = syscall.Errno(10054)

// hungUp reports whether the other end closed the connection.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, windowsReset)
}

// speaksTLS reports whether a server answers a TLS handshake at all.
func (c *Client) speaksTLS(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, min(dialTimeout, c.o.Attempt))
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
