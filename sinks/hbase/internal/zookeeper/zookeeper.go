package zookeeper

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/symlake/symlake/sinks/hbase/internal/foreign"
)

// The protocol is u32 length ‖ record; strings and buffers with a u32 length; integers are big-endian. A session lives
// for one read.
const (
	session  = 10_000 // milliseconds, of the session
	getData  = 4
	closing  = -11
	noNode   = -101
	maxReply = 1 << 20 // bytes
)

// ErrMalformed says that an answer is none of the protocol's.
var ErrMalformed = errors.New("malformed answer")

// Read opens a session over nc, reads the node at path, ends the session, and closes nc. ctx bounds all of it.
func Read(ctx context.Context, nc net.Conn, path string) ([]byte, error) {
	defer nc.Close()
	stop := context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) }) // ends what waits
	defer stop()
	be := binary.BigEndian
	hello := be.AppendUint32(nil, 0)  // protocol version
	hello = be.AppendUint64(hello, 0) // last transaction seen
	hello = be.AppendUint32(hello, session)
	hello = be.AppendUint64(hello, 0)                               // session: a new one
	hello = append(be.AppendUint32(hello, 16), make([]byte, 16)...) // password
	hello = append(hello, 0)                                        // not read only
	if _, err := exchange(nc, hello); err != nil {
		return nil, fmt.Errorf("open session: %w", err)
	}
	get := be.AppendUint32(nil, 1) // request number
	get = be.AppendUint32(get, getData)
	get = append(be.AppendUint32(get, uint32(len(path))), path...)
	get = append(get, 0) // no watch
	b, err := exchange(nc, get)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	data, err := answer(b)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	code := closing
	bye := be.AppendUint32(be.AppendUint32(nil, 2), uint32(int32(code)))
	_, _ = nc.Write(append(be.AppendUint32(nil, uint32(len(bye))), bye...)) // a courtesy: the session ends by itself
	return data, nil
}

// answer takes a node's data out of an answer.
func answer(b []byte) ([]byte, error) {
	be := binary.BigEndian
	if len(b) < 16 { // request number, transaction, error
		return nil, ErrMalformed
	}
	if code := int32(be.Uint32(b[12:])); code == noNode {
		return nil, errors.New("no such node: HBase is not up, or its nodes have another parent (znode=)")
	} else if code != 0 {
		return nil, fmt.Errorf("error %d", code)
	}
	if b = b[16:]; len(b) < 4 || uint64(be.Uint32(b)) > uint64(len(b)-4) {
		return nil, ErrMalformed
	}
	return b[4 : 4+be.Uint32(b)], nil
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
	if n > maxReply {
		if name := foreign.Protocol(head[:]); name != "" {
			return nil, fmt.Errorf("this is no ZooKeeper: it speaks %s", name)
		}
		return nil, fmt.Errorf("this is no ZooKeeper: %s", foreign.Quote(head[:]))
	}
	b := make([]byte, n)
	_, err := io.ReadFull(nc, b)
	return b, err
}
