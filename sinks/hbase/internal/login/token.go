package login

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/sinks/hbase/internal/sasl"
	"github.com/symlake/symlake/sinks/hbase/internal/token"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// delegated chooses a delegation token for the cluster of nc. ok is false if there is none. The file is read for each
// connection, since whoever started the job may replace it. A file that cannot be read counts as it was read last.
func (l *Login) delegated(nc net.Conn) (id identity, ok bool, err error) {
	list, err := token.Find(l.o, token.KindHBase)
	l.mu.Lock()
	if err == nil {
		l.tokens = list
	} else if l.tokens != nil {
		list, err = l.tokens, nil
	}
	l.mu.Unlock()
	if err != nil {
		return identity{}, false, err
	}
	if len(list) == 0 {
		if l.o.TokenFile != "" && l.o.Keytab == "" && l.o.Mode == modeAuto {
			return identity{}, false, security.Refused(fmt.Errorf("token file %s has no token of HBase: obtain one for this cluster, or set hbase.security: kerberos to use a ticket", l.o.TokenFile))
		}
		return identity{}, false, nil
	}
	t, err := token.Choose(list, func() (string, error) { return l.clusterOf(nc) })
	if err != nil {
		return identity{}, false, err
	}
	m := sasl.NewDigest(t.Identifier, t.Password, l.least)
	m.Most = l.Most
	return identity{m: m, who: t.User(), token: &t}, true, nil
}

// ErrAgain asks the caller to connect once more: the server told its cluster's id, and has closed the connection.
var ErrAgain = errors.New("connect again, with the token of the cluster")

// clusterOf returns the id of the cluster. The first call asks the server, and ends with ErrAgain.
func (l *Login) clusterOf(nc net.Conn) (string, error) {
	l.mu.Lock()
	id := l.cluster
	l.mu.Unlock()
	if id != "" {
		return id, nil
	}
	id, err := clusterID(nc)
	if err != nil {
		return "", err
	}
	l.mu.Lock()
	l.cluster = id
	l.mu.Unlock()
	return "", ErrAgain
}

// maxRegistry bounds a server's answer about its cluster, in bytes.
const maxRegistry = 4 << 10

// clusterID asks a server for the id of its cluster, before any handshake. Servers answer from HBase 2.6 on, and
// close the connection then.
func clusterID(nc net.Conn) (string, error) {
	if _, err := nc.Write([]byte("Regist")); err != nil {
		return "", err
	}
	n, err := number(nc)
	if err != nil {
		return "", err
	}
	if n > maxRegistry {
		return "", fmt.Errorf("%w (%d bytes about its cluster)", errJunk, n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(nc, b); err != nil {
		return "", unexpected(err)
	}
	header, size := protowire.ConsumeBytes(b)
	if size < 0 {
		return "", errJunk
	}
	if len(header) > 0 {
		if message, size := protowire.ConsumeBytes(b[size:]); size > 0 {
			if num, kind, n := protowire.ConsumeTag(message); n > 0 && num == 1 && kind == protowire.BytesType {
				if id, n := protowire.ConsumeString(message[n:]); n > 0 {
					return id, nil
				}
			}
		}
	}
	return "", errors.New("the server does not know its cluster's id")
}

// refusedToken makes a sentence of a server's reason to refuse a token.
func refusedToken(no *refusal, id identity, address string) error {
	line, _, _ := strings.Cut(no.text, "\n")
	if line == "" {
		line = no.class[strings.LastIndexByte(no.class, '.')+1:]
	}
	until := ""
	if end := id.token.Expires(); !end.IsZero() {
		until = ", good until " + end.UTC().Format("2006-01-02 15:04:05Z")
	}
	return security.Refused(fmt.Errorf("%s refuses the delegation token of %s for cluster %s%s: it has expired, was canceled, or is of another cluster: start the job with a new token (%s)",
		address, id.who, id.token.Service, until, line))
}
