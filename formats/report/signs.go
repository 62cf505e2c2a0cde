package report

import "bytes"

// hasSigns reports whether a text of several lines may hold frames.
func hasSigns(raw []byte) bool {
	return bytes.Contains(raw, []byte("0x")) || bytes.Contains(raw, []byte("at ")) || bytes.Contains(raw, []byte("#0")) ||
		bytes.Contains(raw, []byte("pc ")) || bytes.IndexByte(raw, '@') >= 0 || bytes.IndexByte(raw, '(') >= 0 || bytes.Count(raw, []byte{':'}) > 1
}

// hasPlaces reports whether an element of a list ends as frames do, or begins so. Calls in lines of source do not.
func hasPlaces(raw []byte) bool {
	for _, sign := range []string{`"at `, `\tat `, `  at `, "#0", "0x"} {
		if bytes.Contains(raw, []byte(sign)) {
			return true
		}
	}
	if bytes.HasPrefix(raw, []byte("at ")) {
		return true
	}
	for line := range bytes.SplitSeq(raw, []byte{'"'}) {
		line = bytes.TrimRight(bytes.TrimSuffix(line, []byte{')'}), "0123456789")
		if len(line) > 1 && line[len(line)-1] == ':' {
			return true
		}
	}
	return false
}

// isSource reports whether the list that begins at the end of before holds lines of source around a frame.
func isSource(before []byte) bool {
	open := bytes.LastIndexByte(before, '[')
	return open >= 0 && bytes.Contains(memberName(before[:open]), []byte("context"))
}

// memberName returns the name, as it is spelled, of the member that a string follows behind before; nil: the string is an
// element of a list.
func memberName(before []byte) []byte {
	before, ok := bytes.CutSuffix(bytes.TrimRight(before, " \t\r\n"), []byte{':'})
	if before = bytes.TrimRight(before, " \t\r\n"); !ok || !bytes.HasSuffix(before, []byte{'"'}) {
		return nil
	}
	before = before[:len(before)-1]
	for at := len(before); ; {
		if at = bytes.LastIndexByte(before[:at], '"'); at < 0 {
			return nil
		}
		if at == 0 || before[at-1] != '\\' {
			return before[at+1:]
		}
	}
}
