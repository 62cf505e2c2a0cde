package jobs

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/hbasetest/secure"
)

// TestHBaseSecure runs the commands against a real server with Kerberos, access control and TLS. No command acts as HBase's
// own user. make soak kills loaders and the server here, by SYMLAKE_STORM_KILLS.
func TestHBaseSecure(t *testing.T) {
	t.Parallel()
	server := hbasetest.Start(t, hbasetest.Options{KDC: secure.StartKDC(t), TLS: secure.TLSFiles(t)})
	keyset := filepath.Join(t.TempDir(), "keyset.json")
	names := 0
	// named makes a namespace for worker and reader. as returns the flags of a user for it.
	named := func() (as func(user string) []string) {
		names++
		ns := fmt.Sprintf("secure%d", names)
		server.CreateNamespace(t, ns)
		server.Grant(t, "worker", ns, "RWC")
		server.Grant(t, "reader", ns, "R")
		return func(user string) []string {
			return []string{"--store", server.URL(ns) + "?regions=4", "--keyset", keyset, "--lake", "off", "--set", "hbase.krb5_conf=" + server.KDC.Config,
				"--set", "hbase.keytab=" + server.KDC.Keytab(user), "--set", "hbase.protection=privacy", "--set", "hbase.tls_ca=" + server.TLS.CA}
		}
	}
	objects := formattest.Testdata(t, "elf")
	embedded := []string{"--store", filepath.Join(t.TempDir(), "embedded"), "--lake", "off"}
	mustRun(t, []int{0, 3}, append(slices.Clone(embedded), "ingest", objects)...)
	wantDigest, wantLedger := stateOf(t, slices.Clone(embedded)...)
	same := func(store []string) {
		t.Helper()
		digest, ledger := stateOf(t, slices.Clone(store)...)
		if digest != wantDigest || ledger != wantLedger {
			t.Errorf("digest %s, want %s; the ledger (-want +got)\n%s", digest, wantDigest, cmp.Diff(wantLedger, ledger))
		}
	}
	run := func(codes []int, store []string, words ...string) (string, string) {
		t.Helper()
		return mustRun(t, codes, slices.Concat(store, words)...)
	}
	// ready makes a store, once servers have heard of the grants.
	ready := func(store []string) {
		t.Helper()
		formattest.Await(t, "the grants", func() bool {
			_, said := run([]int{0, 1, 2}, store, "ingest", t.TempDir())
			return !strings.Contains(said, "lacks the permission")
		})
	}
	as := named()
	ready(as("worker"))
	run([]int{0, 3}, as("worker"), "ingest", objects)
	same(as("worker"))
	run([]int{0}, as("worker"), "gc", "--grace", "0s")
	same(as("reader"))
	name := "libgame-arm64-dw5.so"
	want, _ := run([]int{0, 1}, embedded, "lookup", name, "0x1000")
	if got, _ := run([]int{0, 1}, as("reader"), "lookup", name, "0x1000"); got != want {
		t.Errorf("a reader hears %s, want %s", got, want)
	}
	for _, c := range []struct {
		user, command string
		codes         []int
	}{
		{"reader", "ingest " + objects, []int{1, 2}}, {"reader", "gc", []int{1, 2}}, {"reader", "init", []int{1, 2}},
		{"stranger", "lookup " + name + " 0x1000", []int{1, 2}}, {"stranger", "verify --digest", []int{1, 2}}, {"stranger", "ingest " + objects, []int{1, 2}},
	} {
		_, said := run(c.codes, as(c.user), strings.Fields(c.command)...)
		lines := strings.Split(strings.TrimSpace(said), "\n") // lookup logs each position, too
		said = lines[len(lines)-1]
		if strings.Count(said, "user "+c.user) != 1 || strings.Count(said, "lacks the permission") != 1 || !strings.Contains(said, "secure1:") {
			t.Errorf("%s as %s: want one sentence on the permission, got %s", c.command, c.user, said)
		}
	}
	if _, said := run([]int{1, 2}, slices.Concat(as("worker"), []string{"--set", "hbase.tls_server_name=other.test"}), "verify", "--digest"); !strings.Contains(said, "not for other.test") {
		t.Error(said)
	}
	if os.Getenv("SYMLAKE_STORM_KILLS") != "" {
		stormSecure(t, server, named, ready, same, objects)
	}
}

// stormSecure kills loaders and the server in turn, while a loader works.
func stormSecure(t *testing.T, server *hbasetest.Server, named func() func(string) []string, ready, same func([]string), objects string) {
	var whole time.Duration
	for done := 0; done < stormDeaths(t, 0) && !t.Failed(); done += 2 {
		store := named()("worker")
		ready(store)
		load := slices.Concat(store, []string{"ingest", objects})
		began := time.Now()
		if whole == 0 {
			mustRun(t, []int{0, 3}, load...)
			whole = time.Since(began)
			same(store)
			store = named()("worker")
			ready(store)
			load = slices.Concat(store, []string{"ingest", objects})
		}
		killed := symlake(t, load...)
		if err := killed.Start(); err != nil {
			t.Fatal(err)
		}
		killAfter(killed, rand.N(whole))
		loader := symlake(t, load...)
		var said bytes.Buffer
		loader.Stderr = &said
		if err := loader.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(whole)) // any moment will do
		server.Kill()
		server.Restart(t)
		_ = loader.Wait()
		if code := loader.ProcessState.ExitCode(); code != 0 && code != 3 {
			t.Logf("the loader gave up with %d: %s", code, &said)
			mustRun(t, []int{0, 3}, load...)
		}
		same(store)
	}
}
