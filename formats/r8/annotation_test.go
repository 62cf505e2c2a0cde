package r8

import "testing"

// What short takes of a line is what the reader of JSON does; what it might mistake it leaves to that.
func TestShortAnnotation(t *testing.T) {
	for _, c := range []struct {
		line, text string
		id         annotationID
		short, bad bool
	}{
		{line: `{"id":"sourceFile","fileName":"A.kt"}`, id: idSourceFile, text: "A.kt", short: true},
		{line: `{"id":"com.android.tools.r8.residualsignature","signature":"(La/b;)V"}`, id: idResidualSignature, text: "(La/b;)V", short: true},
		{line: `{"id":"com.android.tools.r8.mapping","version":"2.2"}`, id: idVersion, text: "2.2", short: true},
		{line: `{"id":"sourceFile","fileName":""}`, id: idSourceFile, short: true},
		{line: `{"id":"else","fileName":"A.kt"}`, text: "A.kt", short: true},
		{line: `{"id":"com.android.tools.r8.synthesized"}`, id: idSynthesized},
		{line: `{"id": "sourceFile","fileName":"A.kt"}`, id: idSourceFile, text: "A.kt"},
		{line: `{"fileName":"A.kt","id":"sourceFile"}`, id: idSourceFile, text: "A.kt"},
		{line: `{"id":"sourceFile","fileName":"A\u002ekt"}`, id: idSourceFile, text: "A.kt"},
		{line: `{"id":"source\u0046ile","fileName":"A.kt"}`, id: idSourceFile, text: "A.kt"},
		{line: `{"id":"sourceFile","fileName":"A\"}`, bad: true},
		{line: `{"id":"sourceFile","fileName":"A.kt","fileName":"B.kt"}`, id: idSourceFile, text: "B.kt"},
		{line: `{"id":"sourceFile","fileName":"A.kt","x":":"}`, id: idSourceFile, text: "A.kt"},
		{line: `{"id":"sourceFile","other":"A.kt"}`, id: idSourceFile},
		{line: `{"id":"sourceFile","fileName":"A"kt"}`, bad: true},
		{line: `{"id":"x"y","fileName":"A.kt"}`, bad: true},
	} {
		var n note
		if n.short([]byte(c.line)) != c.short {
			t.Errorf("%s: short is %t", c.line, !c.short)
		}
		ok, reason := n.read([]byte("  # " + c.line + "\r"))
		if (reason != "") != c.bad || ok != (c.id != idUnknown && !c.bad) || !c.bad && (n.id != c.id || n.text != c.text) {
			t.Errorf("%s: id %d, text %q, ok %t, %q", c.line, n.id, n.text, ok, reason)
		}
	}
}
