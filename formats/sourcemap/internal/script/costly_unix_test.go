//go:build unix

package script

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A small script that keeps the parser busy for minutes, with gigabytes, is not parsed.
func TestCostlyScript(t *testing.T) {
	var names strings.Builder
	for i := 0; names.Len() < 1<<20; i++ {
		fmt.Fprintf(&names, "b%d;", i)
	}
	list := "(" + strings.ReplaceAll(strings.TrimSuffix(names.String(), ";"), ";", "+") + ")"
	for _, script := range []string{
		strings.Repeat("{", 900) + names.String() + strings.Repeat("}", 900),
		strings.Repeat("()=>{", 450) + names.String() + strings.Repeat("}", 450),
		"a=" + strings.Repeat("()=>", 450) + list,
		"a=" + strings.Repeat("(", 450) + list + strings.Repeat(")", 450),
		"a={'" + strings.Repeat("b", 1<<10) + "':{" + strings.Repeat("c(){},", 1<<17) + "}}", // names longer than the script
	} {
		if start := cpu(t); Functions([]byte(script), 1<<20) != nil || cpu(t)-start > 3*time.Second {
			t.Errorf("%.20q: %v", script, cpu(t)-start)
		}
	}
	// Many functions side by side, and few deep ones, are of no consequence.
	for _, script := range []string{strings.Repeat("f(a=>b=>c,function(){return d});", 1<<14), strings.Repeat("function f(){", 400) + strings.Repeat("}", 400)} {
		if Functions([]byte(script), 1<<20) == nil {
			t.Errorf("%.20q: not parsed", script)
		}
	}
}

// cpu is what this process has used: other load on the machine does not count.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
