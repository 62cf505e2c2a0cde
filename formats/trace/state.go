package trace

import "strconv"

// firstState is the number of the first of ART's thread states.
const firstState = 66

// states7 are ART's thread states of Android 7, in which Nanoscope's runtime
// counts.
var states7 = [...]string{
	"Terminated", "Runnable", "TimedWaiting", "Sleeping", "Blocked", "Waiting",
	"WaitingForGcToComplete", "WaitingForCheckPointsToRun", "WaitingPerformingGc",
	"WaitingForDebuggerSend", "WaitingForDebuggerToAttach", "WaitingInMainDebuggerLoop", "WaitingForDebuggerSuspension",
	"WaitingForJniOnLoad", "WaitingForSignalCatcherOutput", "WaitingInMainSignalCatcherLoop", "WaitingForDeoptimization",
	"WaitingForMethodTracingStart", "WaitingForVisitObjects", "WaitingForGetObjectsAllocated", "WaitingWeakGcRootRead",
	"WaitingForGcThreadFlip", "Starting", "Native", "Suspended",
}

// statesNow are the states of Android 13 and later.
var statesNow = [...]string{
	"Terminated", "Runnable", "TimedWaiting", "Sleeping", "Blocked", "Waiting",
	"WaitingForLockInflation", "WaitingForTaskProcessor",
	"WaitingForGcToComplete", "WaitingForCheckPointsToRun", "WaitingPerformingGc",
	"WaitingForDebuggerSend", "WaitingForDebuggerToAttach", "WaitingInMainDebuggerLoop", "WaitingForDebuggerSuspension",
	"WaitingForJniOnLoad", "WaitingForSignalCatcherOutput", "WaitingInMainSignalCatcherLoop", "WaitingForDeoptimization",
	"WaitingForMethodTracingStart", "WaitingForVisitObjects", "WaitingForGetObjectsAllocated", "WaitingWeakGcRootRead",
	"WaitingForGcThreadFlip", "NativeForAbort", "Starting", "Native", "Suspended",
}

// states is the track of a thread's states, one after the other.
type states struct {
	r      *reader
	thread *thread
	names  []string
	track  *Track // nil: none seen yet
	last   int64
	open   bool
}

// name is what a state is called. Runnable is 0 since Android 13.
func (s *states) name(state uint64) string {
	switch {
	case state == 0:
		return "Runnable"
	case state >= firstState && state-firstState < uint64(len(s.names)):
		return s.names[state-firstState]
	}
	return "state " + strconv.FormatUint(state, 10)
}

// enter ends the state that was and begins the next.
func (s *states) enter(at int64, state uint64) (err error) {
	r := s.r
	if s.track == nil {
		s.track, err = r.newTrack(Track{Kind: State, Parent: s.thread.track, Name: "state", PID: s.thread.track.PID})
		if err != nil {
			return err
		}
		r.closers = append(r.closers, s.close)
	}
	if at < s.last {
		r.report.Backward++
		at = s.last
	}
	if err := s.end(at, false); err != nil {
		return err
	}
	text := s.name(state)
	id, err := r.intern([]byte("\x00state "+text), func(string) Name { return Name{Text: text, Plain: true} })
	if err != nil {
		return err
	}
	s.last, s.open = at, true
	r.last = max(r.last, at)
	r.event = Event{Kind: Begin, Track: s.track, Time: at, Name: r.names.of(id), ID: id}
	return r.emit(&r.event)
}

// close ends the open state at the end of the trace, at its last time last.
func (s *states) close(last int64) error { return s.end(max(last, s.last), true) }

func (s *states) end(at int64, unclosed bool) error {
	if !s.open {
		return nil
	}
	s.open = false
	s.r.event = Event{Kind: End, Track: s.track, Time: at, Unclosed: unclosed}
	return s.r.emit(&s.r.event)
}
