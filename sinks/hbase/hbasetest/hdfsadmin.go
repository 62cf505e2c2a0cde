package hbasetest

import (
	"context"
	"os/user"
	"testing"

	"github.com/symlake/symlake/sinks/hbase/hbasetest/secure"
	"github.com/symlake/symlake/sinks/hbase/internal/krb"
	"github.com/symlake/symlake/sinks/hbase/internal/namenode"
	"github.com/symlake/symlake/sinks/hbase/internal/sasl"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// MakeFolder makes a folder of an owner, mode 0755, as HDFS's administrator.
func (h *HDFS) MakeFolder(t testing.TB, path, owner string) {
	t.Helper()
	mode := number(nil, 1, 0o755)
	h.admin(t, "", "mkdirs", number(field(field(nil, 1, []byte(path)), 2, mode), 3, 1))
	h.admin(t, "", "setOwner", field(field(nil, 1, []byte(path)), 2, []byte(owner)))
}

// SafeMode has the NameNode take no changes, or take them again.
func (h *HDFS) SafeMode(t testing.TB, on bool) {
	t.Helper()
	action := uint64(1) // leave
	if on {
		action = 2
	}
	h.admin(t, "", "setSafeMode", number(nil, 1, action))
}

// Quota bounds the files and folders, and the bytes, under a folder.
func (h *HDFS) Quota(t testing.TB, path string, names, bytes int64) {
	t.Helper()
	h.admin(t, "", "setQuota", number(number(field(nil, 1, []byte(path)), 2, uint64(names)), 3, uint64(bytes)))
}

// Activate makes a NameNode active. The one before must stand by, or be dead.
func (h *HDFS) Activate(t testing.TB, n *Daemon) {
	t.Helper()
	h.admin(t, haProtocol, "transitionToActive", field(nil, 1, number(nil, 1, 0)), n.Address)
}

// StandBy has a NameNode stand by.
func (h *HDFS) StandBy(t testing.TB, n *Daemon) {
	t.Helper()
	h.admin(t, haProtocol, "transitionToStandby", field(nil, 1, number(nil, 1, 0)), n.Address)
}

const haProtocol = "org.apache.hadoop.ha.HAServiceProtocol"

// admin makes one call as HDFS's administrator, at the active NameNode unless it names one.
func (h *HDFS) admin(t testing.TB, protocol, method string, body []byte, at ...string) {
	t.Helper()
	list := at
	for _, n := range h.NameNodes {
		if len(at) == 0 {
			list = append(list, n.Address)
		}
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	o := namenode.Options{Addresses: list, Root: h.Root, User: me.Username, Protocol: protocol}
	if h.kdc != nil {
		creds, err := krb.New(security.Options{Config: h.kdc.Config, Keytab: h.kdc.Keytab("hdfs")})
		if err != nil {
			t.Fatal(err)
		}
		o.Login = func(ctx context.Context, _ string, _ []namenode.Auth) (namenode.Identity, error) {
			ticket, err := creds.Ticket(ctx, "hdfs/localhost@"+secure.Realm, "localhost")
			if err != nil {
				return namenode.Identity{}, err
			}
			return namenode.Identity{Method: "KERBEROS", Mechanism: sasl.NewGSSAPI(ticket, sasl.Authentication), User: ticket.Client.String()}, nil
		}
	}
	c := namenode.New(t.Context(), o)
	defer c.Close()
	if _, err := c.Call(method, body); err != nil {
		t.Fatal(err)
	}
}
