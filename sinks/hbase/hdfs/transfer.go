package hdfs

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"strconv"

	"github.com/symlake/symlake/sinks/hbase/internal/namenode"
	"github.com/symlake/symlake/sinks/hbase/internal/sasl"
)

// transfer says how connections to DataNodes are protected. The HDFS client could do it, but what it reads is wrong
// where a piece of the stream ends within a message, and it knows no 3DES.
type transfer struct {
	conn       *namenode.Conn
	on         bool       // DataNodes ask for a login
	least      sasl.Layer // of protection
	encrypted  bool       // by a key that the NameNode gives
	privileged bool       // DataNodes on privileged ports do without
}

const privilegedPorts = 1024

// dial connects to a DataNode. The end of ctx ends the connection.
func (f *transfer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialWait}
	nc, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, &dataNodeError{address, err}
	}
	c := &dataConn{Conn: nc, address: address, f: f}
	c.begun = !f.on
	if _, text, err := net.SplitHostPort(address); err == nil && f.privileged && !f.encrypted {
		port, err := strconv.Atoi(text)
		c.begun = c.begun || err == nil && port < privilegedPorts
	}
	c.stop = context.AfterFunc(ctx, func() { nc.Close() })
	return c, nil
}

// mechanism logs in with the token of the block that an operation is about, or with the key of all blocks.
func (f *transfer) mechanism(op []byte) (sasl.Mechanism, error) {
	const service = "hdfs/0"
	if f.encrypted {
		k, err := f.conn.DataKey()
		if err != nil {
			return nil, err
		}
		user := fmt.Sprintf("%d %s %s", k.ID, k.Pool, base64.StdEncoding.EncodeToString(k.Nonce))
		return sasl.NewDigestAs(user, base64.StdEncoding.EncodeToString(k.Key), service, f.least), nil
	}
	t, err := namenode.BlockToken(op)
	if err != nil {
		return nil, err
	}
	return sasl.NewDigest(t.Identifier, t.Password, f.least).For(service), nil
}

// dataConn is a connection to a DataNode, which its errors name. It logs in before it sends the first operation, with the
// token in it.
type dataConn struct {
	net.Conn
	address string
	f       *transfer
	begun   bool
	stop    func() bool
}

func (c *dataConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	return n, c.named(err)
}

func (c *dataConn) Write(p []byte) (int, error) {
	if !c.begun {
		c.begun = true
		m, err := c.f.mechanism(p)
		if err != nil {
			return 0, c.named(err)
		}
		protected, err := namenode.Protect(c.Conn, m)
		if err != nil {
			return 0, c.named(err)
		}
		c.Conn = protected
	}
	n, err := c.Conn.Write(p)
	return n, c.named(err)
}

func (c *dataConn) Close() error {
	c.stop()
	return c.Conn.Close()
}
