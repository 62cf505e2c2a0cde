// Package setup has the command config. It shows the settings of this place and tries what they name, without a change.
package setup

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/jobs/internal/term"
	"github.com/symlake/symlake/jobs/internal/workspace"
)

// ConfigJob groups the commands about settings.
type ConfigJob struct {
	Check CheckJob `cmd:"" help:"Print every setting and try the places that settings name."`
}

// Help returns the text below the flags.
func (ConfigJob) Help() string { return "Example:\n  symlake config check" }

// CheckJob is the command config check.
type CheckJob struct {
	Report string `help:"Try this place of reports, too: a file or a folder." placeholder:"FILE" group:"Places"`
}

// Help returns the text below the flags.
func (CheckJob) Help() string {
	return "Each line says where a setting comes from: a flag, a variable, a line of the file, or the default. Then symlake tries store, lake, keys, " +
		"sources, Redis, servers and folders, each for 5 seconds at most. It changes and creates nothing. It works before symlake init.\n\n" +
		"Exit codes: 0 all is well; 1 a place is out of reach; 2 a setting is wrong.\n\n" +
		"Example:\n  symlake config check\n  symlake config check --json"
}

// TellsConfig marks a command that tells itself about faults of the configuration.
func (CheckJob) TellsConfig() {}

// shownSetting is a setting as --json prints it.
type shownSetting struct {
	Setting  string `json:"setting"`
	Value    string `json:"value"`
	From     string `json:"from"` // the flag, the variable, FILE:LINE, or default
	Flag     string `json:"flag"`
	Variable string `json:"variable"`
}

// Run prints and tries the settings.
func (j CheckJob) Run(p *workspace.Workspace) error {
	if err := show(p); err != nil {
		return err
	}
	worst := exit.Done
	var findings []finding
	emit := func(f finding) error {
		switch {
		case f.State == wrong:
			worst = exit.WrongUsage
		case f.State == unreachable && worst == exit.Done:
			worst = exit.Failed
		}
		if p.Flags.JSON {
			return p.PrintJSON(f)
		}
		findings = append(findings, f)
		return nil
	}
	watch := p.WatchBar("config check")
	defer watch.Stop()
	var err error
	if p.Wrong != nil {
		err = emit(finding{"configuration", p.ConfigFile(), wrong, p.Wrong.Error(), "correct it: symlake help settings lists the settings"})
	} else {
		err = j.try(p, emit)
	}
	watch.Stop()
	if err == nil && !p.Flags.JSON {
		err = print(p, findings)
	}
	if err == nil && worst != exit.Done {
		err = &exit.Error{Code: worst}
	}
	return err
}

// show prints the settings.
func show(p *workspace.Workspace) error {
	var list []shownSetting
	file := &p.Config.File
	shown := map[string]bool{}
	for _, s := range settings.All() {
		if s.OfSources() {
			for _, key := range file.Keys() {
				if i := strings.Index(key, "]."); strings.HasPrefix(key, "sources[") && i > 0 && "sources."+key[i+2:] == s.Key && !shown[key] {
					text, where, _ := file.Value(key)
					shown[key] = true
					list = append(list, shownSetting{key, hide(&s, text), where, s.FlagText(), s.Variable()})
				}
			}
		}
		value, from := current(p, &s)
		name := s.Key
		if name == "" {
			name = s.Flag
		}
		list = append(list, shownSetting{name, hide(&s, value), from, s.FlagText(), s.Variable()})
	}
	table := p.Table(term.Column{Name: "SETTING", Ink: term.Loud}, term.Column{Name: "VALUE", Least: 12}, term.Column{Name: "FROM", Least: 12})
	lines := tabwriter.NewWriter(p.Out, 0, 4, 2, ' ', 0)
	for _, s := range list {
		value := s.Value
		if value == "" {
			value = "-"
		}
		var err error
		switch {
		case p.Flags.JSON:
			err = p.PrintJSON(s)
		case table != nil:
			err = table.Row(s.Setting, value, s.From)
		default:
			_, err = fmt.Fprintf(lines, "%s\t%s\t%s\n", s.Setting, term.OneLine(value), s.From)
		}
		if err != nil {
			return err
		}
	}
	if table != nil {
		return table.Flush()
	}
	return lines.Flush()
}

// current returns the value of a setting and its place.
func current(p *workspace.Workspace, s *settings.Setting) (value, from string) {
	if s.Flag != "" && s.Commands == nil && p.Given(s.Flag) {
		return p.FlagText(s.Flag), "--" + s.Flag
	}
	if v, ok := p.Flags.Set[s.Key]; ok && s.Key != "" {
		return v, "--set"
	}
	if v := strings.TrimSpace(os.Getenv(s.Variable())); v != "" {
		return v, s.Variable()
	}
	if !s.OfSources() {
		if text, where, ok := p.Config.File.Value(s.Key); ok && s.Key != "" {
			return text, where
		}
	}
	return s.Default, "default"
}

// hide returns a value without its secrets.
func hide(s *settings.Setting, value string) string {
	if value == "" {
		return ""
	}
	if strings.Contains(value, "://") {
		if u, err := url.Parse(value); err != nil {
			if strings.Contains(value, "@") {
				return "***"
			}
		} else if _, secret := u.User.Password(); secret {
			return u.Redacted()
		}
		return value
	}
	if s.Secret {
		return "***"
	}
	return value
}

// print prints findings for a person or as lines.
func print(p *workspace.Workspace, findings []finding) error {
	table := p.Table(term.Column{Name: "CHECK", Ink: term.Loud}, term.Column{Name: "STATE", Ink: term.States}, term.Column{Name: "PLACE", Least: 16})
	if table == nil {
		for _, f := range findings {
			if _, err := fmt.Fprintln(p.Out, f); err != nil {
				return err
			}
		}
		return nil
	}
	fmt.Fprintln(p.Out)
	for _, f := range findings {
		if err := table.Row(f.Check, f.State, f.Place); err != nil {
			return err
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, f := range findings {
		if f.Reason != "" {
			if err := note(p.Out, p.OutView, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// note prints the reason of a finding as a paragraph.
func note(w io.Writer, v term.View, f finding) error {
	text := f.Check + ": " + f.Reason
	if f.Do != "" {
		text += ": " + f.Do
	}
	_, err := fmt.Fprintf(w, "\n%s\n", v.Paint(term.States(f.State), term.Wrap(text, min(v.Width(), 100))))
	return err
}
