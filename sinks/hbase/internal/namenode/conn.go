package namenode

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symlake/symlake/sinks/hbase/internal/sasl"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// Options are for one Conn. It owns the slices.
type Options struct {
	// Addresses are the NameNodes' (host:port). One is active. Root is what they serve, for sentences.
	Addresses []string
	Root      string
	// Login chooses how to log in by what a NameNode offers; nil: by User's name alone.
	Login func(ctx context.Context, address string, offer []Auth) (Identity, error)
	User  string
	// Protocol is the interface of Hadoop's that is called; "": ClientProtocol.
	Protocol string
	// Hostnames says that DataNodes are reached by name.
	Hostnames bool
	// Append are fields that answers to the client get, by method.
	Append map[string][]byte
	// Fallback lets a client that can log in go on as User if the NameNode knows no security.
	Fallback bool
	// First is how long the first call may wait for a NameNode, Patience how long the others may. 0: 15 s and 3 minutes,
	// more than a failover takes.
	First, Patience time.Duration
	// Notice, unless nil, hears after 5 s what a call waits for.
	Notice func(string)
}

// Identity is a way to log in.
type Identity struct {
	Method    string // of Auth
	Mechanism sasl.Mechanism
	User      string // that the client then says it is; "": as the login says
}

const (
	dialTime  = 5 * time.Second
	loginTime = 20 * time.Second
	// callTime is how long a NameNode may take to answer.
	callTime        = time.Minute
	defaultFirst    = 15 * time.Second
	defaultPatience = 3 * time.Minute
	noticeAfter     = 5 * time.Second
	// leaseEvery is how often a lease is renewed. Clients do so each second; a NameNode takes the lease away after a minute.
	leaseEvery = 20 * time.Second
)

// Conn is a connection to the active NameNode. See the package.
type Conn struct {
	o    Options
	ctx  context.Context
	stop context.CancelFunc

	wrote  int // frames, the greeting among them
	client []byte
	asked  *request
	answer []byte

	own   atomic.Int32
	avoid atomic.Bool // DataNodes that are down
	turn  sync.Mutex  // one call at a time

	at      int // the NameNode to go to
	proven  bool
	renewed time.Time

	mu   sync.Mutex
	link *link // also closed by Close
	over bool
}

// New makes a Conn that connects when it is first used. ctx bounds its life.
func New(ctx context.Context, o Options) *Conn {
	if o.First == 0 {
		o.First = defaultFirst
	}
	if o.Patience == 0 {
		o.Patience = defaultPatience
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.Protocol == "" {
		o.Protocol = clientProtocol
	}
	c := &Conn{o: o, client: make([]byte, 16)}
	_, _ = rand.Read(c.client) // never fails
	c.ctx, c.stop = context.WithCancel(ctx)
	return c
}

// Write takes the client's next frame.
func (c *Conn) Write(p []byte) (int, error) {
	c.wrote++
	if c.wrote == 1 { // the greeting: Conn has one of its own
		return len(p), nil
	}
	c.answer = nil
	var err error
	c.asked, err = parseRequest(slices.Clone(p))
	if err == nil && c.wrote == 2 { // the client's name: Conn knows better
		c.client, c.asked = slices.Clone(c.asked.client), nil
	}
	return len(p), err
}

// Read carries the request out and returns its answer.
func (c *Conn) Read(p []byte) (int, error) {
	if len(c.answer) == 0 {
		if c.asked == nil {
			return 0, io.EOF
		}
		q := c.asked
		c.asked = nil
		frame, err := c.call(q)
		if err == nil && q.method == "addBlock" && c.avoid.Load() {
			frame, err = c.placed(q, frame)
		}
		if err != nil {
			return 0, err
		}
		if more := c.o.Append[q.method]; more != nil {
			if header, body, err := parts(frame[4:]); err == nil && body != nil {
				frame = appendFrame(nil, header, append(body[:len(body):len(body)], more...))
			}
		}
		c.answer = frame
	}
	n := copy(p, c.answer)
	c.answer = c.answer[n:]
	return n, nil
}

// Call makes a call of the caller's own, beside the client's.
func (c *Conn) Call(method string, body []byte) ([]byte, error) {
	c.own.Add(1)
	q := &request{call: ownCalls + c.own.Load(), method: method}
	q.frame = appendFrame(nil, requestHeader(q.call, c.client), methodHeader(c.o.Protocol, method), body)
	frame, err := c.call(q)
	if err != nil {
		return nil, err
	}
	a, err := parseAnswer(frame[4:])
	if err == nil && a.failed {
		err = &a.Exception
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", c.o.Root, method, err)
	}
	return a.body, nil
}

// ownCalls is where the numbers of Call begin: the client counts from 1.
const ownCalls = 1 << 30

// call makes a call, by whichever NameNode is active.
func (c *Conn) call(q *request) ([]byte, error) {
	c.turn.Lock()
	defer c.turn.Unlock()
	lease := q.method == "renewLease"
	if lease && time.Since(c.renewed) < leaseEvery {
		return okAnswer(q.call), nil
	}
	begun := time.Now()
	patience := c.o.Patience
	if !c.proven {
		patience = c.o.First
	}
	told := false
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		frame, err := c.try(q)
		if err == nil {
			c.proven = true
			if lease {
				c.renewed = time.Now()
			}
			return frame, nil
		}
		waited := time.Since(begun)
		switch {
		case c.ctx.Err() != nil:
			return nil, c.ctx.Err()
		case errors.Is(err, security.ErrRefused), lease:
			return nil, err
		case waited > patience:
			return nil, fmt.Errorf("%s: no NameNode does %s after %v: %w", c.o.Root, q.method, waited.Round(time.Second), err)
		case !told && waited > noticeAfter:
			told = true
			c.o.Notice(fmt.Sprintf("%s: %s waits for a NameNode: %v", c.o.Root, q.method, err))
		}
		select {
		case <-c.ctx.Done():
			return nil, c.ctx.Err()
		case <-time.After(wait):
		}
	}
}

// try makes one attempt, at each NameNode until one of them is active. An error may go away unless it is
// security.ErrRefused.
func (c *Conn) try(q *request) ([]byte, error) {
	var all []error
	var refusals int
	for range c.o.Addresses {
		address := c.o.Addresses[c.at]
		old := c.connected()
		frame, err := c.exchange(address, q)
		if err != nil && old && !errors.Is(err, errStandby) && !errors.Is(err, errNotYet) { // NameNodes hang up on silent clients
			c.drop()
			frame, err = c.exchange(address, q)
		}
		if err == nil || errors.Is(err, errNotYet) {
			return frame, err
		}
		c.drop()
		c.at = (c.at + 1) % len(c.o.Addresses)
		if c.ctx.Err() != nil {
			return nil, c.ctx.Err()
		}
		if errors.Is(err, security.ErrRefused) {
			refusals++
		} else {
			err = fmt.Errorf("NameNode %s: %w", address, plain(err))
		}
		all = append(all, err)
	}
	if refusals == len(all) {
		return nil, all[0]
	}
	list := make([]string, len(all))
	for i, err := range all {
		list[i] = err.Error()
	}
	return nil, errors.New(strings.Join(list, "; "))
}

// What NameNodes say that are not, or not yet, active.
var (
	errStandby  = errors.New("it stands by")
	errStarting = errors.New("it cannot yet")
	errNotYet   = errors.New("it waits for DataNodes to report the block before") // it is the active one
)

// plain takes off a dialer's words that the sentence has already.
func plain(err error) error {
	if e := (*net.OpError)(nil); errors.As(err, &e) && e.Op == "dial" {
		return e.Err
	}
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it hung up")
	}
	return err
}

// exchange sends a request and reads its answer. The answer comes with its length.
func (c *Conn) exchange(address string, q *request) ([]byte, error) {
	l, err := c.get(address)
	if err != nil {
		return nil, err
	}
	if err := l.nc.SetDeadline(time.Now().Add(callTime)); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(c.ctx, func() { l.nc.Close() })
	defer stop()
	if err := l.send(q.frame); err != nil {
		return nil, err
	}
	frame, err := l.receive()
	if err != nil {
		return nil, err
	}
	a, err := parseAnswer(frame)
	if err != nil {
		return nil, err
	}
	if a.failed {
		switch a.Class {
		case "org.apache.hadoop.ipc.StandbyException":
			return nil, errStandby
		case "org.apache.hadoop.ipc.RetriableException":
			return nil, fmt.Errorf("%w (%s)", errStarting, line(a.Text))
		case "org.apache.hadoop.hdfs.server.namenode.NotReplicatedYetException":
			return nil, fmt.Errorf("%w (%s)", errNotYet, line(a.Text))
		}
		if a.call != q.call {
			return nil, refused(address, &a.Exception)
		}
	}
	if a.call != q.call {
		return nil, fmt.Errorf("%w (call %d in place of %d)", errJunk, a.call, q.call)
	}
	out := make([]byte, 4, 4+len(frame))
	out[0], out[1], out[2], out[3] = byte(len(frame)>>24), byte(len(frame)>>16), byte(len(frame)>>8), byte(len(frame))
	return append(out, frame...), nil
}

// get returns the connection that there is, or a new one.
func (c *Conn) get(address string) (*link, error) {
	c.mu.Lock()
	l := c.link
	c.mu.Unlock()
	if l != nil {
		return l, nil
	}
	l, err := c.open(c.ctx, address)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		l.nc.Close()
		return nil, net.ErrClosed
	}
	c.link = l
	return l, nil
}

// Proven reports whether the last NameNode asked for a login, and got it.
func (c *Conn) Proven() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link != nil && c.link.proven
}

// Peer is the address of the NameNode that there is a connection to, by number.
func (c *Conn) Peer() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link == nil {
		return ""
	}
	return c.link.nc.RemoteAddr().String()
}

// connected reports whether there is a connection.
func (c *Conn) connected() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link != nil
}

// drop ends the connection that there is.
func (c *Conn) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != nil {
		c.link.nc.Close()
		c.link = nil
	}
}

// Close ends the Conn, and a Read that waits.
func (c *Conn) Close() error {
	c.stop()
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	c.drop()
	return nil
}

// LocalAddr and the others are net.Conn's. Deadlines have no effect: calls have their own.
func (c *Conn) LocalAddr() net.Addr { return root(c.o.Root) }

// RemoteAddr names the root.
func (c *Conn) RemoteAddr() net.Addr { return root(c.o.Root) }

// SetDeadline does nothing.
func (c *Conn) SetDeadline(time.Time) error { return nil }

// SetReadDeadline does nothing.
func (c *Conn) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing.
func (c *Conn) SetWriteDeadline(time.Time) error { return nil }

// root is an address in net's sense.
type root string

func (root) Network() string  { return "hdfs" }
func (r root) String() string { return string(r) }
