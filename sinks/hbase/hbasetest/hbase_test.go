package hbasetest

import (
	"net"
	"testing"
)

func TestMain(m *testing.M) { Main(m) }

func TestStart(t *testing.T) {
	s := Shared(t)
	for range 2 {
		for _, address := range []string{s.Master, s.Region, s.ZooKeeper} {
			c, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			c.Close()
		}
		s.Kill()
		if c, err := net.Dial("tcp", s.Master); err == nil {
			c.Close()
			t.Fatal("a killed server answers")
		}
		s.Restart(t)
	}
}

func TestHDFS(t *testing.T) {
	h := StartHDFS(t)
	s := Start(t, Options{Root: "hdfs://" + h.NameNode + "/hbase", Servers: 2})
	c, err := net.Dial("tcp", s.Master)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}
