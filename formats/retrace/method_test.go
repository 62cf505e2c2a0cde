package retrace_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/retrace"
)

// methodsOf asks as a trace does: by class, name and types, as the program has them.
func methodsOf(class func(string) *retrace.Class, name, method string, params []string, returns string) []string {
	m := &report.Managed{Class: name, Method: method, Params: params != nil, Line: -1}
	for _, p := range params {
		m.Types = append(m.Types, report.Type{Name: p})
	}
	var all []string
	names := func(name string) *retrace.Names {
		if x := class(name); x != nil {
			return x.Names()
		}
		return nil
	}
	for _, o := range retrace.Methods(m, returns, names) {
		all = append(all, o.Class+"."+o.Name+"("+o.Params+")"+o.Type)
	}
	return all
}

func TestMethods(t *testing.T) {
	class := mapping(t, `# {"id":"com.android.tools.r8.mapping","version":"2.2"}
com.example.Cart -> a.a:
# {"id":"sourceFile","fileName":"Cart.kt"}
    1:3:void com.example.Inlined.inner():7:9 -> a
    1:3:void add(com.example.Item):20 -> a
    4:4:void add(com.example.Item):21:21 -> a
      # {"id":"com.android.tools.r8.residualsignature","signature":"(La/b;)V"}
    1:1:int add(java.lang.String,int[]):30:30 -> a
    1:1:void remove():40:40 -> b
    2:2:void clear():50:50 -> b
    1:1:void called():60:60 -> c
    1:1:void bridge():0 -> c
      # {"id":"com.android.tools.r8.synthesized"}
    1:1:void lambda$only():0:0 -> d
      # {"id":"com.android.tools.r8.synthesized"}
com.example.Item -> a.b:
    int count -> x
`)
	for _, c := range []struct {
		method  string
		params  []string
		returns string
		want    []string
	}{
		{"a", []string{"a.b"}, "", []string{"com.example.Cart.add(com.example.Item)void"}},
		{"a", []string{"a.b"}, "void", []string{"com.example.Cart.add(com.example.Item)void"}},
		{"a", []string{"java.lang.String", "int[]"}, "int", []string{"com.example.Cart.add(java.lang.String,int[])int"}},
		{"a", nil, "", []string{"com.example.Cart.add(com.example.Item)void", "com.example.Cart.add(java.lang.String,int[])int"}},
		{"a", []string{"long"}, "", []string{"com.example.Cart.add(com.example.Item)void", "com.example.Cart.add(java.lang.String,int[])int"}},
		{"b", []string{}, "", []string{"com.example.Cart.remove()void", "com.example.Cart.clear()void"}},
		{"c", []string{}, "", []string{"com.example.Cart.called()void"}},
		{"d", []string{}, "", []string{"com.example.Cart.lambda$only()void"}},
		{"kept", []string{"a.b[]", "int"}, "", []string{"com.example.Cart.kept(com.example.Item[],int)"}},
	} {
		if diff := cmp.Diff(c.want, methodsOf(class, "a.a", c.method, c.params, c.returns)); diff != "" {
			t.Errorf("%s(%v) %s:\n%s", c.method, c.params, c.returns, diff)
		}
	}
	if got := methodsOf(class, "a.c", "a", nil, ""); got != nil {
		t.Errorf("a class that is not mapped: %v", got)
	}
}

// question is a method as the program has it.
type question struct {
	class, method, signature string
	lines                    []string // the first of each of its ranges
}

var packages = regexp.MustCompile(`[^(,]*\.`)

// questions reads every method of a mapping, with the signature that it has in the program: as a line below it
// says, else the source's, in the program's names.
func questions(t *testing.T, file string) []*question {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Split(strings.TrimSpace(string(b)), "\n")
	renamed := map[string]string{}
	for _, line := range text {
		if from, to, ok := strings.Cut(strings.TrimSuffix(line, ":"), " -> "); ok && line[0] != ' ' && line[0] != '#' {
			renamed[from] = to
		}
	}
	var all []*question
	byHead := map[string]*question{}
	var class, head, lines, name string // of the line that may be a method, if nothing that follows has its lines
	// A method that the compiler made around another, and that one where it alone is named, are one in the
	// program. Their lines spell classes with and without package.
	same := func(class, head, name string) string {
		_, head, _ = strings.Cut(head, " ")
		return class + " " + name + " " + packages.ReplaceAllString(head, "")
	}
	flush := func() {
		if head == "" {
			return
		}
		q := byHead[same(class, head, name)]
		if q == nil {
			source, inside, _ := strings.Cut(strings.TrimSuffix(head, ")"), "(")
			returns, _, _ := strings.Cut(source, " ")
			signature := "("
			for _, p := range strings.Split(inside, ",") {
				if p != "" {
					signature += descriptorOf(renamed, p)
				}
			}
			q = &question{class: class, method: name, signature: signature + ")" + descriptorOf(renamed, returns)}
			byHead[same(class, head, name)] = q
			all = append(all, q)
		}
		if first, _, ok := strings.Cut(lines, ":"); ok {
			q.lines = append(q.lines, first)
		}
		head = ""
	}
	for _, line := range text {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed[0] == '#':
			if _, rest, ok := strings.Cut(trimmed, `residualsignature","signature":"`); ok && head != "" {
				last, of, as := head, class, name
				flush()
				byHead[same(of, last, as)].signature = strings.TrimSuffix(rest, `"}`)
			}
		case line[0] != ' ':
			flush()
			_, class, _ = strings.Cut(strings.TrimSuffix(line, ":"), " -> ")
		default:
			source, as, _ := strings.Cut(trimmed, " -> ")
			open, end := strings.IndexByte(source, '('), strings.IndexByte(source, ')')
			if open < 0 {
				flush()
				continue
			}
			start := strings.LastIndexByte(source[:open], ':') + 1
			if lines == "" || lines != source[:start] || name != as {
				flush() // else the line before was inlined into this one
			}
			head, lines, name = source[start:end+1], source[:start], as
		}
	}
	flush()
	return all
}

var letters = map[string]string{"void": "V", "boolean": "Z", "byte": "B", "char": "C", "short": "S", "int": "I", "long": "J", "float": "F", "double": "D"}

func descriptorOf(renamed map[string]string, name string) string {
	bare := strings.TrimRight(name, "[]")
	arrays := strings.Repeat("[", (len(name)-len(bare))/2)
	if l, ok := letters[bare]; ok {
		return arrays + l
	}
	if to, ok := renamed[bare]; ok {
		bare = to
	}
	return arrays + "L" + strings.ReplaceAll(bare, ".", "/") + ";"
}

// typesOf takes a signature apart.
func typesOf(signature string) (params []string, returns string) {
	params = []string{}
	inside := true
	for i := 1; i < len(signature); {
		from := i
		if signature[i] == ')' {
			inside = false
			i++
			continue
		}
		for signature[i] == '[' {
			i++
		}
		arrays := strings.Repeat("[]", i-from)
		name := ""
		if signature[i] == 'L' {
			end := i + strings.IndexByte(signature[i:], ';')
			name = strings.ReplaceAll(signature[i+1:end], "/", ".")
			i = end + 1
		} else {
			for word, letter := range letters {
				if letter == signature[i:i+1] {
					name = word
				}
			}
			i++
		}
		if inside {
			params = append(params, name+arrays)
		} else {
			returns = name + arrays
		}
	}
	return params, returns
}

// Methods of a mapping that R8 has just made, asked for by its signature in the program, as R8's retrace
// answers it.
func TestFreshMethods(t *testing.T) {
	jar, file := fresh(t, "r8.jar"), fresh(t, "mapping.txt")
	java := formattest.Tool(t, "java", "apt-get install default-jdk-headless")
	all := questions(t, file)
	for i := range all[:len(all)/4] { // a quarter of them takes a second
		all[i] = all[4*i]
	}
	all = all[:len(all)/4]
	var in strings.Builder
	for _, q := range all {
		in.WriteString("L" + strings.ReplaceAll(q.class, ".", "/") + "; " + q.method + " " + q.signature + " " + strings.Join(q.lines, ",") + "\n")
	}
	cmd := exec.CommandContext(t.Context(), java, "-cp", jar, formattest.Testdata(t, "r8/Methods.java"), file)
	cmd.Stdin = strings.NewReader(in.String())
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(answers) != len(all) || len(all) < 3_000 {
		t.Fatalf("%d answers to %d questions", len(answers), len(all))
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	class := mapping(t, string(text))
	different, certain := 0, 0
	for i, q := range all {
		params, returns := typesOf(q.signature)
		got := methodsOf(class, q.class, q.method, params, returns)
		slices.Sort(got)
		want := strings.Split(answers[i], "|")
		if len(want) > 1 { // to a line that only an outline leads to, R8 alone has no answer but the name as it is
			unanswered := "." + q.method + "(" + strings.Join(params, ",") + ")" + returns
			want = slices.DeleteFunc(want, func(m string) bool { return strings.HasSuffix(m, unanswered) })
		}
		if len(got) == 1 {
			certain++
		}
		if !slices.Equal(got, want) {
			if different++; different <= 10 {
				t.Errorf("%v:\n got %q\nwant %q", *q, got, want)
			}
		}
	}
	t.Logf("%d methods, %d certain, %d different", len(all), certain, different)
}
