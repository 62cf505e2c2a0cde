package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// formulaText is the formula of Homebrew, for macOS and Linux.
var formulaText = template.Must(template.New("formula").Parse(`# Made by make release. Put it into Formula/symlake.rb of a tap.
class Symlake < Formula
  desc "Symbol lake: turns crashes into functions, files and lines"
  homepage "https://github.com/symlake/symlake"
  version "{{.Version}}"
  license "Apache-2.0"
{{range $os := .Systems}}
  on_{{.Name}} do
{{range .Archives}}    on_{{.CPU}} do
      url "https://github.com/symlake/symlake/releases/download/v{{$.Version}}/{{.File}}"
      sha256 "{{.Sum}}"
    end
{{end}}  end
{{end}}
  def install
    bin.install "symlake", "symlake-lookup"
    %w[symlake symlake-lookup].each do |name|
      bash_completion.install "completions/#{name}.bash" => name
      zsh_completion.install "completions/_#{name}"
      fish_completion.install "completions/#{name}.fish"
    end
    man1.install Dir["man/*.1"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/symlake --version")
    assert_equal "game::dot(int)", pipe_output("#{bin}/symlake demangle", "_ZN4game3dotEi\n").strip
  end
end
`))

// archive is one archive of a release.
type archive struct{ CPU, File, Sum string }

// brewed is a system that Homebrew knows.
type brewed struct {
	Name     string
	Archives []archive
}

// formula writes symlake.rb beside the checksums, from the archives that they list.
func formula(checksums, version string) error {
	text, err := os.ReadFile(checksums)
	if err != nil {
		return err
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if sum, name, ok := strings.Cut(strings.TrimSpace(line), "  "); ok {
			sums[name] = sum
		}
	}
	var systems []brewed
	for _, s := range []struct{ brew, goos string }{{"macos", "darwin"}, {"linux", "linux"}} {
		b := brewed{Name: s.brew}
		for _, c := range []struct{ brew, arch string }{{"arm", "arm64"}, {"intel", "amd64"}} {
			file := fmt.Sprintf("symlake_%s_%s_%s.tar.gz", version, s.goos, c.arch)
			if sum, ok := sums[file]; ok {
				b.Archives = append(b.Archives, archive{c.brew, file, sum})
			}
		}
		if len(b.Archives) > 0 {
			systems = append(systems, b)
		}
	}
	if len(systems) == 0 {
		return fmt.Errorf("%s lists no archive of version %s", checksums, version)
	}
	f, err := os.Create(filepath.Join(filepath.Dir(checksums), "symlake.rb"))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := formulaText.Execute(f, map[string]any{"Version": version, "Systems": systems}); err != nil {
		return err
	}
	return f.Close()
}
