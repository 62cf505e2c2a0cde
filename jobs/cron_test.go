package jobs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
)

// realCron is Debian's cron in a mount namespace of its own: it has crontabs of this test alone, and its mail goes to files.
type realCron struct {
	*scheduled
	mail string
}

// cronScript starts cron: $1 is a folder with the files it is to see, $2 the program.
const cronScript = `set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755 cron.d /etc/cron.d
mount -t tmpfs -o mode=1730 crontabs /var/spool/cron/crontabs
mount -t tmpfs -o mode=755 run /run
mount --bind /dev/null /etc/crontab
mount --bind "$1/pam" /etc/pam.d/cron
mount --bind "$1/sendmail" "$(readlink -f /usr/sbin/sendmail)"
install -m 644 "$1/system" /etc/cron.d/symlake
sed -E 's/^(([^#[:space:]]+[[:space:]]+){5})root[[:space:]]+/\1/' "$1/user" | crontab -u root -
exec cron -f
`

func newRealCron(t *testing.T) *realCron {
	t.Helper()
	for _, need := range []string{"cron", "crontab", "unshare", "/usr/sbin/sendmail"} {
		if _, err := exec.LookPath(need); err != nil {
			formattest.Missing(t, need, "apt-get install cron exim4-daemon-light util-linux")
		}
	}
	if out, err := exec.Command("unshare", "--mount", "true").CombinedOutput(); err != nil {
		formattest.Missing(t, "a mount namespace", "run the test as root: "+strings.TrimSpace(string(out)))
	}
	c := &realCron{scheduled: newScheduled(t)}
	c.mail = filepath.Join(c.dir, "mail")
	if err := os.Mkdir(c.mail, 0o700); err != nil {
		t.Fatal(err)
	}
	c.write("pam", "auth sufficient pam_permit.so\naccount sufficient pam_permit.so\nsession sufficient pam_permit.so\n", 0o644)
	c.write("sendmail", "#!/bin/sh\ncat > "+c.mail+"/$$.part\nmv "+c.mail+"/$$.part "+c.mail+"/$$\n", 0o755)
	return c
}

func (c *realCron) write(name, text string, mode os.FileMode) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), mode); err != nil {
		c.t.Fatal(err)
	}
}

// everyMinute is the crontab of the repository with root as its user, and the commands that have a word in them due at once.
func (c *realCron) everyMinute(words ...string) string {
	due := regexp.MustCompile(`^(?:[-*/,0-9]+\s+){5}symlake\s+`)
	text := asProgram + "=1\n"
	for line := range strings.Lines(c.file("cron/crontab")) {
		at := due.FindString(line)
		if at == "" {
			text += line
			continue
		}
		for _, word := range words {
			if strings.Contains(line, " "+word+" ") {
				text += "* * * * * root " + line[len(at):]
			}
		}
	}
	return text
}

// await waits until there is a file, for longer than cron sleeps.
func (c *realCron) await(pattern string) string {
	c.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		found, err := filepath.Glob(filepath.Join(c.dir, pattern))
		if err != nil {
			c.t.Fatal(err)
		}
		for _, name := range found {
			if !strings.HasSuffix(name, ".part") {
				return name
			}
		}
	}
	c.t.Fatalf("cron made no %s", pattern)
	return ""
}

// The crontab in a real cron, in both forms. In /etc/cron.d, with its user column, an ingest mails which object it
// rejected and why. As the crontab of a user, without that column, status and gc find no store and mail nothing.
func TestCron(t *testing.T) {
	t.Parallel()
	c := newRealCron(t)
	copyTo(t, c.objects, "libgame-arm64-dw5.so")
	if err := os.WriteFile(filepath.Join(c.objects, "broken.so"), []byte("\x7fELF\x02\x01\x01"+strings.Repeat("\xff", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	c.write("system", c.everyMinute("ingest"), 0o644)
	state := filepath.Join(c.dir, "state")
	elsewhere := strings.NewReplacer(filepath.Join(c.dir, "etc", "symlake.yaml"), filepath.Join(c.dir, "etc", "other.yaml"), state, filepath.Join(c.dir, "other"))
	c.write("etc/other.yaml", "store: "+filepath.Join(c.dir, "nowhere")+"\n", 0o600)
	if err := os.Mkdir(filepath.Join(c.dir, "other"), 0o700); err != nil {
		t.Fatal(err)
	}
	ended := fmt.Sprintf("; touch %s/other/$$.ended\n", c.dir)
	c.write("user", elsewhere.Replace(c.everyMinute("status", "gc"))+"* * * * * root true"+ended, 0o644)

	cron := exec.Command("unshare", "--mount", "/bin/sh", "-c", cronScript, "sh", c.dir)
	cron.Stdout, cron.Stderr = os.Stderr, os.Stderr
	if err := cron.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cron.Process.Kill()
		cron.Wait()
	}()
	text, err := os.ReadFile(c.await("mail/*"))
	if err != nil {
		t.Fatal(err)
	}
	c.await("other/*.ended")
	c.await("other/status.txt")
	said := string(text)
	if !regexp.MustCompile(`(?m)^symlake: rejected file:\S*/broken\.so: elf: .*\+0x.*$`).MatchString(said) || !strings.Contains(said, "exit code 3") || !strings.Contains(said, "To: symbols@example.org") {
		t.Errorf("cron mailed %s", said)
	}
	file := regexp.MustCompile(`(?m)^symlake: the report is (\S+)$`).FindStringSubmatch(said)
	if file == nil || filepath.Dir(file[1]) != filepath.Join(state, "reports") {
		t.Fatalf("the mail names no report: %s", said)
	}
	if told, err := os.ReadFile(file[1]); err != nil || !strings.Contains(string(told), "broken.so") {
		t.Errorf("%s: %s, %v", file[1], told, err)
	}
	if all, err := os.ReadDir(c.mail); err != nil || len(all) != 1 {
		t.Errorf("%d mails, %v", len(all), err)
	}
}
