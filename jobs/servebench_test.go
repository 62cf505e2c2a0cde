package jobs

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
)

// TestBenchServe asks a warm server from two callers, on the same processors: raw stacks of 30 frames, one a request
// and a hundred a request.
func TestBenchServe(t *testing.T) {
	formattest.Bench(t)
	s := startServe(t, ingested(t, "elf/libgame-arm64-dw5.so"))
	const frames, seconds = 30, 5
	rng := rand.New(rand.NewPCG(1, 2))
	stackOf := func() string {
		var text strings.Builder
		text.WriteString("ABI: 'arm64'\npid: 1, tid: 1, name: main  >>> shop <<<\nbacktrace:\n")
		for k := range frames {
			fmt.Fprintf(&text, "      #%02d pc %016x  /system/lib64/libgame.so (BuildId: 564bb6c8be48eea9d9db622b8689806eea5af3c7)\n", k, 0x4680+rng.Uint64N(0x2a0)&^3)
		}
		return text.String()
	}
	for _, many := range []int{1, 100} {
		bodies := make([]string, 64)
		for i := range bodies {
			type raw struct {
				Text string `json:"text"`
			}
			body := struct {
				Stacks []raw `json:"stacks"`
			}{}
			for range many {
				body.Stacks = append(body.Stacks, raw{stackOf()})
			}
			text, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			bodies[i] = string(text)
		}
		ask := func(i int) error {
			res, err := http.Post(s.url+"/v1/symbolicate", "application/json", strings.NewReader(bodies[i%len(bodies)]))
			if err != nil {
				return err
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			if err == nil && (res.StatusCode != 200 || i < 4 && strings.Count(string(text), `"raw":`) != many*frames) {
				err = fmt.Errorf("%d: %.300s", res.StatusCode, text)
			}
			return err
		}
		var mu sync.Mutex
		var took []time.Duration
		began := time.Now()
		var wg sync.WaitGroup
		for caller := range 2 {
			wg.Go(func() {
				for i := caller; time.Since(began) < seconds*time.Second; i += 2 {
					from := time.Now()
					if err := ask(i); err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					took = append(took, time.Since(from))
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		slices.Sort(took)
		t.Logf("%d stacks of %d frames a request: %.0f stacks/s, p50 %s, p99 %s", many, frames, float64(len(took)*many)/time.Since(began).Seconds(),
			took[len(took)/2].Round(10*time.Microsecond), took[len(took)*99/100].Round(10*time.Microsecond))
	}
}
