package serve

import "fmt"

// fail is an answer other than 200.
type fail struct {
	code   int
	reason string
}

func (f *fail) Error() string { return f.reason }

func failed(code int, format string, args ...any) error {
	return &fail{code, fmt.Sprintf(format, args...)}
}
