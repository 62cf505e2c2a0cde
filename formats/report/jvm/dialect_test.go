package jvm_test

import (
	"testing"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/jvm"
	"github.com/symlake/symlake/formats/report/reporttest"
)

func TestDialect(t *testing.T) {
	reporttest.Run(t, jvm.Dialect,
		reporttest.Fixture{Name: "list", Frames: 3, Text: "{\"x\": 1,\n\"stack\": [\"a.b: x\",\n  \"\\tat a.b.c(SourceFile:3)\",\n  \"\\tat a.b.d(SourceFile:4)\"]}\n"},
		reporttest.Fixture{Name: "exception", Frames: 5, Text: "java.lang.IllegalStateException: a.b: x\n\tat a.b.c(SourceFile:12)\n\tat d.e.<init>(SourceFile)\n\t... 3 more\nCaused by: f.g: y\n\tat h.i.j(Unknown Source)\n"},
		reporttest.Fixture{Name: "a user's expression", Frames: 2, Options: report.Options{Managed: report.ManagedOptions{Line: expression(t)}}, Text: "[a.b] c\n[a.d] e\n"},
	)
}

func expression(t *testing.T) *report.Expression {
	t.Helper()
	e, err := report.ParseExpression(`\[%c\] %m`)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
