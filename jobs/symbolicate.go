package jobs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/stack"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/lookup"
)

type symbolicateJob struct {
	Files    []string `arg:"" optional:"" name:"file" help:"Raw stacks, or method traces; standard input without."`
	Artifact []string `help:"Artifact of frames that name none; repeatable." placeholder:"NAME"`
	App      string   `help:"APP@BUILD that frames without an id belong to." placeholder:"APP@BUILD"`
	Symbols  []string `help:"Explode these files into memory and use them: no store is needed; repeatable." placeholder:"PATH"`
	Frame0   string   `name:"frame0" help:"What frame 0 is: exact, return or stepped (default: by the stack's format)." enum:"exact,return,stepped," default:""`
	School   string   `help:"How Java and Kotlin is retraced: r8, byte for byte as R8's retrace; list, with synthesized frames and unmarked alternatives (default: as R8, but for what it misses)." enum:"r8,list," default:""`
	Verbose  bool     `help:"Print what Java and Kotlin methods return and take."`
	Regex    string   `help:"An expression for lines of Java and Kotlin, as R8's retrace takes it: %c class, %m method, %s file, %l line, %S both, %t type, %a types, %f field." placeholder:"EXPRESSION"`
	dartFlags
	traceFlags
	Explain bool    `help:"Print the way from each frame's text to its row."`
	asked   *demand // nil: nobody keeps it
	Output  string  `help:"Where the result goes; .ndjson for records, else text; .perfetto-trace or .speedscope.json for method traces." placeholder:"FILE"`
}

func (symbolicateJob) Help() string {
	return "Text that is no frame passes through unchanged.\n\nExample:\n  symlake symbolicate --symbols ./libs crash.txt\n  adb logcat -d | symlake symbolicate\n  symlake symbolicate out.txt --artifact shop@1234 --output out.perfetto-trace\n  symlake symbolicate out.txt --artifact shop@1234 --jank-stack 100ms"
}

// Run reads stacks in order and prints each as soon as it is answered.
func (j symbolicateJob) Run(p *process) (err error) {
	frame0, err := stack.ParseFrame0(j.Frame0)
	if err != nil {
		return usage("--frame0: %w", err)
	}
	if done, err := j.traces(p); done {
		return err
	}
	client, close, err := j.client(p)
	if err != nil {
		return err
	}
	defer close()
	if len(j.Symbols) == 0 {
		j.asked = &demand{}
		defer j.asked.note(p)
	}
	managed, err := j.managed(p, client)
	if err != nil {
		return err
	}
	options := stack.Options{Artifacts: j.Artifact, Frame0: frame0, Managed: managed}
	if err := j.dartFlags.options(&options); err != nil {
		return err
	}
	to := p.out
	if j.Output != "" {
		f, cerr := os.Create(j.Output)
		if cerr != nil {
			return fmt.Errorf("create output: %w", cerr)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		to = f
	}
	w := bufio.NewWriter(to)
	bare := bareImages{}
	one := func(name string, r io.Reader) error {
		err := stack.Split(p.ctx, r, options, func(s *stack.Stack) error { return j.answer(p, client, w, s, bare) })
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	if len(j.Files) == 0 {
		err = one("standard input", p.in)
	}
	for _, file := range j.Files {
		f, oerr := os.Open(file)
		if oerr != nil {
			return errors.Join(oerr, w.Flush())
		}
		err = one(file, f)
		f.Close()
		if err != nil {
			break
		}
	}
	return errors.Join(err, w.Flush())
}

// managed says how lines of Java and Kotlin are read. Where a mapping is
// named, every line may name one of its classes, as R8's retrace has it.
func (j symbolicateJob) managed(p *process, client *lookup.Client) (o stack.ManagedOptions, err error) {
	if o.School, err = stack.ParseSchool(j.School); err != nil {
		return o, usage("--school: %w", err)
	}
	if j.Regex != "" {
		if o.Line, err = stack.ParseExpression(j.Regex); err != nil {
			return o, usage("--regex: %w", err)
		}
	}
	o.Verbose = j.Verbose || j.json(p) // records tell alternatives apart
	names := j.Artifact
	if j.App != "" {
		names = append(slices.Clip(names), j.App)
	}
	for _, name := range names {
		r := client.Resolve(p.ctx, name, lookup.Narrow{Kind: symbol.R8, App: j.App})
		o.All = o.All || r.Record != nil && r.Record.Published != nil && r.Record.Published.Artifact.Kind == symbol.R8
	}
	return o, nil
}

// json: records are wanted, no text.
func (j symbolicateJob) json(p *process) bool {
	return p.flags.JSON || filepath.Ext(j.Output) == ".ndjson"
}

// client looks things up in the store, or in what --symbols names.
func (j symbolicateJob) client(p *process) (*lookup.Client, func() error, error) {
	if len(j.Symbols) == 0 {
		return p.openClient(lookup.Options{})
	}
	return p.memoryClient(j.Symbols)
}

// answer prints one stack.
func (j symbolicateJob) answer(p *process, client *lookup.Client, w *bufio.Writer, s *stack.Stack, bare bareImages) error {
	o := lookup.StackOptions{Artifacts: j.Artifact, App: j.App}
	answers, err := client.Stack(p.ctx, s, o)
	if err != nil {
		return err
	}
	if j.asked != nil {
		j.asked.stack(p, client, s, answers)
	}
	if j.json(p) {
		if record := wire.NewStack(s, answers); record != nil {
			return writeJSON(w, record)
		}
		return nil
	}
	if err := stack.Print(w, s, answers); err != nil {
		return err
	}
	bare.warn(p, s, answers)
	if j.Explain {
		if err := explain(p.ctx, w, client, s, o); err != nil {
			return err
		}
	}
	return w.Flush()
}

// maxBare bounds the images that are warned of in one run.
const maxBare = 64

// bareImages are those whose frames stayed as they were, and that was said.
type bareImages map[string]bool

// warn says once for each image why its frames stay as they are.
func (b bareImages) warn(p *process, s *stack.Stack, answers [][]symbol.Answer) {
	for t := range s.Threads {
		for i := range s.Threads[t].Frames {
			f, a := &s.Threads[t].Frames[i], answers[t][i]
			if a.Status == symbol.Found || a.Status == symbol.Hole || a.Status == symbol.Outside || len(f.Image) == 0 {
				continue
			}
			key := strings.Join(f.Image, " ")
			if b[key] || len(b) >= maxBare {
				continue
			}
			b[key] = true
			p.log.Warn("not symbolicated", "image", f.File, "status", a.Status, "reason", wire.Reason(a))
		}
	}
}

// explain prints, for each frame, the way from its text to its row.
func explain(ctx context.Context, w io.Writer, client *lookup.Client, s *stack.Stack, o lookup.StackOptions) error {
	threads, err := client.Explain(ctx, s, o)
	if err != nil {
		return err
	}
	for t, frames := range threads {
		for f := range frames {
			fmt.Fprintf(w, "explain thread %d frame %d\n", t, f)
			if err := wire.WriteExplanation(w, &frames[f]); err != nil {
				return err
			}
		}
	}
	return nil
}
