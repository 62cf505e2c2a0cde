package symlakev1

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
)

// The code in this folder is what the recipe makes of symlake.proto.
func TestGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the plugins of protoc")
	}
	clients := os.Getenv("SYMLAKE_CLIENTS")
	if clients == "" {
		formattest.Missing(t, "protoc of grpcio-tools", "make clients installs it; then set SYMLAKE_CLIENTS to its folder, as make test does")
	}
	dir := t.TempDir()
	if out, err := exec.Command("bash", "generate.sh", clients, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range []string{"symlake.pb.go", "symlakev1connect/symlake.connect.go"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is not what generate.sh makes: %s", name, diff)
		}
	}
}
