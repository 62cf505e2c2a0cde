package hbasetest

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/symlake/symlake/sinks/hbase/hbasetest/internal/child"
)

// process is one Java program.
type process struct {
	log string // path of what it prints
	*child.Process
}

// jvm is how to start a Java program of HBase's jars.
type jvm struct {
	java, lib string
	conf      string // folder, last on the class path
	log       string
	heap      string
	long      bool // it is measured, or runs for long: compile and collect as a server would
	record    bool // write an archive of its classes when it ends
	options   []string
	env       []string
	main      []string // class and arguments
}

// opened is what HBase's and Hadoop's own start scripts open for Java 17.
func opened() []string {
	var o []string
	for _, p := range strings.Fields("java.io java.nio sun.nio.ch java.lang jdk.internal.ref java.lang.reflect java.util java.util.concurrent") {
		o = append(o, "--add-opens", "java.base/"+p+"=ALL-UNNAMED")
	}
	for _, p := range strings.Fields("java.base/jdk.internal.misc java.security.jgss/sun.security.krb5 java.base/sun.net.dns java.base/sun.net.util") {
		o = append(o, "--add-exports", p+"=ALL-UNNAMED")
	}
	return append(o, "--add-modules", "jdk.unsupported", "-Djava.net.preferIPv4Stack=true",
		"-Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true")
}

// start runs the program; its output goes to the log, from its beginning.
func (j jvm) start() (*process, error) {
	out, err := os.Create(j.log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	tmp := filepath.Join(j.conf, "java") // for temporary files of web servers and of the JVM
	if err := os.MkdirAll(tmp, 0o777); err != nil {
		return nil, err
	}
	args := append(opened(), "-Xms64m", "-Xmx"+j.heap, "-XX:MaxDirectMemorySize=256m", "-XX:-UsePerfData", "-Djava.io.tmpdir="+tmp)
	if j.long {
		args = append(args, "-XX:+UseG1GC", "-XX:G1HeapRegionSize=8m")
	} else {
		args = append(args, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
		args = append(args, j.archived()...)
	}
	args = append(args, j.options...)
	args = append(args, "-cp", filepath.Join(j.lib, "*")+":"+j.conf) // an archive of classes wants the jars first
	cmd := exec.Command(j.java, append(args, j.main...)...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = append(os.Environ(), j.env...)
	p, err := child.Start(cmd)
	return &process{j.log, p}, err
}

// archives is the folder for the archives of this Java.
func archives(lib, java string) string {
	h := fnv.New64a()
	if path, err := filepath.EvalSymlinks(java); err == nil {
		modules := filepath.Join(filepath.Dir(filepath.Dir(path)), "lib", "modules")
		if info, err := os.Stat(modules); err == nil {
			fmt.Fprint(h, modules, info.Size(), info.ModTime().UnixNano())
		}
	}
	h.Write(pom)
	return filepath.Join(lib, fmt.Sprintf("classes-%016x", h.Sum64()))
}

// archived are the options of a program that use or write its archive. Without one it starts slowly.
func (j jvm) archived() []string {
	name := j.main[0][strings.LastIndexByte(j.main[0], '.')+1:] + ".jsa"
	if j.record {
		return []string{"-XX:ArchiveClassesAtExit=" + filepath.Join(filepath.Dir(j.conf), name)}
	}
	path := filepath.Join(archives(j.lib, j.java), name)
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	return []string{"-XX:SharedArchiveFile=" + path}
}

// startPatience is how long a start may take on a busy machine. Alone it takes 5 s.
const startPatience = 120 * time.Second

// ready waits until a line of the log holds what.
func (p *process) ready(what string, patience time.Duration) error {
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		log, err := os.ReadFile(p.log)
		if err != nil {
			return err
		}
		if bytes.Contains(log, []byte(what)) {
			return nil
		}
		why := ""
		select {
		case <-p.Ended:
			why = "ended"
		default:
			switch { // an aborted master keeps its process for minutes
			case bytes.Contains(log, []byte("ABORTING")):
				why = "aborted"
			case time.Now().After(deadline):
				why = fmt.Sprintf("is not ready after %v", patience)
			}
		}
		if why != "" {
			p.Kill()
			return fmt.Errorf("%s %s:\n%s", p.Cmd.Args[len(p.Cmd.Args)-2], why, log[max(0, len(log)-4000):])
		}
	}
}

// site writes a Hadoop configuration file.
func site(path string, properties map[string]string) error {
	var b bytes.Buffer
	b.WriteString("<?xml version=\"1.0\"?>\n<configuration>\n")
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		b.WriteString("<property><name>")
		_ = xml.EscapeText(&b, []byte(name)) // a Buffer takes all
		b.WriteString("</name><value>")
		_ = xml.EscapeText(&b, []byte(properties[name]))
		b.WriteString("</value></property>\n")
	}
	b.WriteString("</configuration>\n")
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// logging is the log4j configuration of every process.
const logging = `status = warn
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{ISO8601} %-5p [%t] %c{2}: %m%n
rootLogger = INFO,out
logger.zk.name = org.apache.zookeeper
logger.zk.level = WARN
logger.metrics.name = org.apache.hadoop.metrics2
logger.metrics.level = ERROR
`

// ports takes n ports that are free, for servers of this program. They lie below the ports that systems give to
// connections, which would take one before its server does. A UDP socket of the same number keeps each from other tests
// until the program ends.
func ports(n int) ([]int, error) {
	const first, end = 10_000, 32_768
	var list []int
	for tries := 0; len(list) < n; tries++ {
		if tries == 1000+n {
			return nil, fmt.Errorf("find %d free ports from %d to %d on 127.0.0.1: %d tries found %d", n, first, end-1, tries, len(list))
		}
		port := first + rand.IntN(end-first)
		address := fmt.Sprintf("127.0.0.1:%d", port)
		mark, err := net.ListenPacket("udp", address)
		if err != nil {
			continue
		}
		server, err := net.Listen("tcp", address)
		if err != nil {
			mark.Close()
			continue
		}
		server.Close()
		marks.Store(port, mark)
		list = append(list, port)
	}
	return list, nil
}

// marks are the sockets that keep the ports of this program, by port.
var marks sync.Map

// cleaner remembers what to undo, for servers that outlive a test.
type cleaner struct {
	mu   sync.Mutex
	list []func()
}

func (c *cleaner) add(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, f)
}

func (c *cleaner) run() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range slices.Backward(c.list) {
		f()
	}
	c.list = nil
}
