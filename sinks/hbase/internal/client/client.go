package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symlake/symlake/sinks/hbase/internal/login"
	"github.com/symlake/symlake/sinks/hbase/internal/sasl"
	"github.com/symlake/symlake/sinks/hbase/internal/tlsfiles"
	"github.com/symlake/symlake/sinks/hbase/internal/waits"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// Services of a server; a connection carries one.
const (
	clientService   = "ClientService"
	adminService    = "AdminService"
	masterService   = "MasterService"
	registryService = "ClientMetaService"
)

// Options say which HBase, and how long to wait for it. Each field documents its zero value.
type Options struct {
	Servers   []string // host:port of masters and region servers, for their RPC registry
	ZooKeeper []string // host:port of the quorum; then Servers is not used
	Parent    string   // of HBase's nodes in ZooKeeper; "" is /hbase
	User      string   // the user to act as under simple authentication; "": symlake
	// Security says how the client proves its identity, and how it protects what it sends.
	Security security.Options
	// Patience is how long a call without a deadline of its own is tried; 0 is 2 minutes:
	// what a region server's death costs.
	Patience time.Duration
	// Attempt is how long a server may take to answer; 0 is 20 s. A server that says nothing at all for so
	// long is left. Calls that move data (bulk load) have deadlines of their own.
	Attempt time.Duration
	// Reach bounds making a connection, and how long the first server at all is sought; 0: 4 seconds, so that a caller is told of a
	// dead server within 5.
	Reach time.Duration
	// Notice, unless nil, gets a sentence when a call waits for some seconds, from any goroutine.
	Notice func(string)
	// Dial connects to a server; nil is TCP. Tests put proxies in between.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// MostProtection keeps tests below what the server offers: authentication, integrity or privacy; "": its best.
	MostProtection string
}

const (
	defaultPatience = 2 * time.Minute
	defaultAttempt  = 20 * time.Second
	defaultReach    = 4 * time.Second
)

// Client is a way to one HBase. Safe for concurrent use.
type Client struct {
	o     Options
	calls atomic.Int64

	mu     sync.Mutex
	closed bool
	conns  map[connKey]*dialing
	tables map[Table]*table
	waits  waits.Waits

	registry registry
	tls      func() (*tlsfiles.Config, error) // reads the files when first asked
	login    *login.Login
}

// connKey tells connections apart: calls that take minutes have a lane of their own.
type connKey struct{ address, service, lane string }

// dialing is a connection that is there or being made.
type dialing struct {
	ready chan struct{} // closed when conn or err is set
	conn  *conn
	err   error
}

// New makes a client. It connects when first used.
func New(o Options) *Client {
	if o.Patience == 0 {
		o.Patience = defaultPatience
	}
	if o.Attempt == 0 {
		o.Attempt = defaultAttempt
	}
	if o.Reach == 0 {
		o.Reach = defaultReach
	}
	if o.User == "" {
		o.User = "symlake"
	}
	if o.Parent == "" {
		o.Parent = "/hbase"
	}
	if o.Dial == nil {
		o.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", address)
		}
	}
	c := &Client{o: o, conns: make(map[connKey]*dialing), tables: make(map[Table]*table),
		tls:   sync.OnceValues(func() (*tlsfiles.Config, error) { return tlsfiles.New(o.Security.TLS) }),
		login: login.New(o.Security)}
	c.waits.Notice = o.Notice
	if o.MostProtection != "" {
		c.login.Most, _ = sasl.ParseLayer(o.MostProtection) // tests spell it right
	}
	return c
}

// Close breaks every connection. Calls that are under way fail.
func (c *Client) Close() error {
	c.mu.Lock()
	list := c.conns
	c.conns, c.closed = nil, true
	c.mu.Unlock()
	for _, d := range list {
		select {
		case <-d.ready:
			if d.conn != nil {
				d.conn.fail(ErrClosed)
			}
		default: // dial sees closed
		}
	}
	return nil
}

// Calls is how many requests were sent to region servers' ClientService so far, for tests that count them.
func (c *Client) Calls() int64 { return c.calls.Load() }

// conn returns a connection that works, as far as the client knows.
func (c *Client) conn(ctx context.Context, key connKey) (*conn, error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, ErrClosed
	}
	d := c.conns[key]
	if d != nil {
		select {
		case <-d.ready:
			if d.conn == nil {
				d = nil
				break
			}
			select {
			case <-d.conn.dead:
				d = nil
			default:
			}
		default:
		}
	}
	if d == nil {
		d = &dialing{ready: make(chan struct{})}
		c.conns[key] = d
		go c.dial(key, d)
	}
	c.mu.Unlock()
	select {
	case <-d.ready:
		return d.conn, d.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// dial connects for whoever waits, so no caller's context ends it.
func (c *Client) dial(key connKey, d *dialing) {
	ctx, cancel := context.WithTimeout(context.Background(), min(c.o.Reach, c.o.Attempt))
	defer cancel()
	heard := new(atomic.Int64)
	s, err := c.protect(ctx, key.address, heard)
	if errors.Is(err, login.ErrAgain) {
		s, err = c.protect(ctx, key.address, heard)
	}
	if err == nil {
		if d.conn, err = connect(s, heard, key.address, key.service); err != nil {
			s.Close()
		}
	}
	if err != nil {
		d.err = &lostError{key.address, err}
	}
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if closed && d.conn != nil {
		d.conn.fail(ErrClosed)
	}
	close(d.ready)
}

// protect connects to a server and makes the handshakes that come before the connection header. It notes in heard when
// bytes came.
func (c *Client) protect(ctx context.Context, server string, heard *atomic.Int64) (*login.Session, error) {
	bare, err := c.o.Dial(ctx, server)
	if err != nil {
		return nil, err
	}
	nc := login.Heard(bare, heard)
	if tlsfiles.Wanted(c.o.Security.TLS) {
		config, err := c.tls()
		if err == nil {
			nc, err = config.Client(ctx, nc, server)
		}
		if err != nil {
			bare.Close()
			return nil, err
		}
	}
	return c.login.Connect(ctx, nc, server, c.o.User)
}

// attempt makes one call and waits for its answer, up to timeout.
func (c *Client) attempt(ctx context.Context, key connKey, k *call, timeout time.Duration) (answer, error) {
	if err := ctx.Err(); err != nil {
		return answer{}, err
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, err := c.conn(limited, key)
	if err != nil {
		return answer{}, c.late(ctx, limited, nil, timeout, err)
	}
	done := make(chan *call, 1)
	k.done, k.timeout = done, remaining(limited, timeout)
	if err := conn.send(limited, k); err != nil {
		return answer{}, c.late(ctx, limited, conn, timeout, err)
	}
	if key.service == clientService {
		c.calls.Add(1)
	}
	slow, stop := waits.Slow(ctx)
	defer stop()
	for began := time.Now(); ; {
		select {
		case <-done:
			return k.answer, k.err
		case <-slow:
			c.waits.Silent(ctx, key.address, began)
		case <-limited.Done():
			if !conn.forget(k) {
				<-done
				return k.answer, k.err
			}
			return answer{}, c.late(ctx, limited, conn, timeout, limited.Err())
		}
	}
}

// late tells the end of an attempt from the end of the caller's context. If a server was silent for a
// whole attempt, late closes the connection: its other end may be gone.
func (c *Client) late(ctx, limited context.Context, conn *conn, timeout time.Duration, err error) error {
	if limited.Err() == nil || ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	if conn != nil && conn.quiet(timeout) {
		conn.fail(fmt.Errorf("%w within %v", errAttempt, timeout))
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w within %v", errAttempt, timeout)
}

// remaining is how much of a context is left, up to most.
func remaining(ctx context.Context, most time.Duration) time.Duration {
	if t, ok := ctx.Deadline(); ok {
		return min(most, time.Until(t))
	}
	return most
}

// registry remembers where hbase:meta and the active master are.
type registry struct {
	mu           sync.Mutex
	metaServer   string
	masterServer string
	good         string // the server that answered last

	reached     bool      // one did
	first, last time.Time // of failures
}

// unreached returns lost, or what no further attempt cures: each server speaks another protocol or refuses this client, or none has answered
// for Reach. all are the servers' errors. began is when the first one was asked.
func (c *Client) unreached(all []error, lost error, began time.Time) error {
	g := &c.registry
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if g.first.IsZero() || now.Sub(g.last) > 2*c.o.Reach {
		g.first = began
	}
	g.last = now
	final := func(err error) bool { return errors.Is(err, errForeign) || errors.Is(err, security.ErrRefused) }
	switch {
	case !slices.ContainsFunc(all, func(err error) bool { return !final(err) }):
		return errors.Join(all...)
	case slices.ContainsFunc(all, final): // the others may come back
		lost = &lostError{"the servers of the URL", errors.New(errors.Join(all...).Error())}
	}
	if !g.reached && now.Sub(g.first) >= c.o.Reach {
		return fmt.Errorf("%w: %w", errUnreachable, errors.Join(all...))
	}
	return lost
}

// cache returns the regions of a table that are known.
func (c *Client) cache(t Table) *table {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.tables[t]
	if g == nil {
		g = &table{looking: make(chan struct{}, 1)}
		c.tables[t] = g
	}
	return g
}
