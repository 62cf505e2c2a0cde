package hdfs

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/hbasetest/secure"
	"github.com/symlake/symlake/sinks/hbase/internal/bulk"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// long skips the forms that start several servers of their own.
func long(t *testing.T) {
	if os.Getenv("SYMLAKE_HDFS_LONG") == "" {
		t.Skip("SKIP: SYMLAKE_HDFS_LONG=1 runs it; make soak does")
	}
}

// lake is a file system of a test, and what reaches it.
type lake struct {
	t *testing.T
	h *hbasetest.HDFS
	o bulk.FileOptions
}

// put writes a file and reads it back.
func (l *lake) put(path string, size int) error {
	l.t.Helper()
	d, err := Open(l.t.Context(), l.h.Root+path, l.o)
	if err != nil {
		return err
	}
	defer d.Close()
	return l.putWith(d, path, size)
}

func (l *lake) putWith(d bulk.FileSystem, path string, size int) error {
	l.t.Helper()
	text := make([]byte, size)
	rand.NewChaCha8([32]byte{byte(size)}).Read(text)
	out, err := d.Create(l.t.Context(), l.h.Root+path)
	if err != nil {
		return err
	}
	for rest := text; len(rest) > 0; {
		n := min(len(rest), 70_001)
		if _, err := out.Write(rest[:n]); err != nil {
			out.Abort()
			return err
		}
		rest = rest[n:]
	}
	if err := out.Close(); err != nil {
		return err
	}
	in, err := d.Open(l.t.Context(), l.h.Root+path)
	if err != nil {
		return err
	}
	defer in.Close()
	got := make([]byte, in.Size())
	if _, err := in.ReadAt(got, 0); err != nil {
		return err
	}
	if !bytes.Equal(got, text) {
		l.t.Errorf("%s: %d bytes are not the %d that were written", path, len(got), size)
	}
	return nil
}

// refuses checks that a write ends in a sentence with each of the words.
func (l *lake) refuses(path string, words ...string) {
	l.t.Helper()
	err := l.put(path, 1000)
	if err == nil {
		l.t.Fatalf("%s was written", path)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			l.t.Errorf("%v: says nothing of %q", err, w)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		l.t.Errorf("%v: several lines", err)
	}
	l.t.Log(err)
}

// TestNameService: a name service of two NameNodes under Kerberos, and DataNodes that protect each in a way of its own.
func TestNameService(t *testing.T) {
	long(t)
	kdc := secure.StartKDC(t)
	protection := func(s string) map[string]string { return map[string]string{"dfs.data.transfer.protection": s} }
	h := hbasetest.StartHDFS(t, hbasetest.HDFSOptions{KDC: kdc, Standby: true, DataNodes: 3,
		Each: []map[string]string{protection("authentication"), protection("integrity"), protection("authentication,privacy")},
		Site: map[string]string{"dfs.replication": "1", "dfs.data.transfer.protection": "authentication,integrity,privacy",
			"dfs.namenode.fs-limits.min-block-size": "1024", "dfs.blocksize": "1048576", "dfs.client.block.write.replace-datanode-on-failure.policy": "NEVER"}})
	h.Activate(t, h.NameNodes[0])
	h.MakeFolder(t, "/lake", "loader")
	h.MakeFolder(t, "/theirs", "reader")
	loader := security.Options{Config: kdc.Config, Keytab: kdc.Keytab("loader")}
	l := &lake{t, h, bulk.FileOptions{HadoopConf: h.Conf, Security: loader, Notice: func(s string) { t.Log(s) }}}
	for _, size := range []int{0, 1, 511, 65536, 5<<20 + 3} {
		if err := l.put("/lake/a/"+filepath.Base(t.TempDir()), size); err != nil {
			t.Fatal(size, err)
		}
	}
	d, err := Open(t.Context(), h.Root+"/lake", l.o)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for range 24 { // each DataNode gets some
		if err := l.putWith(d, "/lake/b/"+bulk.FileName(), 300_000); err != nil {
			t.Fatal(err)
		}
	}

	t.Run("token", func(t *testing.T) { l.byToken(d) })
	t.Run("refused", func(t *testing.T) {
		l := *l
		l.t = t
		l.refuses("/theirs/x/y", "loader@SYMLAKE.TEST may not", "/theirs/x")
		h.SafeMode(t, true)
		l.refuses("/lake/a/safe", "safe mode")
		h.SafeMode(t, false)
		h.MakeFolder(t, "/small", "loader")
		h.Quota(t, "/small", 1, 1<<40)
		l.refuses("/small/x/y", "quota", "setQuota")
		l.o.Security.Protection = "privacy"
		l.o.HadoopConf = confWith(t, h.Conf, "dfs.data.transfer.protection", "integrity")
		l.refuses("/lake/a/p", "dfs.data.transfer.protection is integrity", "hbase.protection asks for privacy", "--hfiles-out")
		l.o.Security = security.Options{Config: kdc.Config, Cache: "FILE:" + t.TempDir() + "/none"}
		l.o.HadoopConf = h.Conf
		l.refuses("/lake/a/p", "asks for Kerberos", "kinit")
		l.o.Security.Mode = "simple"
		l.refuses("/lake/a/p", "demands Kerberos")
		l.o.Security = loader
		l.o.HadoopConf = confWith(t, h.Conf, "dfs.namenode.kerberos.principal", "namenode/_HOST@SYMLAKE.TEST")
		l.refuses("/lake/a/p", "dfs.namenode.kerberos.principal", "namenode/localhost")
	})

	// The active NameNode dies while a file is open; the other one goes on.
	out, err := d.Create(t.Context(), h.Root+"/lake/b/failover")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write(make([]byte, 1_500_000)); err != nil {
		t.Fatal(err)
	}
	h.NameNodes[0].Kill()
	h.Activate(t, h.NameNodes[1])
	if _, err := out.Write(make([]byte, 1_500_000)); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.putWith(d, "/lake/b/after", 2_000_000); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Open(t.Context(), h.Root+"/lake/b/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open of no file: %v", err)
	}
	// A NameNode that has another key than the KDC. DataNodes that died.
	for _, n := range h.DataNodes {
		n.Kill()
	}
	l.refuses("/lake/a/dead", "run it again")
}

// byToken writes with a delegation token alone, as a job of YARN's does.
func (l *lake) byToken(d bulk.FileSystem) {
	l.t.Helper()
	tok, err := d.Token(l.t.Context())
	if err != nil || tok == nil {
		l.t.Fatal(tok, err)
	}
	b := append([]byte("HDTS\x00\x01"), 1, 'x')
	for _, v := range [][]byte{tok.Identifier, tok.Password, []byte(tok.Kind), []byte(tok.Service)} {
		if len(v) > 127 {
			b = append(b, 0x8f)
		}
		b = append(append(b, byte(len(v))), v...)
	}
	file := filepath.Join(l.t.TempDir(), "tokens")
	if err := os.WriteFile(file, append(b, 0), 0o600); err != nil {
		l.t.Fatal(err)
	}
	job := *l
	job.o.Security = security.Options{Config: l.o.Security.Config, TokenFile: file}
	if err := job.put("/lake/a/by-token", 100_000); err != nil {
		l.t.Fatal(err)
	}
	tok.Password = bytes.Clone(tok.Password)
}

// confWith is a copy of a configuration with one property changed.
func confWith(t *testing.T, from, key, value string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"core-site.xml", "hdfs-site.xml"} {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		more := "<property><name>" + key + "</name><value>" + value + "</value></property></configuration>"
		if name == "hdfs-site.xml" {
			b = []byte(strings.Replace(string(b), "</configuration>", more, 1))
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestEncryptedTransfer: DataNodes that encrypt blocks, by AES, RC4 and 3DES.
func TestEncryptedTransfer(t *testing.T) {
	long(t)
	for name, site := range map[string]map[string]string{
		"AES":  {"dfs.encrypt.data.transfer.cipher.suites": "AES/CTR/NoPadding"},
		"RC4":  {"dfs.encrypt.data.transfer.algorithm": "rc4"},
		"3DES": {"dfs.encrypt.data.transfer.algorithm": "3des"},
	} {
		t.Run(name, func(t *testing.T) {
			kdc := secure.StartKDC(t)
			site["dfs.encrypt.data.transfer"] = "true"
			h := hbasetest.StartHDFS(t, hbasetest.HDFSOptions{KDC: kdc, Site: site})
			h.MakeFolder(t, "/lake", "loader")
			l := &lake{t, h, bulk.FileOptions{Security: security.Options{Config: kdc.Config, Keytab: kdc.Keytab("loader"), Protection: "privacy"}}}
			for _, conf := range []string{h.Conf, ""} { // the NameNode itself says that blocks are encrypted
				l.o.HadoopConf = conf
				if err := l.put("/lake/a/"+filepath.Base(t.TempDir())+filepath.Base(conf), 3<<20); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestPlainErrors: an HDFS without security, and clients that expect one with it.
func TestPlainErrors(t *testing.T) {
	long(t)
	kdc := secure.StartKDC(t)
	h := hbasetest.StartHDFS(t, hbasetest.HDFSOptions{})
	h.MakeFolder(t, "/lake", "loader")
	l := &lake{t, h, bulk.FileOptions{Security: security.Options{Config: kdc.Config, Keytab: kdc.Keytab("loader")}}}
	l.refuses("/lake/x/y", "knows no Kerberos", "hbase.security: simple")
	l.o.User = "loader"
	l.o.Security.AllowInsecureFallback = true
	if err := l.put("/lake/x/y", 1000); err != nil {
		t.Error(err)
	}
	l.o.Security = security.Options{Mode: "simple"}
	if err := l.put("/lake/x/z", 1000); err != nil {
		t.Error(err)
	}
	h.DataNodes[0].Kill()
	l.refuses("/lake/x/dead", "run it again")
}
