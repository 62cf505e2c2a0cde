package jobs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

// mistake is a command line as somebody types it on a first day.
type mistake struct {
	name  string
	args  string // words, parted by spaces; 'two words' stand together
	env   string // variables, NAME=VALUE, parted by |
	stdin string
	file  string // of the name y.yaml
	code  int
	out   string // a part of standard output
	said  string // a part of standard error
	makes string // what the command may leave in its folder
}

// mistakes are tried in a folder with objs/libcart.so and store, which holds it. An empty store is none.
var mistakes = []mistake{
	// Variables.
	{name: "variable with a wrong number", args: "ingest objs", env: "SYMLAKE_WORKERS=many", code: 2, said: `SYMLAKE_WORKERS: "many" is no whole number`},
	{name: "variable with a wrong word", args: "status", env: "SYMLAKE_LOG_LEVEL=inof", code: 2, said: `SYMLAKE_LOG_LEVEL: "inof" is not known: did you mean info?`},
	{name: "variable with a newline", args: "status", env: "SYMLAKE_STORE=store\n", out: "artifacts  1 "},
	{name: "variable with spaces", args: "status", env: "SYMLAKE_STORE=  store ", out: "artifacts  1 "},
	{name: "empty variable", args: "--store store status", env: "SYMLAKE_CONFIG=|SYMLAKE_WORKERS=|SYMLAKE_LAKE_PROFILE=", out: "artifacts  1 "},
	{name: "variable with an unknown scheme", args: "ingest objs", env: "SYMLAKE_STORE=gs://bucket", code: 2, said: "SYMLAKE_STORE gs://bucket: there is no store of the kind gs"},
	// Encodings of the configuration.
	{name: "configuration with a BOM and CRLF", args: "--config y.yaml status", file: "\ufeffstore: store\r\nlimits: {workers: 2}\r\n", out: "artifacts  1 "},
	{name: "configuration with tabs", args: "--config y.yaml status", file: "limits:\n\tworkers: 2\n", code: 2, said: "YAML takes no tabs"},
	{name: "empty configuration", args: "--config y.yaml --store store status", file: " ", out: "artifacts  1 "},
	{name: "broken configuration", args: "--config y.yaml status", file: "store: [\n", code: 2, said: "y.yaml: line 1"},
	{name: "unknown key", args: "--config y.yaml status", file: "limits: {workers: 1}\nstoer: x\n", code: 2, said: "line 2: there is no key stoer: did you mean store?"},
	{name: "unknown key of a source", args: "--config y.yaml ingest", file: "sources:\n- url: objs\n  nams: x\n", code: 2, said: "line 3: there is no key nams in sources: did you mean names?"},
	{name: "wrong profile in the file", args: "--config y.yaml status", file: "lake: {profile: sealde}\n", code: 2, said: `lake.profile: "sealde" is not known: did you mean sealed?`},
	{name: "wrong size in the file", args: "--config y.yaml status", file: "limits:\n  memory: 3XB\n", code: 2, said: `line 2: size "3XB"`},
	{name: "text where a list is due", args: "--config y.yaml ingest", file: "sources: objs\n", code: 2, said: `line 1: "objs" stands where a list is due`},
	{name: "pattern without build in the file", args: "--config y.yaml ingest", file: "sources: [{url: objs, names: '{app}'}]\n", code: 2, said: "{build} is missing"},
	// Exit codes.
	{name: "code above 255", args: "ingest objs --rejected-code 256", code: 2, said: "a number from 0 to 255"},
	{name: "code below 0", args: "ingest objs --nothing-new-code=-1", code: 2, said: "a number from 0 to 255"},
	{name: "codes that clash", args: "ingest objs --nothing-new-code 3", code: 2, said: "are both 3"},
	{name: "code that means a wrong command line", args: "report --pending --nothing-new-code 2", code: 2, said: "exit code 2 means"},
	// Values.
	{name: "unknown state", args: "--store store objects --state loadd", code: 2, said: "did you mean loaded?"},
	{name: "unknown kind of event", args: "--store store audit --what shrd", code: 2, said: "did you mean shred?"},
	{name: "unknown style", args: "--store store lookup --style llvn libcart.so 0x4748", code: 2, said: "did you mean llvm?"},
	{name: "unknown frame 0", args: "symbolicate --frame0 exat", code: 2, said: "did you mean exact?"},
	{name: "time without a unit", args: "ingest objs --deadline 25", code: 2, said: `--deadline: "25" is no time`},
	{name: "time in days", args: "--store store gc --grace 2d --dry-run", out: "removed 0 loads"},
	{name: "negative time", args: "--store store gc --grace=-1h", code: 2, said: "below 0"},
	{name: "shard out of range", args: "plan objs --shard 4/4", code: 2, said: "want I/N with I from 0"},
	{name: "pattern without build", args: "ingest s3://bucket/x --names {app} --endpoint http://127.0.0.1:1", code: 2, said: "{build} is missing"},
	{name: "unknown lake", args: "--lake gs://x ingest objs", code: 2, said: "of the kind gs"},
	{name: "S3 with one slash", args: "ingest s3:/bucket/x", code: 2, said: "did you mean s3://bucket/x?"},
	{name: "report in a bucket", args: "ingest objs --report s3://bucket/x", code: 2, said: "--report s3://bucket/x: want a file"},
	{name: "address without a port", args: "--store store serve --listen 8080", code: 2, said: "want HOST:PORT"},
	{name: "address with a wrong number", args: "--store store serve --listen 300.1.1.1:80", code: 2, said: "300.1.1.1 is no address"},
	{name: "no Redis", args: "--store store --redis http://x lookup libcart.so 0x4748", code: 2, said: "--redis: unknown scheme"},
	// Standard input.
	{name: "stack from standard input", args: "symbolicate --symbols objs -", stdin: "#00 pc 0000000000004748 libcart.so (BuildId: 564bb6c8be48eea9d9db622b8689806eea5af3c7)\n", out: "game::dot"},
	{name: "object from standard input", args: "inspect -", stdin: "\x7fobject", out: "kind        elf arm64"},
	{name: "symbols from standard input", args: "symbolicate --symbols - stack.txt", stdin: "\x7fobject", out: "game::dot"},
	{name: "configuration from standard input", args: "--config - status", stdin: "store: store\n", out: "artifacts  1 "},
	{name: "standard input twice", args: "symbolicate --symbols objs - -", code: 2, said: "read once"},
	{name: "names from standard input", args: "demangle -", stdin: "_ZN4game4stepEv\n", out: "game::step()"},
	{name: "wrong lines of look-ups", args: "--store store --json lookup --stdin", stdin: "\ufefflibcart.so 0x4748\r\none\nlibcart.so zz\nlibcart.so 0x4748\n",
		out: `{"raw":"one","status":"invalid","reason":"line 2: want two words, ARTIFACT POSITION, not 1","frames":[]}` + "\n" + `{"position":"zz","raw":"libcart.so zz","status":"invalid",`},
	{name: "reason of a look-up", args: "--store store lookup libcart.so 0x1", out: "??:0:0", said: `"status":"hole","reason":"`},
	{name: "look-up of an unknown name", args: "--store store lookup nothing 0x1", out: "??:0:0", said: `no artifact is called \"nothing\"`},
	// The program itself.
	{name: "version", args: "--version", out: "symlake "},
	{name: "completion without a shell", args: "completion", code: 2, said: "bash, zsh, fish or powershell"},
	{name: "completion of another shell", args: "completion ksh", code: 2, said: `"ksh" is not known`},
	{name: "man pages into a file", args: "man objs/libcart.so", code: 2, said: "is a file: name a folder"},
	{name: "own folder as source", args: "--store store ingest .", code: 0, said: "it belongs to symlake"},
	{name: "status without a store", args: "status", code: 1, said: "symlake init"},
	{name: "init of a file that is named", args: "init --config etc/my.yaml", makes: "etc symlake-data"},
	{name: "init twice", args: "--store store init --config y.yaml", file: "store: store\n"},

	// Strangers.
	{name: "flag of a command before it", args: "--ranges inspect objs/libcart.so", out: "0x"},
	{name: "flags of a nested command before it", args: "--json keys --store store list", out: `"version":1`},
	{name: "command with a typo", args: "ingset objs", code: 2, said: "did you mean ingest?"},
	{name: "command of another program", args: "rm libcart.so", code: 2, said: "did you mean forget?"},
	{name: "long flag with one dash", args: "-store store status", code: 2, said: "-store is no flag: did you mean --store?"},
	{name: "capitals", args: "--log-level DEBUG --store store --lake OFF status", out: "artifacts  1 "},
	{name: "help of a typo", args: "help ingset", code: 2, said: "did you mean ingest?"},
	{name: "flag with a typo", args: "--stroe store status", code: 2, said: "did you mean --store?"},
	{name: "flag of another command", args: "gc --rekey", code: 2, said: "--rekey is a flag of compact, not of gc"},
	{name: "topic as command", args: "glossary", code: 2, said: "symlake help glossary"},
	{name: "nested command with a typo", args: "keys rotat", code: 2, said: "did you mean rotate?"},
	{name: "group without a command", args: "keys", code: 2, said: "keys list, keys rotate"},
	{name: "yes as value", args: "--json=yes --store store status", out: `"artifacts":1`},
	{name: "maybe as value", args: "--json=maybe version", code: 2, said: "neither yes nor no"},
	{name: "help behind a wrong flag", args: "ingest --bogus --help", code: 2, said: "--bogus is no flag of ingest"},
	{name: "help before a wrong flag", args: "ingest --help --bogus", out: "Usage: symlake ingest"},
	{name: "empty argument", args: "lookup '' 0x1", code: 2, said: "ARTIFACT is empty"},
	{name: "empty store", args: "--store '' status", code: 2, said: "--store is empty"},
	{name: "flag without its value", args: "status --store", code: 2, said: "--store needs a value: --store URL"},
	{name: "argument too many", args: "verify everything", code: 2, said: `takes no further argument "everything"`},
	{name: "argument too few", args: "rollback", code: 2, said: "symlake rollback [flags] ARTIFACT"},
	{name: "folder where a file is due", args: "inspect objs", code: 2, said: "directory"},
	{name: "folder of stacks", args: "symbolicate --symbols objs objs", code: 2, said: "objs is a folder"},
	{name: "missing file", args: "symbolicate --symbols objs nothing.txt", code: 2, said: "there is no file nothing.txt"},
	{name: "file where a store is due", args: "--store stack.txt status", code: 2, said: "is a file: a store is a folder"},
	{name: "configuration that is missing", args: "--config no.yaml status", code: 2, said: "no.yaml is missing: symlake init --config"},
	{name: "configuration that is a folder", args: "--config objs status", code: 2, said: "is a directory"},
	{name: "folder named as a scheme", args: "ingest hbase --store store2", said: "", makes: "store2"},
	{name: "no home", args: "--store store status", env: "HOME=|XDG_CONFIG_HOME=", out: "artifacts  1 "},
	{name: "position without 0x", args: "--store store lookup libcart.so 4748", code: 2, said: "want 0x1f3a"},
	{name: "output in a missing folder", args: "symbolicate --symbols objs --output none/x.txt stack.txt", code: 2, said: "make it first"},
	{name: "two exclusive flags", args: "--keyset a --kms b status", code: 2, said: "give only one of --keyset and --kms"},
	{name: "dry run without a store", args: "ingest objs --dry-run --report -", out: `"new":1`},
}

// A mistake gets help: the exit code and the words that say so. It leaves nothing behind.
func TestMistakes(t *testing.T) {
	t.Parallel()
	object, err := os.ReadFile(filepath.Join(formattest.Testdata(t, "elf"), "libgame-arm64-dw5.so"))
	if err != nil {
		t.Fatal(err)
	}
	first := t.TempDir()
	write(t, filepath.Join(first, "objs", "libcart.so"), string(object))
	mustRun(t, []int{0}, "--store", filepath.Join(first, "store"), "ingest", filepath.Join(first, "objs"))
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(first)); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(filepath.Join(dir, "store", "keyset.json"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(dir, "hbase"), 0o777); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "stack.txt"), "#00 pc 0000000000004748 libcart.so (BuildId: 564bb6c8be48eea9d9db622b8689806eea5af3c7)\n")
			if m.file != "" {
				write(t, filepath.Join(dir, "y.yaml"), m.file)
			}
			before := entries(t, dir)
			cmd := symlake(t, shellWords(m.args)...)
			cmd.Dir = dir
			for pair := range strings.SplitSeq(m.env, "|") {
				cmd.Env = append(cmd.Env, pair)
			}
			cmd.Stdin = strings.NewReader(strings.ReplaceAll(m.stdin, "\x7fobject", string(object)))
			var out, said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &said
			cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != m.code || !strings.Contains(out.String(), m.out) || !strings.Contains(said.String(), m.said) {
				t.Errorf("symlake %s: exit code %d, want %d\n%s\n%s\nwant %q and %q", m.args, code, m.code, &out, &said, m.out, m.said)
			}
			for name := range entries(t, dir) {
				if !before[name] && !strings.Contains(" "+m.makes+" ", " "+name+" ") {
					t.Errorf("symlake %s leaves %s behind", m.args, name)
				}
			}
		})
	}
	if len(mistakes) < 2*23 {
		t.Errorf("%d mistakes are tried", len(mistakes))
	}
}

// write makes a file and its folder.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// entries returns the names in a folder.
func entries(t *testing.T, dir string) map[string]bool {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, e := range list {
		names[e.Name()] = true
	}
	return names
}

// shellWords parts a command line at spaces. Words in single quotes stand together, also where they are empty.
func shellWords(line string) (words []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

// A configuration that init makes elsewhere names the store by a path that holds there.
func TestInitNamesFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "--config", "etc/my.yaml"}, {"--config", "etc/my.yaml", "status"}} {
		cmd := symlake(t, args...)
		cmd.Dir = dir
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", args, err, said)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "etc", "my.yaml"))
	if want := fmt.Sprintf("\nstore: file:%s\n", filepath.Join(dir, "symlake-data")); err != nil || !strings.Contains(string(text), want) {
		t.Errorf("%v, %s; want %s", err, text, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "symlake-data", "keyset.json")); err != nil {
		t.Error(err)
	}
}
