package query

import (
	"bufio"
	"context"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/answer"
)

const (
	// flowBytes of stacks, about, wait for an answer, beyond one stack of any size: some hundred are answered at once.
	flowBytes = 512 << 10
	// leastStackBytes is what a stack counts for: its frames take more than its text.
	leastStackBytes = 1 << 10
)

// stackFlow answers the stacks of a text, in order. One goroutine reads, one answers all that was read meanwhile, one
// prints. The printer flushes when no answer is ready, so it follows a log while its writer writes.
type stackFlow struct {
	client  *answer.Client
	reading report.Options
	options answer.Options
	print   func(*report.Report, [][]symbol.Answer) error
}

// answered is a pile of stacks with their answers.
type answered struct {
	stacks  []*report.Report
	answers [][][]symbol.Answer
}

// run reads r to its end; the caller's goroutine reads.
func (f *stackFlow) run(ctx context.Context, r io.Reader, w *bufio.Writer) error {
	work, ctx := errgroup.WithContext(ctx)
	waiting := newStackPile()
	ready := make(chan answered, 1)
	work.Go(func() error {
		defer close(ready)
		defer waiting.stop()
		var qs []answer.Query
		for all := waiting.take(); len(all) > 0; all = waiting.take() {
			qs = qs[:0]
			for _, s := range all {
				qs = append(qs, answer.Query{Stack: s, Options: f.options})
			}
			one := answered{all, make([][][]symbol.Answer, len(all))}
			if err := f.client.Stacks(ctx, qs, func(i int, a [][]symbol.Answer) { one.answers[i] = a }); err != nil {
				return err
			}
			select {
			case ready <- one:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	work.Go(func() error {
		for one := range ready {
			for i, s := range one.stacks {
				if err := f.print(s, one.answers[i]); err != nil {
					waiting.stop()
					return err
				}
			}
			if len(ready) == 0 {
				if err := w.Flush(); err != nil {
					waiting.stop()
					return err
				}
			}
		}
		return nil
	})
	err := report.Split(ctx, r, all.Dialects, f.reading, waiting.put)
	waiting.end()
	if failed := work.Wait(); failed != nil {
		return failed
	}
	return err
}

// stackPile holds stacks between the reader and the answerer.
type stackPile struct {
	mu      sync.Mutex
	changed sync.Cond
	stacks  []*report.Report
	bytes   int
	ended   bool // nothing comes any more
	stopped bool // nothing is taken any more
}

func newStackPile() *stackPile {
	p := &stackPile{}
	p.changed.L = &p.mu
	return p
}

// put adds a stack when there is room for it. After stop, the error is context.Canceled.
func (p *stackPile) put(s *report.Report) error {
	n := max(len(s.Text), leastStackBytes)
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.bytes > 0 && p.bytes+n > flowBytes && !p.stopped {
		p.changed.Wait()
	}
	if p.stopped {
		return context.Canceled
	}
	p.stacks, p.bytes = append(p.stacks, s), p.bytes+n
	p.changed.Broadcast()
	return nil
}

// take gives all that is there, when there is any; nil: that was all.
func (p *stackPile) take() []*report.Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.stacks) == 0 && !p.ended && !p.stopped {
		p.changed.Wait()
	}
	all := p.stacks
	if p.stopped {
		all = nil
	}
	p.stacks, p.bytes = nil, 0
	p.changed.Broadcast()
	return all
}

func (p *stackPile) end() {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.changed.Broadcast()
}

func (p *stackPile) stop() {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.changed.Broadcast()
}
