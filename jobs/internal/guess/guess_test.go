package guess

import "testing"

func TestNearest(t *testing.T) {
	t.Parallel()
	commands := []string{"init", "ingest", "lookup", "symbolicate", "status", "keys", "gc", "completion", "compact"}
	for word, want := range map[string]string{
		"ingset": "ingest", "Ingest": "ingest", "lookpu": "lookup", "symbolize": "symbolicate", "sym": "symbolicate", "stats": "status", "state": "",
		"com": "", "comp": "", "compl": "completion", "key": "keys", "": "", "zzz": "", "x": "", "gx": "gc", "list": "",
	} {
		if got := Nearest(word, commands); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestAmong(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"sealde": `"sealde" is not known: did you mean sealed? Want sealed or plain`,
		"other":  `"other" is not known: want sealed or plain`,
		"":       "the value is empty: want sealed or plain",
	} {
		if got := Among(value, []string{"sealed", "plain", ""}); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}
