package redis

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

// place is a Redis as a URL names it.
type place struct {
	network, address string
	options          []redis.DialOption
}

// Check returns an error where a URL names no Redis. It connects to nothing.
func Check(raw string) error {
	_, err := parse(raw, time.Second)
	return err
}

// parse reads a URL. timeout bounds each step of a connection's making.
func parse(raw string, timeout time.Duration) (*place, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, err
	}
	p := &place{network: "tcp", options: []redis.DialOption{
		redis.DialConnectTimeout(timeout), redis.DialTLSHandshakeTimeout(timeout), redis.DialReadTimeout(timeout), redis.DialWriteTimeout(timeout)}}
	db := u.Query().Get("db")
	switch u.Scheme {
	case "unix":
		p.network, p.address = "unix", u.Host+u.Path
	case "redis", "rediss":
		if u.Opaque != "" {
			return nil, errors.New("no host")
		}
		p.address = net.JoinHostPort(cmp.Or(u.Hostname(), "localhost"), cmp.Or(u.Port(), "6379"))
		if path := strings.TrimPrefix(u.Path, "/"); path != "" {
			db = path
		}
		if u.Scheme == "rediss" {
			p.options = append(p.options, redis.DialUseTLS(true), redis.DialTLSConfig(&tls.Config{MinVersion: tls.VersionTLS12}))
		}
	default:
		return nil, errors.New("unknown scheme")
	}
	if p.address == "" {
		return nil, errors.New("no address")
	}
	if db != "" {
		n, err := strconv.Atoi(db)
		if err != nil || n < 0 {
			return nil, errors.New("no number of a database")
		}
		p.options = append(p.options, redis.DialDatabase(n))
	}
	if password, is := u.User.Password(); is {
		p.options = append(p.options, redis.DialUsername(u.User.Username()), redis.DialPassword(password))
	}
	return p, nil
}

// dial makes a connection.
func (p *place) dial(ctx context.Context) (*connection, error) {
	r := new(connection)
	dialer := net.Dialer{KeepAlive: 5 * time.Minute}
	keep := redis.DialContextFunc(func(ctx context.Context, network, address string) (conn net.Conn, err error) {
		r.wire, err = dialer.DialContext(ctx, network, address)
		return r.wire, err
	})
	var err error
	r.Conn, err = redis.DialContext(ctx, p.network, p.address, append(p.options[:len(p.options):len(p.options)], keep)...)
	return r, err
}

// connection is a connection to Redis that one call uses at a time.
type connection struct {
	redis.Conn
	wire     net.Conn
	deadline time.Time
}

// within runs f and breaks the connection if ctx, which has a deadline, ends first.
func (r *connection) within(ctx context.Context, f func(*connection) error) error {
	r.deadline, _ = ctx.Deadline()
	stop := context.AfterFunc(ctx, func() { r.wire.Close() })
	err := f(r)
	if !stop() || err != nil {
		r.Close()
	}
	return err
}

// answers sends the commands and takes n answers. "Out of memory" or "loading" is an answer too, and
// costs no more than a miss.
func (r *connection) answers(n int, take func(i int, answer any)) error {
	if err := r.Flush(); err != nil {
		return err
	}
	for i := range n {
		answer, err := redis.ReceiveWithTimeout(r.Conn, max(time.Nanosecond, time.Until(r.deadline)))
		var said redis.Error
		switch {
		case err == nil:
			take(i, answer)
		case !errors.As(err, &said):
			return err
		case strings.HasPrefix(string(said), "MOVED "):
			return fmt.Errorf("it is a node of a cluster: %w", err)
		}
	}
	return nil
}
