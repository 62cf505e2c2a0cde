package namenode

import (
	"context"
	"errors"
	"net"
	"strconv"
	"syscall"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	// reachTime is how long a DataNode may take to answer, and placeTries how often a block gets other places.
	reachTime  = 2 * time.Second
	placeTries = 5
)

// AvoidDead has NameNodes place new blocks on DataNodes that answer. A NameNode counts on a dead DataNode for ten minutes.
// It is for clients that saw one fail: it costs a connection for each copy of a block.
func (c *Conn) AvoidDead() { c.avoid.Store(true) }

// place is where a NameNode wants a copy of a block.
type place struct {
	node    []byte // DatanodeInfoProto
	address string
}

// placed returns the answer to an addBlock, or to the next one, such that its DataNodes answer.
func (c *Conn) placed(q *request, frame []byte) ([]byte, error) {
	header, _, err := parts(frame[4:])
	if err != nil {
		return nil, err
	}
	param := q.param()
	for range placeTries {
		a, err := parseAnswer(frame[4:])
		if err != nil || a.failed {
			return frame, err
		}
		block, places, err := c.places(a.body)
		if err != nil {
			return nil, err
		}
		dead := c.dead(places)
		if len(dead) == 0 {
			return frame, nil
		}
		if err := c.abandon(block, param); err != nil {
			return nil, err
		}
		for _, node := range dead {
			param = protowire.AppendBytes(protowire.AppendTag(param, 4, protowire.BytesType), node)
		}
		body, err := c.Call("addBlock", param)
		if err != nil {
			return nil, err
		}
		frame = appendFrame(nil, header, body)
	}
	return frame, nil
}

// places reads the answer to an addBlock: the block, and where its copies go.
func (c *Conn) places(body []byte) (block []byte, list []place, err error) {
	nested := func(b []byte, each func(num protowire.Number, number uint64, bytes []byte)) {
		err = errors.Join(err, fields(b, each))
	}
	damage := fields(body, func(_ protowire.Number, _ uint64, located []byte) {
		nested(located, func(num protowire.Number, _ uint64, b []byte) {
			switch num {
			case 1:
				block = b
			case 3:
				p := place{node: b}
				nested(b, func(num protowire.Number, _ uint64, id []byte) {
					if num == 1 {
						nested(id, p.readID(c.o.Hostnames))
					}
				})
				list = append(list, p)
			}
		})
	})
	return block, list, errors.Join(damage, err)
}

// readID reads a DatanodeIDProto.
func (p *place) readID(hostnames bool) func(num protowire.Number, number uint64, bytes []byte) {
	var host string
	return func(num protowire.Number, number uint64, b []byte) {
		switch {
		case num == 1 && !hostnames, num == 2 && hostnames:
			host = string(b)
		case num == 4:
			p.address = net.JoinHostPort(host, strconv.FormatUint(number, 10))
		}
	}
}

// dead returns the DataNodes that are down. The client itself connects to the first one. It need not reach the others, so
// only those count that refuse the connection.
func (c *Conn) dead(places []place) (nodes [][]byte) {
	for i, p := range places {
		ctx, cancel := context.WithTimeout(c.ctx, reachTime)
		nc, err := new(net.Dialer).DialContext(ctx, "tcp", p.address)
		cancel()
		if err == nil {
			nc.Close()
		} else if i == 0 || errors.Is(err, syscall.ECONNREFUSED) {
			nodes = append(nodes, p.node)
		}
	}
	return nodes
}

// abandon gives a block back. param is the addBlock's that made it.
func (c *Conn) abandon(block, param []byte) error {
	b := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), block)
	err := fields(param, func(num protowire.Number, number uint64, v []byte) {
		switch num {
		case 1, 2: // the file, and its writer
			b = protowire.AppendBytes(protowire.AppendTag(b, num+1, protowire.BytesType), v)
		case 5: // the file's number
			b = protowire.AppendVarint(protowire.AppendTag(b, 4, protowire.VarintType), number)
		}
	})
	if err == nil {
		_, err = c.Call("abandonBlock", b)
	}
	return err
}
