package hbase

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// as returns the options of a user with a keytab.
func as(server *hbasetest.Server, user string) security.Options {
	return security.Options{Config: server.KDC.Config, Keytab: server.KDC.Keytab(user)}
}

// granted does something until servers have heard of the permission for it.
func granted(t *testing.T, do func() error) {
	t.Helper()
	var err error
	formattest.Await(t, "the permission", func() bool { err = do(); return !client.Denied(err) })
	if err != nil {
		t.Fatal(err)
	}
}

// A caller without a permission hears which one it lacks, and where.
func TestPermissions(t *testing.T) {
	server := hbasetest.SharedSecure(t)
	ns := namespace()
	rest := "//" + server.Master + "/" + ns + "?regions=3"
	create := func() error { return Create(t.Context(), rest, Options{Security: as(server, "loader")}) }
	open := func(user string, readOnly bool) (*sinks.Store, error) {
		s, err := Open(t.Context(), rest, Options{ReadOnly: readOnly, Security: as(server, user)})
		if err == nil {
			t.Cleanup(func() { s.Close() })
		}
		return s, err
	}
	denied := func(err error, want ...string) {
		t.Helper()
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%v, want %q", err, w)
			}
		}
	}
	denied(create(), "loader lacks the permission ADMIN on all of HBase", "create_namespace '"+ns+"'")
	server.CreateNamespace(t, ns)
	denied(create(), "loader@SYMLAKE.TEST lacks the permission CREATE on @"+ns+":", "RWC")
	server.Grant(t, "loader", ns, "RWC")
	granted(t, create)
	s, err := open("loader", false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Catalog.Swap(t.Context(), []byte("k"), nil, []byte("v")); err != nil {
		t.Fatal(err)
	}
	server.Grant(t, "reader", ns, "R")
	if s, err = open("reader", true); err != nil {
		t.Fatal(err)
	}
	granted(t, func() error {
		v, err := s.Catalog.Get(t.Context(), []byte("k"))
		if err == nil && string(v) != "v" {
			t.Errorf("a reader reads %q", v)
		}
		return err
	})
	_, err = open("reader", false)
	denied(err, "reader@SYMLAKE.TEST lacks the permission CREATE on "+ns+":blocks")
	if s, err = open("stranger", true); err == nil {
		_, err = s.Catalog.Get(t.Context(), []byte("k"))
		denied(err, "stranger lacks the permission READ on "+ns+":catalog")
		err = s.Blocks.First(t.Context(), []sinks.Span{{From: make([]byte, 24), Stop: bytes.Repeat([]byte("x"), 24)}}, func(_ int, _ sinks.Row, e error) {
			denied(e, "stranger lacks the permission READ on "+ns+":blocks")
		})
		if err != nil {
			denied(err, "stranger lacks the permission READ on "+ns+":blocks")
		}
	} else {
		denied(err, "stranger", "lacks the permission", ns+":")
	}
	server.Grant(t, "reader", ns, "RC")
	granted(t, func() error { s, err = open("reader", false); return err })
	denied(s.Catalog.Swap(t.Context(), []byte("k2"), nil, []byte("v")), "lacks the permission WRITE on "+ns+":catalog")
}

// A job has a delegation token in place of a ticket, with each protection, over TLS or not.
func TestTokens(t *testing.T) {
	server := hbasetest.SharedSecure(t)
	t.Setenv("KRB5CCNAME", "FILE:"+filepath.Join(t.TempDir(), "none"))
	ns := namespace()
	rest := "//" + server.Master + "/" + ns + "?regions=3"
	server.CreateNamespace(t, ns)
	server.Grant(t, "loader", ns, "RWC")
	granted(t, func() error { return Create(t.Context(), rest, Options{Security: as(server, "loader")}) })
	path := server.TokenFile(t, "loader")
	t.Setenv("HADOOP_TOKEN_FILE_LOCATION", path)
	o := Options{Security: security.Options{Config: server.KDC.Config}}
	for _, protection := range []string{"", "authentication", "integrity", "privacy"} {
		for _, ca := range []string{"", server.TLS.CA} {
			o.Security.Protection, o.Security.TLS.CA = protection, ca
			if err := Create(t.Context(), rest, o); err != nil {
				t.Errorf("%s %s: %v", protection, ca, err)
			}
		}
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	put := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// With tokens of two clusters the server is asked which one it is.
	token := file[len("HDTS\x00\x01") : len(file)-1]
	cluster := token[len(token)-36:]
	other := bytes.Replace(token, cluster, bytes.Repeat([]byte("x"), 36), 1)
	put(slices.Concat([]byte("HDTS\x00\x02"), other, token, []byte{0}))
	if err := Create(t.Context(), rest, o); err != nil {
		t.Error(err)
	}
	fails := func(want ...string) {
		t.Helper()
		err := Create(t.Context(), rest, o)
		for _, w := range want {
			if !errors.Is(err, security.ErrRefused) || !strings.Contains(err.Error(), w) {
				t.Errorf("%v, want %q", err, w)
			}
		}
	}
	put(slices.Concat([]byte("HDTS\x00\x02"), other, other, []byte{0}))
	fails("none of 2 HBase tokens is for cluster " + string(cluster))
	forged := bytes.Clone(file)
	forged[bytes.Index(file, []byte("HBASE_AUTH_TOKEN"))-3] ^= 1 // of the password
	put(forged)
	fails("refuses the delegation token of loader@SYMLAKE.TEST for cluster "+string(cluster), "good until", "start the job with a new token")
	put(file[:50])
	fails(path, "ends in the middle")
	// Without a token and a ticket the server's demand is told.
	t.Setenv("HADOOP_TOKEN_FILE_LOCATION", "")
	fails("run kinit")
}

// The suite of all stores, as an ordinary user of HBase: under each protection, over TLS and not, by a keytab, a
// ticket and a token. Its rows arrive by secure bulk load. One test of the suite after the other has the next of these
// forms; with SYMLAKE_SUITES=1 each form has the whole suite.
func TestSecureStores(t *testing.T) {
	server := hbasetest.SharedSecure(t)
	server.Grant(t, "worker", "", "RWC")
	keytab := as(server, "worker")
	ticket := security.Options{Config: server.KDC.Config, Cache: "FILE:" + server.KDC.Login(t, "worker")}
	token := security.Options{TokenFile: server.TokenFile(t, "worker")}
	first := namespace()
	server.CreateNamespace(t, first)
	granted(t, func() error {
		return Create(t.Context(), "//"+server.Master+"/"+first+"?regions=1", Options{Security: keytab})
	})
	var forms []Options
	for i, most := range []string{"authentication", "integrity", "privacy", "authentication", "integrity", "privacy"} {
		o := []security.Options{keytab, ticket, token, ticket, token, keytab}[i]
		if o.Protection = most; i >= 3 {
			o.TLS.CA = server.TLS.CA
		}
		forms = append(forms, Options{Security: o, most: most})
	}
	ready := func(namespace string) { server.CreateNamespace(t, namespace) }
	if os.Getenv("SYMLAKE_SUITES") == "" {
		next := 0 // the last test of the suite has the form that costs least: readers beside a writer
		testStore(t, server, func() Options { next++; return forms[next%len(forms)] }, ready)
		return
	}
	for i, o := range forms {
		t.Run(fmt.Sprintf("%s, TLS %v", o.most, i >= 3), func(t *testing.T) {
			testStore(t, server, func() Options { return o }, ready)
		})
	}
}
