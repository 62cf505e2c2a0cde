package jobs

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	formatsall "github.com/symlake/symlake/formats/all"
	"github.com/symlake/symlake/formats/formattest"
)

// The test binary is also the program: under testscript as the command
// "symlake", and with this variable set as a child of a Go test.
const asProgram = "SYMLAKE_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	program := func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		os.Exit(mainWith(ctx, append(formatsall.Formats(), &poison), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if os.Getenv(asProgram) != "" {
		program()
	}
	testscript.Main(m, map[string]func(){"symlake": program})
}

// symlake is a child process of the program, not started yet.
func symlake(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1", "AWS_EC2_METADATA_DISABLED=true")
	return cmd
}

// mustRun runs the program to its end and wants one of the exit codes.
func mustRun(t testing.TB, codes []int, args ...string) (stdout, stderr string) {
	t.Helper()
	return runIn(t, "")(codes, args...)
}

// runIn is mustRun with another working folder.
func runIn(t testing.TB, dir string) func(codes []int, args ...string) (stdout, stderr string) {
	return func(codes []int, args ...string) (stdout, stderr string) {
		t.Helper()
		return runProgram(t, dir, codes, args)
	}
}

func runProgram(t testing.TB, dir string, codes []int, args []string) (stdout, stderr string) {
	t.Helper()
	cmd := symlake(t, args...)
	cmd.Dir = dir
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.Run()
	got := cmd.ProcessState.ExitCode()
	for _, c := range codes {
		if got == c {
			return out.String(), errOut.String()
		}
	}
	t.Fatalf("symlake %v: exit code %d, want one of %v\n%s%s", args, got, codes, out.String(), errOut.String())
	return "", ""
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("TESTDATA", formattest.Testdata(t, "."))
			return nil
		},
	})
}
