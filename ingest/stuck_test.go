package ingest

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/build"
)

// stuck is a format. Its objects name the stage in which the parser waits for stop and takes notice of nothing else.
func stuck(stop <-chan struct{}) *formats.Format {
	return &formats.Format{Name: "stuck", Version: 1,
		Detect: func(_ string, head []byte) bool {
			if bytes.HasPrefix(head, []byte("STUCK detect")) {
				<-stop
			}
			return bytes.HasPrefix(head, []byte("STUCK "))
		},
		Open: func(_ context.Context, in *formats.Input) (*formats.Object, error) {
			text, err := in.View(0, in.Size)
			if err != nil {
				return nil, err
			}
			stage := strings.Fields(string(text))[1]
			at := func(s string) {
				if s == stage {
					<-stop
				}
			}
			at("open")
			obj := &formats.Object{Close: func() error { at("close"); return nil }}
			if strings.HasPrefix(stage, "member") {
				obj.Members = func(context.Context, func(*formats.Input) error) error { at("members"); return nil }
				return obj, nil
			}
			a := formats.Artifact{Rank: symbol.RankDWARF, Parts: 2}
			a.Kind, a.End, a.Canonical, a.ID = symbol.ELF, 64, stage, symbol.NewID(symbol.ELF, stage)
			a.Explode = func(_ context.Context, part int, emit func(*symbol.Run) error) (symbol.Quality, error) {
				if part == 1 {
					at("explode")
				}
				start := uint64(8 * part)
				return symbol.Quality{Units: 1}, emit(&symbol.Run{Rank: a.Rank, Strings: []string{"", "f"}, Scopes: []symbol.Scope{{Parent: -1, Function: 1}},
					Ranges: []symbol.Range{{Start: start, End: start + 8}}})
			}
			a.Check = func(symbol.Quality) error { at("check"); return nil }
			a.Texts = func(context.Context, func(string, []byte) error) error { at("texts"); return nil }
			obj.Artifacts = []formats.Artifact{a}
			return obj, nil
		}}
}

// limits.time ends an object in any stage that its parser does not end, and other objects are loaded.
func TestStuck(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	stages := []string{"detect", "open", "members", "explode", "check", "texts", "close"}
	w := newWorld(t)
	w.o.Formats, w.o.Workers, w.o.ObjectTime, w.src.Texts = []*formats.Format{stuck(stop)}, 2, 200*time.Millisecond, true
	for _, s := range stages {
		w.put(s+".so", "STUCK "+s)
	}
	w.put("good.so", "STUCK nowhere")
	began := time.Now()
	r := w.run()
	if r.Objects.Loaded+r.Objects.Rejected != len(stages)+1 || r.Objects.Rejected < len(stages)-1 {
		t.Errorf("%+v", r.Objects)
	}
	for _, x := range r.Rejected {
		if !strings.Contains(x.Error, "limits.time") {
			t.Errorf("%s: %s", x.URL, x.Error)
		}
	}
	if len(r.Failed) > 0 {
		t.Errorf("%v", r.Failed)
	}
	// Each of them alone would be waited for longer than that.
	if took := time.Since(began); took > time.Duration(len(stages)/2)*build.AbandonTime {
		t.Errorf("the run took %v", took)
	}
	w.verify()
}
