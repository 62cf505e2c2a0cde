package catalog

import "testing"

func TestReasonKind(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"elf: .debug_info+0x1f: corrupt input: unit ends early": "elf: corrupt input",
		"r8: line 12: want a class":                             "r8: line N",
		"no-symbols":                                            "no-symbols",
		"":                                                      "",
	} {
		if got := ReasonKind(reason); got != want {
			t.Errorf("the kind of %q is %q, want %q", reason, got, want)
		}
	}
}
