package hbasetest

import (
	"bytes"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/symlake/symlake/sinks/hbase/hbasetest/secure"
)

// Options say what kind of HBase to start. The zero value is what most tests want.
type Options struct {
	Heap    string            // of the Java process; "" is 512m
	Root    string            // hbase.rootdir; "" is a local folder of the server
	HDFS    *HDFS             // where it keeps its files, under /hbase, in place of Root; nil: on Root
	User    string            // the user that HDFS knows HBase as; "": the user of the test
	Servers int               // region servers, all in the one process; 0 is 1
	Fast    bool              // compile as a server would: worth its start for benchmarks only
	Site    map[string]string // further properties of hbase-site.xml
	Until   string            // text in the log that ends the wait for the server; "": the server is ready

	// KDC, unless nil, makes the server demand Kerberos: with each protection, access control, tokens, and
	// secure bulk load. Its superuser is hbase.
	KDC *secure.KDC
	// TLS, unless nil, are the certificates of the server, which then takes TLS on each port.
	TLS *secure.Files
	// TLSOnly has the server refuse connections without TLS; ClientCertificate has it demand a certificate.
	TLSOnly, ClientCertificate bool

	record bool // an archive of classes
}

// Server is a running HBase: master, region servers and ZooKeeper in one process.
type Server struct {
	Dir       string        // its folder
	Root      string        // hbase.rootdir
	Master    string        // host:port
	Region    string        // host:port of the region server; "" when there are several
	ZooKeeper string        // host:port
	Lib       string        // the jars
	KDC       *secure.KDC   // of Options
	TLS       *secure.Files // of Options

	until string
	jvm   jvm
	proc  *process
}

// Start starts an HBase that ends with the test.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	lib, java := Lib(t), Java(t)
	s, err := start(lib, java, t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.proc.Kill() })
	return s
}

var shared struct {
	once sync.Once
	cleaner
	server *Server
	err    error
}

// Shared is one HBase for all tests of the program, with a single region server, which Main
// ends. It takes TLS, too. Tests that stop it or that count on being alone start their own.
func Shared(t testing.TB) *Server {
	t.Helper()
	lib, java := Lib(t), Java(t)
	shared.once.Do(func() {
		var dir string
		if dir, shared.err = os.MkdirTemp("", "symlake-hbase-"); shared.err != nil {
			return
		}
		shared.add(func() { os.RemoveAll(dir) })
		var o Options
		if o.TLS, shared.err = secure.NewTLSFiles(dir); shared.err != nil {
			return
		}
		if shared.server, shared.err = start(lib, java, dir, o); shared.err == nil {
			shared.add(shared.server.Kill)
		}
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server
}

func start(lib, java, dir string, o Options) (*Server, error) {
	var err error
	for range 3 { // another program may take a port in between
		var s *Server
		if s, err = prepare(lib, java, dir, o); err != nil {
			return nil, err
		}
		if err = s.run(); err == nil {
			return s, nil
		}
	}
	return nil, err
}

// prepare writes the configuration.
func prepare(lib, java, dir string, o Options) (*Server, error) {
	free, err := ports(3)
	if err != nil {
		return nil, err
	}
	conf := filepath.Join(dir, "conf")
	for _, d := range []string{conf, filepath.Join(dir, "tmp")} {
		if err := os.MkdirAll(d, 0o777); err != nil {
			return nil, err
		}
	}
	address := func(port int) string { return "localhost:" + strconv.Itoa(port) }
	s := &Server{Dir: dir, Root: o.Root, Master: address(free[1]), Region: address(free[2]), ZooKeeper: address(free[0]), Lib: lib,
		KDC: o.KDC, TLS: o.TLS, until: o.Until}
	if s.until == "" {
		s.until = "Master has completed initialization"
	}
	if o.HDFS != nil {
		s.Root = o.HDFS.Root + "/hbase"
	}
	if s.Root == "" {
		s.Root = "file://" + filepath.Join(dir, "hbase")
	}
	p := map[string]string{
		"hbase.cluster.distributed":                   "false",
		"hbase.tmp.dir":                               filepath.Join(dir, "tmp"),
		"hbase.rootdir":                               s.Root,
		"hbase.unsafe.stream.capability.enforce":      "false",
		"hbase.wal.provider":                          "filesystem",
		"hbase.zookeeper.quorum":                      "127.0.0.1",
		"hbase.zookeeper.property.clientPort":         strconv.Itoa(free[0]),
		"hbase.zookeeper.property.dataDir":            filepath.Join(dir, "zk"),
		"hbase.master.port":                           strconv.Itoa(free[1]),
		"hbase.regionserver.port":                     strconv.Itoa(free[2]),
		"hbase.master.info.port":                      "-1",
		"hbase.regionserver.info.port":                "-1",
		"hbase.master.hostname":                       "localhost",
		"hbase.unsafe.regionserver.hostname":          "localhost",
		"hbase.master.ipc.address":                    "127.0.0.1",
		"hbase.regionserver.ipc.address":              "127.0.0.1",
		"hbase.regionserver.handler.count":            "10",
		"hbase.hstore.bulkload.verify":                "true",
		"hbase.hregion.majorcompaction":               "0",
		"hbase.hregion.memstore.mslab.enabled":        "false", // saves 2 MiB for each of many small regions
		"hbase.hfile.compaction.discharger.interval":  "500",   // ms until what a compaction replaced is archived
		"hbase.status.published":                      "false",
		"hbase.master.wait.on.regionservers.timeout":  "200", // these three: to start sooner
		"hbase.master.wait.on.regionservers.interval": "100",
		"hbase.regionserver.msginterval":              "300",
		"hbase.regionserver.metrics.period":           "200",
	}
	if o.Servers > 1 {
		p["hbase.regionservers"] = strconv.Itoa(o.Servers)
		p["hbase.regionserver.port"] = "0"
		s.Region = ""
	}
	if err := o.secure(conf, p); err != nil {
		return nil, err
	}
	if o.HDFS != nil {
		maps.Copy(p, o.HDFS.site)
	}
	maps.Copy(p, o.Site)
	if err := site(filepath.Join(conf, "hbase-site.xml"), p); err != nil {
		return nil, err
	}
	for name, text := range map[string]string{"log4j2.properties": logging, "hadoop-metrics2-hbase.properties": "*.period=1\n"} {
		if err := os.WriteFile(filepath.Join(conf, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	s.jvm = jvm{java: java, lib: lib, conf: conf, log: filepath.Join(dir, "log"), heap: o.Heap, long: o.Fast, record: o.record,
		main: []string{"org.apache.hadoop.hbase.master.HMaster", "start"}}
	if o.Heap == "" {
		s.jvm.heap = "512m"
	}
	if o.KDC != nil {
		s.jvm.options = append(s.jvm.options, "-Djava.security.krb5.conf="+o.KDC.Config)
	}
	if o.User != "" {
		s.jvm.env = []string{"HADOOP_USER_NAME=" + o.User}
	}
	return s, nil
}

// secure adds what KDC and TLS of the options ask of the server.
func (o *Options) secure(conf string, p map[string]string) error {
	if f := o.TLS; f != nil {
		maps.Copy(p, map[string]string{
			"hbase.server.netty.tls.enabled":          "true",
			"hbase.server.netty.tls.supportplaintext": strconv.FormatBool(!o.TLSOnly),
			"hbase.client.netty.tls.enabled":          strconv.FormatBool(o.TLSOnly), // for what the server asks itself
			"hbase.server.netty.tls.client.auth.mode": "NONE",
			"hbase.rpc.tls.keystore.location":         f.Server.Both,
			"hbase.rpc.tls.keystore.type":             "PEM",
			"hbase.rpc.tls.truststore.location":       f.CA,
			"hbase.rpc.tls.truststore.type":           "PEM",
		})
		if o.ClientCertificate {
			p["hbase.server.netty.tls.client.auth.mode"] = "NEED"
		}
	}
	if o.KDC == nil {
		return nil
	}
	const principal = "hbase/localhost@" + secure.Realm
	const access, token = "org.apache.hadoop.hbase.security.access.AccessController", "org.apache.hadoop.hbase.security.token.TokenProvider"
	keytab := o.KDC.Keytab("hbase")
	maps.Copy(p, map[string]string{
		"hbase.security.authentication":                            "kerberos",
		"hbase.security.authorization":                             "true",
		"hbase.rpc.protection":                                     "authentication,integrity,privacy",
		"hbase.master.kerberos.principal":                          principal,
		"hbase.master.keytab.file":                                 keytab,
		"hbase.regionserver.kerberos.principal":                    principal,
		"hbase.regionserver.keytab.file":                           keytab,
		"hbase.coprocessor.region.classes":                         token + "," + access,
		"hbase.coprocessor.master.classes":                         access,
		"hbase.coprocessor.regionserver.classes":                   access,
		"hbase.superuser":                                          "hbase",
		"hbase.unsafe.client.kerberos.hostname.disable.reversedns": "true",
	})
	// Hadoop's UserGroupInformation reads core-site.xml only.
	return site(filepath.Join(conf, "core-site.xml"), map[string]string{
		"hadoop.security.authentication": "kerberos",
		"hadoop.security.authorization":  "true",
	})
}

func (s *Server) run() (err error) {
	if s.proc, err = s.jvm.start(); err != nil {
		return err
	}
	return s.proc.ready(s.until, startPatience)
}

// URL returns the URL of a store in a namespace of its own on this server.
func (s *Server) URL(namespace string) string {
	hosts := s.Master
	if s.Region != "" {
		hosts += "," + s.Region
	}
	return fmt.Sprintf("hbase://%s/%s", hosts, namespace)
}

// Kill ends the server as a crash would: kill -9.
func (s *Server) Kill() { s.proc.Kill() }

// Restart starts a killed server again, on its old data and ports.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
}

// Pause has every thread of the server stand still, or go on.
func (s *Server) Pause(t testing.TB, stop bool) {
	t.Helper()
	if err := s.proc.Pause(stop); err != nil {
		t.Fatal(err)
	}
	// The signal stops one thread after the other.
	for stop && !s.stands(t) {
		time.Sleep(time.Millisecond)
	}
}

// stands reports whether every thread of the server is stopped, as far as the system tells.
func (s *Server) stands(t testing.TB) bool {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", s.Process()))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it ended
		}
		if at := bytes.LastIndexByte(text, ')'); at+2 >= len(text) || text[at+2] != 'T' {
			return false
		}
	}
	return true
}

// Process is the server's process id, for its processor time.
func (s *Server) Process() int { return s.proc.Cmd.Process.Pid }

// Log is what the server printed since it was last started.
func (s *Server) Log(t testing.TB) string {
	t.Helper()
	log, err := os.ReadFile(s.proc.log)
	if err != nil {
		t.Fatal(err)
	}
	return string(log)
}

// Cluster is an HBase of several processes: ZooKeeper, a master and region servers.
type Cluster struct {
	*Server       // the master
	RegionServers []*Daemon

	zooKeeper *process
}

// StartCluster starts an HBase with o.Servers region servers, each a process of its own. It ends with the test.
func StartCluster(t testing.TB, o Options) *Cluster {
	t.Helper()
	lib, java := Lib(t), Java(t)
	o.Site = maps.Clone(o.Site)
	if o.Site == nil {
		o.Site = map[string]string{}
	}
	maps.Copy(o.Site, map[string]string{"hbase.cluster.distributed": "true", "hbase.zookeeper.quorum": "localhost", "hbase.regionserver.port": "0"})
	s, err := prepare(lib, java, t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	s.Region = ""
	c := &Cluster{Server: s}
	t.Cleanup(c.end)
	if err := c.run(max(o.Servers, 1)); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *Cluster) run(servers int) (err error) {
	j := c.jvm
	j.log, j.main = filepath.Join(c.Dir, "zookeeper.log"), []string{"org.apache.hadoop.hbase.zookeeper.HQuorumPeer"}
	if c.zooKeeper, err = j.start(); err != nil {
		return err
	}
	if err := listening(c.ZooKeeper); err != nil {
		return err
	}
	if c.proc, err = c.jvm.start(); err != nil {
		return err
	}
	for i := range servers {
		d := &Daemon{jvm: c.jvm}
		d.jvm.log = filepath.Join(c.Dir, fmt.Sprintf("regionserver%d.log", i))
		d.jvm.main = []string{"org.apache.hadoop.hbase.regionserver.HRegionServer", "start"}
		if d.proc, err = d.jvm.start(); err != nil {
			return err
		}
		c.RegionServers = append(c.RegionServers, d)
	}
	return c.proc.ready(c.until, startPatience)
}

// listening waits until a port takes connections.
func listening(address string) error {
	for deadline := time.Now().Add(startPatience); ; time.Sleep(50 * time.Millisecond) {
		nc, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			return nc.Close()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s is not ready after %v: %w", address, startPatience, err)
		}
	}
}

// end kills all processes, region servers first.
func (c *Cluster) end() {
	for _, d := range c.RegionServers {
		d.Kill()
	}
	for _, p := range []*process{c.proc, c.zooKeeper} {
		if p != nil {
			p.Kill()
		}
	}
}
