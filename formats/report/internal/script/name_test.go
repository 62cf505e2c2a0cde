package script

import "testing"

// A name says something if one of its words is no minifier's and no engine's.
func TestName(t *testing.T) {
	t.Parallel()
	for printed, want := range map[string]string{
		"": "", "r": "", "t.e": "", "<anonymous>": "", "Object.<anonymous>": "", "?": "", "eval": "", "global code": "", "i</<": "", "a.<computed> [as total]": "", "get x [as x]": "", "123": "", "Object.4711": "",
		"Promise.then.e": "", "anonymous": "", "(anonymous function)": "", "#a": "",
		"Object.parse": "Object.parse", "t.exports": "t.exports", "HTMLButtonElement.<anonymous>": "HTMLButtonElement.<anonymous>", "r.subscribe.o": "r.subscribe.o",
		"checkout/<": "checkout/<", "Foo/this.bar": "Foo/this.bar", "Cart.get total [as total]": "Cart.get total", "o.deep [as f]": "o.deep", "#total": "#total", "run": "run",
	} {
		if got := string(Name([]byte(printed))); got != want {
			t.Errorf("%s: %q, want %q", printed, got, want)
		}
	}
}
