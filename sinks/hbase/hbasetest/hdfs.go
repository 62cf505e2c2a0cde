package hbasetest

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/sinks/hbase/hbasetest/secure"
)

// HDFSOptions say what kind of HDFS to start. The zero value has one DataNode and no security.
type HDFSOptions struct {
	DataNodes int  // 0: 1. With several, each block has a copy on each, up to 3
	Fast      bool // compile as a server would
	// Standby adds a second NameNode of the name service "lake", which stands by.
	Standby bool
	// KDC, unless nil, makes NameNodes demand Kerberos, and DataNodes a login by block tokens.
	KDC  *secure.KDC
	Site map[string]string // further properties of core-site.xml and hdfs-site.xml, for servers and clients
	// Each are properties of DataNodes alone, in their order.
	Each []map[string]string

	record bool // archives of classes
}

// HDFS is NameNodes and DataNodes.
type HDFS struct {
	NameNode string // host:port of its RPC
	Root     string // hdfs://NameNode, or hdfs://lake
	Conf     string // folder of core-site.xml and hdfs-site.xml, for clients
	Dir      string

	NameNodes, DataNodes []*Daemon

	kdc  *secure.KDC
	site map[string]string // what clients have to know
}

// Daemon is one process of an HDFS.
type Daemon struct {
	Address string // host:port of a NameNode's RPC, or of a DataNode's blocks
	web     string

	jvm  jvm
	proc *process
}

// Kill ends the process as a crash would.
func (d *Daemon) Kill() { d.proc.Kill() }

// Pause has the process stand still, or go on.
func (d *Daemon) Pause(t testing.TB, stop bool) {
	t.Helper()
	if err := d.proc.Pause(stop); err != nil {
		t.Fatal(err)
	}
}

// Log is what the process printed since it was last started.
func (d *Daemon) Log(t testing.TB) string {
	t.Helper()
	log, err := os.ReadFile(d.jvm.log)
	if err != nil {
		t.Fatal(err)
	}
	return string(log)
}

// StartHDFS starts an HDFS that ends with the test.
func StartHDFS(t testing.TB, o HDFSOptions) *HDFS {
	t.Helper()
	lib, java := Lib(t), Java(t)
	h, err := startHDFS(lib, java, t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.kill)
	return h
}

const nameService = "lake"

func startHDFS(lib, java, dir string, o HDFSOptions) (*HDFS, error) {
	nodes, names := max(o.DataNodes, 1), 1
	if o.Standby {
		names = 2
	}
	free, err := ports(2*names + 3*nodes)
	if err != nil {
		return nil, err
	}
	port := func() (address string) {
		address = "localhost:" + strconv.Itoa(free[0])
		free = free[1:]
		return address
	}
	h := &HDFS{Dir: dir, Conf: filepath.Join(dir, "conf"), kdc: o.KDC}
	for range names {
		h.NameNodes = append(h.NameNodes, &Daemon{Address: port(), web: port()})
	}
	h.NameNode, h.Root = h.NameNodes[0].Address, "hdfs://"+h.NameNodes[0].Address
	h.site = map[string]string{"dfs.replication": strconv.Itoa(min(nodes, 3))}
	if o.Standby {
		h.Root = "hdfs://" + nameService
		h.standby()
	}
	if o.KDC != nil {
		h.secure()
	}
	maps.Copy(h.site, o.Site)
	h.site["fs.defaultFS"] = h.Root
	if err := h.configure(h.Conf, nil); err != nil {
		return nil, err
	}
	program := func(d *Daemon, name, class string, own map[string]string) error {
		d.jvm = jvm{java: java, lib: lib, conf: filepath.Join(dir, name), log: filepath.Join(dir, name+".log"), heap: "300m", long: o.Fast, record: o.record,
			main: []string{"org.apache.hadoop.hdfs.server." + class}}
		if o.KDC != nil {
			d.jvm.options = append(d.jvm.options, "-Djava.security.krb5.conf="+o.KDC.Config)
		}
		return h.configure(d.jvm.conf, own)
	}
	for i, n := range h.NameNodes {
		own := map[string]string{"dfs.namenode.name.dir": filepath.Join(dir, fmt.Sprint("nn", i)), "dfs.namenode.http-address": n.web,
			"dfs.namenode.safemode.extension": "0", "dfs.namenode.rpc-bind-host": "127.0.0.1"}
		if o.Standby {
			own["dfs.ha.namenode.id"] = fmt.Sprint("nn", i)
			own["dfs.namenode.http-address."+nameService+".nn"+fmt.Sprint(i)] = n.web
		}
		if err := program(n, fmt.Sprint("namenode", i), "namenode.NameNode", own); err != nil {
			return nil, err
		}
	}
	if err := h.format(); err != nil {
		return nil, err
	}
	for i := range nodes {
		d := &Daemon{Address: port()}
		_, number, _ := net.SplitHostPort(d.Address)
		own := map[string]string{"dfs.datanode.data.dir": filepath.Join(dir, fmt.Sprint("dn", i)), "dfs.datanode.address": "127.0.0.1:" + number,
			"dfs.datanode.http.address": port(), "dfs.datanode.ipc.address": port(), "dfs.datanode.hostname": "localhost"}
		if i < len(o.Each) {
			maps.Copy(own, o.Each[i])
		}
		if err := program(d, fmt.Sprint("datanode", i), "datanode.DataNode", own); err != nil {
			return nil, err
		}
		h.DataNodes = append(h.DataNodes, d)
	}
	for _, d := range append(append([]*Daemon{}, h.NameNodes...), h.DataNodes...) {
		if d.proc, err = d.jvm.start(); err != nil {
			h.kill()
			return nil, err
		}
	}
	return h, h.wait(nodes)
}

// configure writes the configuration of all, with own for one server.
func (h *HDFS) configure(conf string, own map[string]string) error {
	for _, d := range []string{"webapps/hdfs", "webapps/datanode"} { // the daemons only want these to exist on the class path
		if err := os.MkdirAll(filepath.Join(conf, d), 0o755); err != nil {
			return err
		}
	}
	core, rest := map[string]string{"hadoop.tmp.dir": filepath.Join(conf, "tmp")}, maps.Clone(h.site)
	for key, v := range h.site {
		if strings.HasPrefix(key, "hadoop.") || strings.HasPrefix(key, "fs.") {
			core[key] = v
			delete(rest, key)
		}
	}
	maps.Copy(rest, own)
	if err := site(filepath.Join(conf, "core-site.xml"), core); err != nil {
		return err
	}
	if err := site(filepath.Join(conf, "hdfs-site.xml"), rest); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(conf, "log4j2.properties"), []byte(strings.Replace(logging, "INFO,out", "WARN,out", 1)), 0o644)
}

// standby makes a name service of the NameNodes, which share a folder of edits.
func (h *HDFS) standby() {
	h.site["dfs.nameservices"] = nameService
	h.site["dfs.ha.namenodes."+nameService] = "nn0,nn1"
	for i, n := range h.NameNodes {
		h.site[fmt.Sprintf("dfs.namenode.rpc-address.%s.nn%d", nameService, i)] = n.Address
		h.site[fmt.Sprintf("dfs.namenode.http-address.%s.nn%d", nameService, i)] = n.web
	}
	h.site["dfs.namenode.shared.edits.dir"] = "file://" + filepath.Join(h.Dir, "edits")
	h.site["dfs.client.failover.proxy.provider."+nameService] = "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider"
	h.site["dfs.ha.fencing.methods"] = "shell(/bin/true)"
	h.site["dfs.ha.tail-edits.period"] = "1s"
	h.site["dfs.ha.log-roll.period"] = "2s"
}

// secure has servers log in by keytabs.
func (h *HDFS) secure() {
	const principal = "hdfs/localhost@" + secure.Realm
	keytab := h.kdc.Keytab("hdfs")
	maps.Copy(h.site, map[string]string{
		"hadoop.security.authentication":             "kerberos",
		"hadoop.rpc.protection":                      "authentication,integrity,privacy",
		"dfs.block.access.token.enable":              "true",
		"dfs.namenode.kerberos.principal":            principal,
		"dfs.namenode.keytab.file":                   keytab,
		"dfs.datanode.kerberos.principal":            principal,
		"dfs.datanode.keytab.file":                   keytab,
		"dfs.web.authentication.kerberos.principal":  "HTTP/localhost@" + secure.Realm,
		"dfs.web.authentication.kerberos.keytab":     h.kdc.Keytab("HTTP"),
		"dfs.data.transfer.protection":               "privacy",
		"ignore.secure.ports.for.testing":            "true", // else its web pages need certificates
		"dfs.namenode.kerberos.principal.pattern":    "*",
		"hadoop.security.token.service.use_ip":       "true",
		"dfs.namenode.delegation.token.always-use":   "true",
		"dfs.namenode.delegation.token.max-lifetime": "86400000",
	})
}

// format makes the folders of the NameNodes.
func (h *HDFS) format() error {
	run := func(n *Daemon, args ...string) error {
		j := n.jvm
		j.record = false // the NameNode that stays writes it
		j.main, j.log = append(append([]string{}, j.main...), args...), filepath.Join(h.Dir, "format.log")
		p, err := j.start()
		if err != nil {
			return err
		}
		<-p.Ended
		if !p.Cmd.ProcessState.Success() {
			log, _ := os.ReadFile(j.log)
			return fmt.Errorf("%v: %s", args, log[max(0, len(log)-4000):])
		}
		return nil
	}
	if err := run(h.NameNodes[0], "-format", "-force", "-nonInteractive"); err != nil {
		return err
	}
	if len(h.NameNodes) > 1 { // the second begins with the first one's image
		return os.CopyFS(filepath.Join(h.Dir, "nn1"), os.DirFS(filepath.Join(h.Dir, "nn0")))
	}
	return nil
}

// wait waits until the NameNode knows its DataNodes.
func (h *HDFS) wait(nodes int) error {
	for deadline := time.Now().Add(startPatience); ; time.Sleep(50 * time.Millisecond) {
		why := ""
		for _, d := range append(append([]*Daemon{}, h.NameNodes...), h.DataNodes...) {
			select {
			case <-d.proc.Ended:
				log, _ := os.ReadFile(d.jvm.log)
				why = fmt.Sprintf("%s ended:\n%s", d.jvm.main[0], log[max(0, len(log)-4000):])
			default:
			}
		}
		switch {
		case why == "" && h.live(nodes):
			return nil
		case time.Now().After(deadline):
			why = fmt.Sprintf("HDFS is not ready after %v:", startPatience)
			for _, d := range append(append([]*Daemon{}, h.NameNodes...), h.DataNodes...) {
				log, _ := os.ReadFile(d.jvm.log)
				why += fmt.Sprintf("\n%s:\n%s", d.jvm.main[0], log[max(0, len(log)-1500):])
			}
		}
		if why != "" {
			h.kill()
			return fmt.Errorf("%s", why)
		}
	}
}

// live: each NameNode knows the DataNodes.
func (h *HDFS) live(nodes int) bool {
	for _, n := range h.NameNodes {
		if !n.live(nodes) {
			return false
		}
	}
	return true
}

// live: the NameNode knows the DataNodes.
func (d *Daemon) live(nodes int) bool {
	res, err := http.Get("http://" + d.web + "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystem")
	if err != nil {
		return false
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return err == nil && strings.Contains(string(body), fmt.Sprintf(`"NumLiveDataNodes" : %d`, nodes))
}

func (h *HDFS) kill() {
	for _, d := range append(append([]*Daemon{}, h.NameNodes...), h.DataNodes...) {
		if d.proc != nil {
			d.proc.Kill()
		}
	}
}

// Pids are the process ids of NameNodes and DataNodes, for their processor time.
func (h *HDFS) Pids() []int {
	var list []int
	for _, d := range append(append([]*Daemon{}, h.NameNodes...), h.DataNodes...) {
		list = append(list, d.proc.Cmd.Process.Pid)
	}
	return list
}
