package il2cpp

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats"
)

// maxMethods bounds a map of methods: a large game has 700,000.
const maxMethods = 1 << 23

// Methods are the C# methods of native functions, by the name of the function.
type Methods map[string]string

// ReadMethods reads MethodMap.tsv: a line of the native function, the full name of its method, and its assembly, parted by
// tabs. Lines that have no function are passed over.
//
//	Player_Update_m1F2E…	System.Void Game.Player::Update(System.Single)	Assembly-CSharp
func ReadMethods(in *formats.Input) (Methods, error) {
	if in.Size > maxBytes {
		return nil, fault(0, fmt.Sprintf("at most %d bytes", int64(maxBytes)), formats.ErrLimit)
	}
	b, err := in.View(0, in.Size)
	if err != nil {
		return nil, err
	}
	all := Methods{}
	for len(b) > 0 {
		line := b
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			line, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		native, rest, isMethod := bytes.Cut(bytes.TrimSuffix(line, []byte("\r")), []byte("\t"))
		full, _, _ := bytes.Cut(rest, []byte("\t"))
		if !isMethod || len(native) == 0 || len(full) == 0 || string(native) == "NULL" {
			continue
		}
		if len(all) == maxMethods {
			return nil, fault(in.Size-int64(len(b)), fmt.Sprintf("at most %d methods", maxMethods), formats.ErrLimit)
		}
		all[string(native)] = Readable(string(full))
	}
	return all, nil
}

// suffixes are what il2cpp appends to the name of a method's function for its second forms.
var suffixes = [...]string{"_AdjustorThunk", "_inline", "_gshared_inline", "_gshared", "_fshared_inline", "_fshared"}

// of returns the method of a native function; "": none.
func (m Methods) of(function string) string {
	if to := m[function]; to != "" {
		return to
	}
	for _, s := range suffixes {
		if bare, cut := strings.CutSuffix(function, s); cut {
			if to := m[bare]; to != "" {
				return to
			}
		}
	}
	return ""
}
