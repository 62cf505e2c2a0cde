package gecko

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// lib is a library that was mapped.
type lib struct {
	name, path, debugName, breakpadID, codeID, arch string

	start, end, offset uint64 // of profiles of the browser: where it was mapped
	names              []string
}

// readLibs reads a list of libraries. Old browsers wrote it as a string of JSON.
func readLibs(s *stream, r *room) (libs []*lib, err error) {
	c, err := s.peek()
	if err != nil {
		return nil, err
	}
	if c == '"' {
		text, err := s.text()
		if err != nil {
			return nil, err
		}
		libs, _ = readLibs(newStream(strings.NewReader(text), nil), r)
		return libs, nil
	}
	err = s.array(func(int) error {
		l := &lib{}
		err := s.object(func(key string) (err error) {
			var of *string
			switch key {
			case "name":
				of = &l.name
			case "path":
				of = &l.path
			case "debugName", "pdbName":
				of = &l.debugName
			case "breakpadId":
				of = &l.breakpadID
			case "codeId":
				of = &l.codeID
			case "arch":
				of = &l.arch
			case "start":
				l.start, err = s.address()
				return err
			case "end":
				l.end, err = s.address()
				return err
			case "offset":
				l.offset, err = s.address()
				return err
			default:
				return s.skip()
			}
			*of, err = s.text()
			return err
		})
		l.names = l.namesOf()
		libs = append(libs, l)
		if err == nil {
			err = r.take(s, int64(256+2*len(l.name)+2*len(l.path)+2*len(l.debugName)))
		}
		return err
	}, nil)
	return libs, err
}

// address reads an address: a number, or a string of hex digits.
func (s *stream) address() (uint64, error) {
	b, err := s.raw()
	if err != nil {
		return 0, err
	}
	if v, ok := integer(b); ok {
		return uint64(v), nil
	}
	v, _ := parseAddress(strings.Trim(string(b), `"`))
	return v, nil
}

// namesOf returns the names to ask for, best first: the build-id, the debug id in the spellings of each system, the files.
func (l *lib) namesOf() (names []string) {
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	code := strings.ToLower(l.codeID)
	if raw, err := hex.DecodeString(code); err == nil && len(raw) >= 16 {
		add(code)
	}
	if id := strings.ToLower(l.breakpadID); len(id) >= 32 && strings.Trim(id, "0") != "" {
		if _, err := hex.DecodeString(id[:32]); err == nil {
			dashed := id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:32]
			add(dashed)
			if l.isWindows() {
				add(dashed + "-" + id[32:])
			}
		}
	}
	for _, file := range []string{l.debugName, l.name, l.path} {
		if file = file[strings.LastIndexAny(file, `/\`)+1:]; file != "" && file[0] != '[' {
			add(file)
		}
	}
	return names
}

// isWindows reports whether a library is one of Windows. Its debug id has an age.
func (l *lib) isWindows() bool {
	return strings.HasSuffix(strings.ToLower(l.debugName), ".pdb") || strings.Contains(l.path, `\`)
}

// question asks for an address from the library's base.
func (l *lib) question(address uint64) report.Frame {
	f := report.Frame{Image: l.names, File: cmp.Or(l.path, l.name, l.debugName), Raw: address, At: symbol.Where{Space: symbol.Position, Value: address}}
	f.Arch = cmp.Or(report.Arch(l.arch), report.AppleArch(l.arch))
	return f
}

// canAsk reports whether any artifact can have the library's name.
func (l *lib) canAsk() bool { return len(l.names) > 0 }

// find returns the library that was mapped at an address, and the address from its base. libs are sorted by start.
func find(libs []*lib, address uint64) (at int, from uint64) {
	i, is := slices.BinarySearchFunc(libs, address, func(l *lib, a uint64) int { return cmp.Compare(l.start, a) })
	if !is {
		i--
	}
	if i < 0 || address >= libs[i].end {
		return null, 0
	}
	return i, address - libs[i].start + libs[i].offset
}

// parseAddress reads "0x7f5c5d5f5f3a".
func parseAddress(text string) (uint64, bool) {
	digits := strings.TrimPrefix(strings.ToLower(text), "0x")
	v, err := strconv.ParseUint(digits, 16, 64)
	return v, err == nil
}
