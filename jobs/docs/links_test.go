package docs

import "testing"

// Links to topics say how a terminal prints them. Others, and code, stay.
func TestTerminal(t *testing.T) {
	t.Parallel()
	all := []Topic{{Name: "lake", Path: "sinks/lake/README.md"}, {Name: "keys", Path: "jobs/docs/keys.md"}}
	all = append(all, Topic{Name: "operator", Path: "jobs/docs/operator.md", Text: "# Op\n\n[symlake](../../README.md) · [Keys](keys.md) · [Lake](../../sinks/lake/README.md) · [Changes](x.md)\n\n" +
		"See [Keys](keys.md#rotate), [here](#op), [this](operator.md) and [web](https://keys.md).\n\n```\n[Keys](keys.md)\n```\n"})
	const want = "# Op\n\nSee also: symlake help keys, lake\n\n" +
		"See [Keys](keys.md#rotate) (symlake help keys), [here](#op), [this](operator.md) and [web](https://keys.md).\n\n```\n[Keys](keys.md)\n```\n"
	if got := Terminal(all[2], all); got != want {
		t.Errorf("the text is\n%s\nwant\n%s", got, want)
	}
}
