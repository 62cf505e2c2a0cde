package term

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Number is a type of whole numbers.
type Number interface {
	~int | ~int32 | ~int64 | ~uint | ~uint32 | ~uint64
}

// Count returns a count with its thousands parted: 1,904,113.
func Count[N Number](n N) string {
	digits, sign := fmt.Sprint(n), ""
	if digits[0] == '-' {
		digits, sign = digits[1:], "-"
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Counted returns a count with the noun it counts. The plural of the noun ends with an s.
func Counted[N Number](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Count(n) + " " + noun + "s"
}

// Size returns a number of bytes as people read it: 310 MiB.
func Size[N Number](n N) string {
	value, unit := float64(n), 0
	units := [...]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	for math.Abs(value) >= 999.5 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	if unit == 0 || math.Abs(value) >= 99.95 {
		return strconv.FormatFloat(value, 'f', 0, 64) + " " + units[unit]
	}
	return strconv.FormatFloat(value, 'f', 1, 64) + " " + units[unit]
}

// Age returns how long ago a time was, in its largest unit: 3 min ago. A zero time has none.
func Age(at, now time.Time) string {
	d := now.Sub(at)
	switch {
	case at.IsZero():
		return "-"
	case d < time.Second:
		return "now"
	}
	return Rough(d) + " ago"
}

// Rough returns a duration in its largest unit: 12 s, 3 min, 5 h, 41 d.
func Rough(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d d", d/day)
}

// Seconds returns the time that a job took: less than 0.1 s, 0.3 s, 12 s, 4 min 5 s, 1 h 2 min.
func Seconds(s float64) string {
	whole := int64(math.Round(s))
	switch {
	case s < 0.05:
		return "less than 0.1 s"
	case s < 9.95:
		return strconv.FormatFloat(s, 'f', 1, 64) + " s"
	case whole < 60:
		return fmt.Sprintf("%d s", whole)
	case whole < 3600:
		return fmt.Sprintf("%d min %d s", whole/60, whole%60)
	}
	return fmt.Sprintf("%d h %d min", whole/3600, whole%3600/60)
}

// Percent returns a share as people read it: 97 %.
func Percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// clock returns a duration as a clock shows it: 0:07, 12:40, 1:02:03.
func clock(d time.Duration) string {
	s := int64(d.Round(time.Second) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s%3600/60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
