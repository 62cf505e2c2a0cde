package loads

import "github.com/symlake/symlake/sinks/row/ranges"

// aheadBlocks is how many full blocks wait at most: the dictionary is coded before the first of them.
const aheadBlocks = 8

// beside runs steps in a goroutine, in their order, until one fails. The goroutine that made it calls its methods.
type beside struct {
	guard  func(step func() error) error
	steps  chan func() error // nil: end was called
	failed chan struct{}     // closed when err is set
	ended  chan struct{}     // closed when the goroutine has ended
	err    error             // of a step
	empty  chan *ranges.Full
}

func newBeside(guard func(step func() error) error) *beside {
	b := &beside{guard: guard, steps: make(chan func() error, aheadBlocks), failed: make(chan struct{}), ended: make(chan struct{}),
		empty: make(chan *ranges.Full, aheadBlocks)}
	for range aheadBlocks - 1 { // the writer has one
		b.empty <- new(ranges.Full)
	}
	go b.run()
	return b
}

func (b *beside) run() {
	defer close(b.ended)
	for step := range b.steps {
		if b.err != nil {
			continue
		}
		if b.err = b.guard(step); b.err != nil {
			close(b.failed)
		}
	}
}

// add adds a step. It returns the error of an earlier step, if one has failed.
func (b *beside) add(step func() error) error {
	select {
	case <-b.failed:
		return b.err
	case b.steps <- step:
		return nil
	}
}

// code adds the step that codes a full block, and returns an empty block.
func (b *beside) code(full *ranges.Full, step func() error) (*ranges.Full, error) {
	err := b.add(func() error {
		err := step()
		b.empty <- full
		return err
	})
	if err != nil {
		return nil, err
	}
	select {
	case <-b.failed:
		return nil, b.err
	case next := <-b.empty:
		return next, nil
	}
}

// end waits for all steps, and ends the goroutine. It returns the error of a step.
func (b *beside) end() error {
	if b.steps != nil {
		close(b.steps)
		<-b.ended
		b.steps = nil
	}
	return b.err
}
