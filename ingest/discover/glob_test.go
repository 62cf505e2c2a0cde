package discover

import "testing"

func TestGlobs(t *testing.T) {
	for _, c := range []struct {
		pattern, key string
		want         bool
	}{
		{"**/*.so", "a.so", true}, {"**/*.so", "a/b/c.so", true}, {"*.so", "a/b.so", false}, {"a/**", "a/b/c", true},
		{"a/**", "ab/c", false}, {"lib?.so", "liba.so", true}, {"lib?.so", "lib/.so", false}, {"a.so", "axso", false}, {"**", "x/y", true},
	} {
		re, err := Glob(c.pattern)
		if err != nil || re.MatchString(c.key) != c.want {
			t.Errorf("%s on %s: %v %v", c.pattern, c.key, !c.want, err)
		}
	}
	p, err := ParseNames("android/{app}/v{build}/**")
	if err != nil {
		t.Fatal(err)
	}
	if app, build := p.Find("android/shop/v1.2-ota/lib/x.so"); app != "shop" || build != "1.2-ota" {
		t.Fatal(app, build)
	}
	for _, bad := range []string{"{app}/**", "{app}/{build", "{app}/{build}/{arch}"} {
		if _, err := ParseNames(bad); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}
