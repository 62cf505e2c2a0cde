package termtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/symlake/symlake/formats/formattest"
)

// Terminal is a pseudo terminal. All that is written to its end is kept.
type Terminal struct {
	End    *os.File // the end that a program has: its standard output or error
	master *os.File
	t      testing.TB

	mu   sync.Mutex
	text bytes.Buffer
	over chan struct{} // closed when the program and the test have closed their ends
}

// Open returns a pseudo terminal of so many columns. The test closes it.
func Open(t testing.TB, columns int) *Terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		formattest.Missing(t, "/dev/ptmx", err.Error())
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatalf("open a pseudo terminal: %v", err)
	}
	end, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatalf("open a pseudo terminal: %v", err)
	}
	p := &Terminal{End: end, master: master, t: t, over: make(chan struct{})}
	p.Resize(columns)
	go p.read()
	t.Cleanup(func() { p.Text(); master.Close() })
	return p
}

// Resize gives the terminal another width.
func (p *Terminal) Resize(columns int) {
	p.t.Helper()
	if err := unix.IoctlSetWinsize(int(p.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)}); err != nil {
		p.t.Fatalf("resize: %v", err)
	}
}

// Type types text.
func (p *Terminal) Type(text string) {
	if _, err := p.master.WriteString(text); err != nil {
		p.t.Errorf("type: %v", err)
	}
}

// read keeps all that is written, until every end is closed.
func (p *Terminal) read() {
	defer close(p.over)
	buf := make([]byte, 64<<10)
	for {
		n, err := p.master.Read(buf)
		p.mu.Lock()
		p.text.Write(buf[:n])
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// SoFar returns the text until now. A line ends with CR LF.
func (p *Terminal) SoFar() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// Text closes the end and returns all that was written. Programs that have the end must have ended.
func (p *Terminal) Text() string {
	p.End.Close()
	<-p.over
	return p.SoFar()
}

// Control makes the terminal control a command that is not started yet, as a shell's foreground. The
// command's standard error must be the terminal.
func (p *Terminal) Control(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
}
