package hbasetest

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// HDFS is a NameNode and a DataNode without security.
type HDFS struct {
	NameNode string // host:port of its RPC: hdfs://NameNode/hbase is a root for HBase
	Web      string // host:port of WebHDFS
	Dir      string

	procs []*process
}

// StartHDFS starts an HDFS that ends with the test.
func StartHDFS(t testing.TB) *HDFS {
	t.Helper()
	lib, java := Lib(t), Java(t)
	h, err := startHDFS(lib, java, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.kill)
	return h
}

func startHDFS(lib, java, dir string) (*HDFS, error) {
	free, err := ports(5)
	if err != nil {
		return nil, err
	}
	conf := filepath.Join(dir, "conf")
	for _, d := range []string{"webapps/hdfs", "webapps/datanode"} { // the daemons only want these to exist on the class path
		if err := os.MkdirAll(filepath.Join(conf, d), 0o755); err != nil {
			return nil, err
		}
	}
	address := func(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }
	h := &HDFS{NameNode: address(free[0]), Web: address(free[1]), Dir: dir}
	if err := site(filepath.Join(conf, "core-site.xml"), map[string]string{
		"fs.defaultFS": "hdfs://" + h.NameNode, "hadoop.tmp.dir": filepath.Join(dir, "tmp"),
	}); err != nil {
		return nil, err
	}
	if err := site(filepath.Join(conf, "hdfs-site.xml"), map[string]string{
		"dfs.replication": "1", "dfs.namenode.name.dir": filepath.Join(dir, "nn"), "dfs.datanode.data.dir": filepath.Join(dir, "dn"),
		"dfs.namenode.http-address": h.Web, "dfs.datanode.address": address(free[2]), "dfs.datanode.http.address": address(free[3]),
		"dfs.datanode.ipc.address": address(free[4]), "dfs.datanode.hostname": "127.0.0.1", "dfs.namenode.safemode.extension": "0",
	}); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(conf, "log4j2.properties"), []byte(strings.Replace(logging, "INFO,out", "WARN,out", 1)), 0o644); err != nil {
		return nil, err
	}
	run := func(log string, main ...string) (*process, error) {
		return jvm{java: java, lib: lib, conf: conf, log: filepath.Join(dir, log), heap: "300m",
			options: []string{"-XX:TieredStopAtLevel=1"}, main: main}.start()
	}
	format, err := run("format.log", "org.apache.hadoop.hdfs.server.namenode.NameNode", "-format", "-force")
	if err != nil {
		return nil, err
	}
	<-format.ended
	for _, d := range []string{"namenode.NameNode", "datanode.DataNode"} {
		p, err := run(d+".log", "org.apache.hadoop.hdfs.server."+d)
		if err != nil {
			h.kill()
			return nil, err
		}
		h.procs = append(h.procs, p)
	}
	for deadline := time.Now().Add(startPatience); !h.live(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			h.kill()
			logs, _ := filepath.Glob(filepath.Join(dir, "*.log"))
			return nil, fmt.Errorf("HDFS is not ready after %v; it wrote %s", startPatience, strings.Join(logs, ", "))
		}
	}
	return h, nil
}

// live: the NameNode knows its DataNode.
func (h *HDFS) live() bool {
	res, err := http.Get("http://" + h.Web + "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystem")
	if err != nil {
		return false
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return err == nil && strings.Contains(string(body), `"NumLiveDataNodes" : 1`)
}

func (h *HDFS) kill() {
	for _, p := range h.procs {
		p.kill()
	}
}

// Pids are the process ids of NameNode and DataNode, for their processor time.
func (h *HDFS) Pids() []int {
	var list []int
	for _, p := range h.procs {
		list = append(list, p.cmd.Process.Pid)
	}
	return list
}
