package hbasetest

import (
	"bytes"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
)

// metricsPeriod is longer than the server takes to count a call in its metrics: it sums them up every 200 ms,
// and its JMX beans answer from a copy that is a second old at most.
const metricsPeriod = 2 * time.Second

// Metrics returns numbers that the region server counts, by their names in its bean "Server" of JMX. They count
// every call that was answered before.
func (s *Server) Metrics(t testing.TB, names ...string) []float64 {
	t.Helper()
	time.Sleep(metricsPeriod)
	args := []string{"--add-modules", "jdk.attach", formattest.Testdata(t, "hbase/Metrics.java"), strconv.Itoa(s.Process()),
		"Hadoop:service=HBase,name=RegionServer,sub=Server"}
	out, err := exec.Command(Java(t), append(args, names...)...).CombinedOutput()
	lines := strings.Fields(string(out))
	if err != nil || len(lines) != len(names) {
		t.Fatalf("metrics of process %d: %v\n%s", s.Process(), err, out)
	}
	list := make([]float64, len(lines))
	for i, line := range lines {
		if list[i], err = strconv.ParseFloat(line, 64); err != nil {
			t.Fatalf("metric %s: %v", names[i], err)
		}
	}
	return list
}

// Used returns the processor seconds, of user and system, that the stat file of a process or of a thread tells.
func Used(stat []byte) (seconds float64) {
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')'):])) // ) S ppid …
	for _, i := range []int{12, 13} {
		ticks, _ := strconv.Atoi(fields[i])
		seconds += float64(ticks) / 100
	}
	return seconds
}
