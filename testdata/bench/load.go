package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/symlake/symlake/testdata/bench/measure"
)

// loadStacks are sent in one request.
const loadStacks = 100

// underLoad measures the memory of symlake serve while two callers send it stacks of crashes, of any address, for b.lasts.
func (b *bench) underLoad() error {
	dir := filepath.Join(b.cache, "stacks")
	if _, err := os.Stat(filepath.Join(dir, "done")); err != nil {
		fmt.Fprintln(os.Stderr, "bench: the server's load is left out: its libraries were not made")
		return nil
	}
	c, err := drawCrashes(dir, false)
	if err != nil {
		return err
	}
	store := filepath.Join(b.tmp, "load-store")
	if _, err := measure.Run(nil, nil, b.symlake, "--store", "file:"+store, "--lake", "off", "ingest", dir); err != nil {
		return err
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := free.Addr().String()
	free.Close()
	server := exec.Command(b.symlake, "--store", "file:"+store, "serve", "--listen", address, "--cache", "256MiB")
	if err := server.Start(); err != nil {
		return err
	}
	defer server.Wait()
	defer server.Process.Kill()
	for wait := 0; ; wait++ {
		if res, err := http.Get("http://" + address + "/readyz"); err == nil {
			if res.Body.Close(); res.StatusCode == http.StatusOK {
				break
			}
		}
		if wait == 100 {
			return fmt.Errorf("the server at %s does not answer", address)
		}
		time.Sleep(100 * time.Millisecond)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "serve --cache 256MiB, two callers, minutes\tstacks\tpeak anonymous MiB, by tenth of the time\t\n")
	until := time.Now().Add(b.lasts)
	var sent [2]int
	var errs [2]error
	var wg sync.WaitGroup
	for caller := range sent {
		wg.Go(func() {
			for k := caller; errs[caller] == nil && time.Now().Before(until); k += len(sent) {
				from := k * loadStacks % crashStacks * crashFrames
				if errs[caller] = c.send("http://"+address+"/v1/symbolicate", c.frames[from:from+loadStacks*crashFrames]); errs[caller] == nil {
					sent[caller] += loadStacks
				}
			}
		})
	}
	var peaks []int64
	for range 10 {
		peak := int64(0)
		for end := time.Now().Add(b.lasts / 10); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			peak = max(peak, measure.Anonymous(server.Process.Pid)>>20)
		}
		peaks = append(peaks, peak)
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "%.1f\t%d\t%v\t\n", b.lasts.Minutes(), sent[0]+sent[1], peaks)
	return w.Flush()
}

// send asks for stacks as they were reported.
func (c *crashes) send(url string, frames []crashFrame) error {
	type raw struct {
		Text string `json:"text"`
	}
	var body struct {
		Stacks []raw `json:"stacks"`
	}
	for i := 0; i < len(frames); i += crashFrames {
		var text bytes.Buffer
		c.text(frames[i:i+crashFrames], &text)
		body.Stacks = append(body.Stacks, raw{text.String()})
	}
	asked, err := json.Marshal(body)
	if err != nil {
		return err
	}
	res, err := http.Post(url, "application/json", bytes.NewReader(asked))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if found := bytes.Count(answer, []byte(`"found"`)); res.StatusCode != http.StatusOK || found < len(frames)*9/10 {
		return fmt.Errorf("%d of %d frames are found: %s, %.300s", found, len(frames), res.Status, answer)
	}
	return nil
}
