package jobs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// lies are what a Redis may hold under a row's key instead of it: scripts over all keys, sorted.
var lies = map[string]string{
	"another row's value": "local first = redis.call('GET', keys[1]) for i = 1, #keys - 1 do redis.call('SET', keys[i], redis.call('GET', keys[i + 1])) end redis.call('SET', keys[#keys], first)",
	"a flipped bit":       "for _, k in ipairs(keys) do local v = redis.call('GET', k) local at = math.floor(#v / 2) redis.call('SET', k, v:sub(1, at) .. string.char((v:byte(at + 1) + 1) % 256) .. v:sub(at + 2)) end",
	"a cut row":           "for _, k in ipairs(keys) do redis.call('SET', k, redis.call('GET', k):sub(1, -2)) end",
	"a longer row":        "for _, k in ipairs(keys) do redis.call('APPEND', k, 'x') end",
	"nothing":             "for _, k in ipairs(keys) do redis.call('SET', k, '') end",
	"noise":               "for i, k in ipairs(keys) do redis.call('SET', k, string.rep(string.char(i % 256), 4096)) end",
	"a list":              "for _, k in ipairs(keys) do redis.call('DEL', k) redis.call('RPUSH', k, 'x') end",
}

// TestRedisLies: if a Redis gives anything else under the keys of rows, the answers still come from the store.
func TestRedisLies(t *testing.T) {
	t.Parallel()
	program, cli := formattest.Tool(t, "redis-server", "apt-get install redis-server"), formattest.Tool(t, "redis-cli", "apt-get install redis-tools")
	dir := t.TempDir()
	socket := filepath.Join(dir, "redis.sock")
	run := exec.Command(program, "--port", "0", "--unixsocket", socket, "--save", "", "--dir", dir)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run.Process.Kill(); run.Wait() })
	formattest.Await(t, "redis-server comes up", func() bool { _, err := os.Stat(socket); return err == nil })
	store := ingested(t, "elf", "macho", "r8")
	var text strings.Builder
	for _, name := range []string{"stacks/tombstone.txt", "stacks/apple-crash.txt", "r8/shop.txt"} {
		b, err := os.ReadFile(formattest.Testdata(t, name))
		if err != nil {
			t.Fatal(err)
		}
		text.Write(b)
	}
	for pc := 0x4600; pc < 0x4d00; pc += 4 {
		fmt.Fprintf(&text, "#00 pc %x  libgame.so (BuildId: 564bb6c8be48eea9d9db622b8689806eea5af3c7)\n", pc)
	}
	ask := func(args ...string) (answer string, right, wrong int) {
		s := startServe(t, store, args...)
		code, answer := s.ask(t, "POST", "/v1/symbolicate", "text/plain", text.String())
		if code != 200 {
			t.Fatalf("%d %.300s", code, answer)
		}
		_, metrics := s.ask(t, "GET", "/metrics", "", "")
		s.run.Process.Kill()
		return answer, shared(metrics, "given"), shared(metrics, "bad")
	}
	want, _, _ := ask()
	if n := strings.Count(want, "./src/"); n < 100 {
		t.Fatalf("%d lines name a source: %.500s", n, want)
	}
	redis := "unix://" + socket
	caught := 0
	for name, lie := range lies {
		if out, err := exec.Command(cli, "-s", socket, "FLUSHALL").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		right := 0
		for try := 0; right == 0; try++ { // a Redis that is slow, as on a machine with much else to do, is not asked twice
			var got string
			var wrong int
			if got, right, wrong = ask("--redis", redis); got != want || wrong != 0 || try == 20 {
				t.Fatalf("an honest Redis: %d rows are right, %d wrong", right, wrong)
			}
		}
		script := "local keys = redis.call('KEYS', '*') table.sort(keys) " + lie + " return #keys"
		if out, err := exec.Command(cli, "-s", socket, "EVAL", script, "0").CombinedOutput(); err != nil || len(out) < 2 {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		got, right, wrong := ask("--redis", redis)
		if got != want {
			t.Errorf("%s: the answers differ from the store's", name)
		}
		if right > 0 {
			t.Errorf("%s: %d rows were taken for right", name, right)
		}
		caught += wrong
	}
	if caught == 0 {
		t.Error("no wrong row was met")
	}
}

// shared is how many rows of Redis had that outcome.
func shared(metrics, outcome string) int {
	m := regexp.MustCompile(`symlake_rows_total\{from="shared",outcome="` + outcome + `"\} (\d+)`).FindStringSubmatch(metrics)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}
