package hbasetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A JVM maps the classes of an archive in place of reading them from jars, which halves the processor time of a start:
// 5.7 to 3.1 s for HBase. The archives are in a folder beside the jars, one for each main class.

// Main is the TestMain of a package that uses Shared. It makes the archives first if there are none.
func Main(m *testing.M) {
	if lib, ok := library(); ok {
		if java, err := exec.LookPath("java"); err == nil {
			record(lib, java)
		}
	}
	code := m.Run()
	shared.run()
	os.Exit(code)
}

// record makes the archives if there are none. It starts an HDFS and an HBase on it once, and ends them in peace. Two
// programs may do so at once; the first one's archives stay. Where lib is read-only, or a server fails, tests start without.
func record(lib, java string) {
	folder := archives(lib, java)
	if _, err := os.Stat(folder); err == nil {
		return
	}
	dir, err := os.MkdirTemp(lib, "recording-")
	if err != nil {
		return
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "made")
	if err := os.Mkdir(made, 0o777); err != nil {
		return
	}
	if recordAll(lib, java, dir) != nil {
		return
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.jsa"))
	if err != nil {
		return
	}
	for _, file := range files {
		if os.Rename(file, filepath.Join(made, filepath.Base(file))) != nil {
			return
		}
	}
	_ = os.Rename(made, folder) // another program may have been first
}

func recordAll(lib, java, dir string) error {
	for _, d := range []string{"hdfs", "hbase"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o777); err != nil {
			return err
		}
	}
	h, err := startHDFS(lib, java, filepath.Join(dir, "hdfs"), HDFSOptions{record: true})
	if err != nil {
		return err
	}
	defer h.kill()
	s, err := start(lib, java, filepath.Join(dir, "hbase"), Options{HDFS: h, record: true})
	if err != nil {
		return err
	}
	s.proc.End()
	for _, d := range append(h.DataNodes, h.NameNodes...) {
		d.proc.End()
	}
	return nil
}
