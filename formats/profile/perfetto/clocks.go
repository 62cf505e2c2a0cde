package perfetto

import "github.com/symlake/symlake/formats/internal/protobuf"

// clocks convert times to the clock of the trace, by its first snapshot.
type clocks struct {
	taken bool
	at    [maxClock]int64 // 0: the clock is not in the snapshot
}

// The clocks of a trace that matter here.
const (
	clockReal  = 1
	clockMono  = 3
	clockBoot  = 6
	maxClock   = 64 // clocks above belong to a sequence
	clockID    = 1
	clockTime  = 2
	clocksOne  = 1
	oneSecond  = 1_000_000_000
	earliest   = 946_684_800 * oneSecond // a clock that shows the year 2000 was never set
	noTime     = -1
	microTimes = 1000 // nanoseconds
)

// read takes a snapshot of all clocks.
func (c *clocks) read(f *protobuf.Fields) {
	if c.taken {
		return
	}
	for f.Next() {
		if !f.Is(clocksOne) {
			continue
		}
		one := protobuf.Read(f.Bytes)
		id, at := uint64(0), uint64(0)
		for one.Next() {
			switch one.Number {
			case clockID:
				id = one.Value
			case clockTime:
				at = one.Value
			}
		}
		if id < maxClock {
			c.at[id], c.taken = int64(at), true
		}
	}
}

// boot converts a time of a clock; noTime if the trace does not tell.
func (c *clocks) boot(clock uint64, at int64) int64 {
	switch {
	case at < 0 || clock >= maxClock:
		return noTime
	case clock == 0 || clock == clockBoot || !c.taken:
		return at
	case c.at[clock] == 0 || c.at[clockBoot] == 0:
		return noTime
	}
	return max(noTime, at-c.at[clock]+c.at[clockBoot])
}

// real returns when a time was, in nanoseconds since 1970; 0: the trace does not tell.
func (c *clocks) real(boot int64) int64 {
	if c.at[clockReal] < earliest || c.at[clockBoot] == 0 {
		return 0
	}
	return boot - c.at[clockBoot] + c.at[clockReal]
}
