package client

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

// ZooKeeper's protocol, as much as reading one node takes: u32 length ‖ record; strings
// and buffers with a u32 length; integers are big-endian. A session lives for one read.
const (
	zkSession  = 10_000 // milliseconds, of the session
	zkGetData  = 4
	zkClose    = -11
	zkNoNode   = -101
	zkMaxReply = 1 << 20
)

// zooKeeper reads which server a node of HBase's names, from any member of the quorum.
func (c *Client) zooKeeper(ctx context.Context, node string) (string, error) {
	var all []error
	first := rand.IntN(len(c.o.ZooKeeper))
	for i := range c.o.ZooKeeper {
		member := c.o.ZooKeeper[(first+i)%len(c.o.ZooKeeper)]
		data, err := c.zkRead(ctx, member, c.o.Parent+node)
		if err == nil {
			return zkServer(data)
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		all = append(all, fmt.Errorf("ZooKeeper on %s: %w", member, err))
	}
	return "", &lostError{"ZooKeeper", errors.Join(all...)}
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

// zkRead opens a session, reads a node and closes the session.
func (c *Client) zkRead(ctx context.Context, member, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, min(dialTimeout, c.o.Attempt))
	defer cancel()
	nc, err := c.o.Dial(ctx, member)
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	stop := context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) }) // ends what waits
	defer stop()
	be := binary.BigEndian
	hello := be.AppendUint32(nil, 0)  // protocol version
	hello = be.AppendUint64(hello, 0) // last transaction seen
	hello = be.AppendUint32(hello, zkSession)
	hello = be.AppendUint64(hello, 0)                               // session: a new one
	hello = append(be.AppendUint32(hello, 16), make([]byte, 16)...) // password
	hello = append(hello, 0)                                        // not read only
	if _, err := exchange(nc, hello); err != nil {
		return nil, fmt.Errorf("open session: %w", err)
	}
	get := be.AppendUint32(nil, 1) // request number
	get = be.AppendUint32(get, zkGetData)
	get = append(be.AppendUint32(get, uint32(len(path))), path...)
	get = append(get, 0) // no watch
	b, err := exchange(nc, get)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(b) < 16 { // request number, transaction, error
		return nil, fmt.Errorf("read %s: %w", path, errMalformed)
	}
	if code := int32(be.Uint32(b[12:])); code == zkNoNode {
		return nil, fmt.Errorf("read %s: no such node: HBase is not up, or its nodes have another parent (znode=)", path)
	} else if code != 0 {
		return nil, fmt.Errorf("read %s: error %d", path, code)
	}
	if b = b[16:]; len(b) < 4 || uint64(be.Uint32(b)) > uint64(len(b)-4) {
		return nil, fmt.Errorf("read %s: %w", path, errMalformed)
	}
	data := b[4 : 4+be.Uint32(b)]
	closing := zkClose
	bye := be.AppendUint32(be.AppendUint32(nil, 2), uint32(int32(closing)))
	_, _ = nc.Write(append(be.AppendUint32(nil, uint32(len(bye))), bye...)) // a courtesy: the session ends by itself
	return data, nil
}

// exchange sends a record and reads its answer.
func exchange(nc io.ReadWriter, record []byte) ([]byte, error) {
	if _, err := nc.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(record))), record...)); err != nil {
		return nil, err
	}
	var head [4]byte
	if _, err := io.ReadFull(nc, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > zkMaxReply {
		return nil, fmt.Errorf("%w: of %d bytes", errMalformed, n)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(nc, b)
	return b, err
}
