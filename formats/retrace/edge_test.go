package retrace_test

import (
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/report"
)

// Ranges that a tool wrote from the last line to the first are read as R8 and rust-proguard read them: from the first.
// R8's retrace 9.5.28 gave these answers.
func TestInvertedRanges(t *testing.T) {
	for _, c := range []struct{ member, want string }{ // want: the lines that 2, 3 and 5 stand for
		{"2:5:void foo():5:2", "2 3 5"},
		{"2:5:void foo():2:5", "2 3 5"},
		{"5:2:void foo():5:2", "2 3 5"},
		{"5:2:void foo():2:5", "2 3 5"},
		{"5:2:void foo():0:3", "0 1 3"},
		{"2:5:void foo():3:0", "3 3 3"},
		{"5:2:void foo():3:0", "3 3 3"},
		{"5:2:void foo()", "2 3 5"},
		{"5:2:void foo():7", "7 7 7"},
	} {
		class := mapping(t, "com.x.C -> a.c:\n    "+c.member+" -> a\n")
		for _, school := range schools {
			var text, want strings.Builder
			for i, line := range []string{"2", "3", "5"} {
				text.WriteString("\tat a.c.a(SourceFile:" + line + ")\n")
				want.WriteString("\tat com.x.C.foo(C.java" + strings.TrimSuffix(":"+strings.Fields(c.want)[i], ":0") + ")\n")
			}
			same(t, c.member, want.String(), print(t, class, report.ManagedOptions{School: school}, text.String()))
		}
	}
	// Ranges of unequal length: each line of the source is an answer, in whichever order they stand.
	for _, from := range []string{"10:11", "11:10"} {
		class := mapping(t, "com.x.C -> a.c:\n    1:5:void foo():"+from+" -> a\n")
		for _, school := range schools {
			same(t, from, "\tat com.x.C.foo(C.java:10)\n\t<OR> at com.x.C.foo(C.java:11)\n", print(t, class, report.ManagedOptions{School: school}, "\tat a.c.a(SourceFile:3)\n"))
		}
	}
}

// Compose's compiler puts the lambdas of a file into a class that names the file.
func TestComposeFiles(t *testing.T) {
	class := mapping(t, `com.x.ComposableSingletons$MyScreenKt -> a.a:
    1:1:void f():5:5 -> a
com.x.ComposableSingletons$MyScreenKt$lambda-1$1 -> a.b:
    1:1:void f():5:5 -> a
com.x.ComposableSingletons$Named -> a.c:
    1:1:void f():5:5 -> a
`)
	files := map[report.School]string{
		report.R8: "ComposableSingletons.java ComposableSingletons.java ComposableSingletons.java", report.Own: "MyScreen.kt MyScreen.kt ComposableSingletons.java",
		report.List: "MyScreen.kt MyScreen.kt ComposableSingletons.java",
	}
	for school, want := range files {
		got := print(t, class, report.ManagedOptions{School: school}, "\tat a.a.a(SourceFile:1)\n\tat a.b.a(SourceFile:1)\n\tat a.c.a(SourceFile:1)\n")
		f := strings.Fields(want)
		same(t, school.String(), "\tat com.x.ComposableSingletons$MyScreenKt.f("+f[0]+":5)\n\tat com.x.ComposableSingletons$MyScreenKt$lambda-1$1.f("+f[1]+":5)\n"+
			"\tat com.x.ComposableSingletons$Named.f("+f[2]+":5)\n", got)
	}
}
