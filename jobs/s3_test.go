package jobs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/bucket/s3/s3test"
)

// s3Objects is more than one page of a listing.
const s3Objects = 2000

// The main job against a real S3 server: 2,000 keys over several pages, a
// second run that loads nothing, then a changed and a deleted object.
func TestIngestS3(t *testing.T) {
	server := s3test.Start(t)
	server.Make(t, "symbols")
	twins := []string{"libgame-arm64-dw5.so", "libgame-x64-dw5.so", "libgame-riscv64-dw5.so", "libgame-armv7-dw4.so"}
	var bodies [][]byte
	for _, name := range twins {
		body, err := os.ReadFile(formattest.Testdata(t, "elf/"+name))
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, body)
	}
	for i := range s3Objects {
		key := fmt.Sprintf("android/shop/%04d/notes.txt", i)
		body := []byte("no symbols here")
		if i%500 == 0 {
			n := i / 500
			key, body = fmt.Sprintf("android/shop/%04d/%s", i, twins[n]), bodies[n]
		}
		server.Put(t, "symbols", key, body, nil)
	}
	store := filepath.Join(t.TempDir(), "store")
	ingest := func() (r s3Report) {
		out, _ := mustRun(t, []int{0}, "--store", store, "ingest", "s3://symbols/android/", "--endpoint", server.Endpoint, "--region", s3test.Region, "--path-style", "--names", "{app}/{build}/**", "--report", "-")
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := ingest(); r.Objects.Seen != s3Objects || r.Objects.Loaded != len(twins) || r.Objects.Skipped["unknown-format"] != s3Objects-len(twins) {
		t.Errorf("first run: %+v", r)
	}
	if r := ingest(); r.Objects.Seen != s3Objects || r.Objects.New != 0 || r.Objects.Loaded != 0 {
		t.Errorf("second run: %+v", r)
	}
	out, _ := mustRun(t, []int{0}, "--store", store, "lookup", "shop@0500", "0x46e6")
	if !strings.Contains(out, "game::Engine::step") {
		t.Errorf("by APP@BUILD: %s", out)
	}

	// The object at 0000 is replaced, the one at 1500 removed: the first
	// load of 0000's old artifact stays, the ledger tells both stories.
	stripped, err := os.ReadFile(formattest.Testdata(t, "elf/libgame-x86-dw4.so"))
	if err != nil {
		t.Fatal(err)
	}
	server.Put(t, "symbols", "android/shop/0000/"+twins[0], stripped, nil)
	_, err = server.Client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String("symbols"), Key: aws.String("android/shop/1500/" + twins[3])})
	if err != nil {
		t.Fatal(err)
	}
	if r := ingest(); r.Objects.New != 1 || r.Objects.Loaded != 1 {
		t.Errorf("after a change: %+v", r)
	}
	out, _ = mustRun(t, []int{0}, "--store", store, "objects", "--state", "gone")
	if !strings.Contains(out, "android/shop/1500/"+twins[3]) {
		t.Errorf("gone: %s", out)
	}
	mustRun(t, []int{0}, "--store", store, "verify")
}

// A source that is out of reach is to be run again, when all others are loaded. A source that makes no sense is not.
func TestSourcesOutOfReach(t *testing.T) {
	server := s3test.Start(t)
	server.Make(t, "symbols")
	body, err := os.ReadFile(formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	if err != nil {
		t.Fatal(err)
	}
	server.Put(t, "symbols", "app/lib.so", body, nil)
	flags := []string{"--store", filepath.Join(t.TempDir(), "store"), "--lake", "off", "ingest", "--endpoint", server.Endpoint, "--report", "-"}
	out, said := mustRun(t, []int{1}, append(flags, "s3://absent/app/", "s3://symbols/app/")...)
	if !strings.Contains(out, `"loaded":1`) || !strings.Contains(said, "list s3://absent/app/: no such bucket") {
		t.Errorf("%s\n%s", out, said)
	}
	for _, url := range []string{"s3://", "gs://symbols/app/"} {
		mustRun(t, []int{2}, append(flags, url)...)
	}
	mustRun(t, []int{2}, append(flags, "s3://symbols/app/", "--profile", "none")...)
}

type s3Report struct {
	Objects struct {
		Seen, New, Loaded int
		Skipped           map[string]int
	}
}
