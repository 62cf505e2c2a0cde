package settings

import (
	"fmt"
	"strings"
)

// documentIntro begins the document.
const documentIntro = `# Settings

This document is made from the program. symlake looks for each setting in four places, and takes the first that has it:

1. the flag on the command line,
2. the variable,
3. the key in ` + "`symlake.yaml`" + `, or in the file that ` + "`--config`" + ` names,
4. the default.

` + "`symlake config check`" + ` prints each setting, its value and its place. Then it tries the places that the settings name, and changes nothing.

- A key with dots is nested: ` + "`lake.region`" + ` is ` + "`lake: {region: eu-central-1}`" + `. Sources are a list: ` + "`sources: [{url: …, names: …}]`" + `.
- A relative path counts from the folder of the file; in a flag or variable it counts from the working folder.
- ` + "`--set KEY=VALUE`" + ` sets a key that has no flag of its own. It can be repeated.
- The flags and variables of sources are about the SOURCE arguments; they change no source of the file.
- Sizes are written as 512MiB or 16GB, times as 90s, 30m or 36h.
- An unknown key is an error with its line. A command that has no such flag ignores its variable and its key.

AWS credentials come from where the AWS tools look for them: ` + "`AWS_PROFILE`, `AWS_ACCESS_KEY_ID`" + ` and their kin. Traces go where
` + "`OTEL_EXPORTER_OTLP_ENDPOINT`" + ` says. ` + "`NO_COLOR`, `CLICOLOR`, `CLICOLOR_FORCE`, `TERM` and `COLUMNS`" + ` mean what they mean elsewhere.
`

// Document returns the reference of all settings, in Markdown.
func Document() string {
	var b strings.Builder
	b.WriteString(documentIntro)
	for _, part := range []struct {
		title    string
		settings []Setting
	}{
		{"Places", places()}, {"HBase with Kerberos or TLS", hbaseSettings()}, {"Lake", lakeSettings()}, {"Keys", keySettings()}, {"Sources", sourceSettings()},
		{"Limits", limits()}, {"Output", output()}, {"Server", serving()},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n| key | flag | variable | type | default | meaning | example |\n|---|---|---|---|---|---|---|\n", part.title)
		for i := range part.settings {
			s := &part.settings[i]
			key, example := "none", ""
			if s.Key != "" {
				key, example = "`"+s.Key+"`", "`"+s.Example+"`"
			}
			flag := "`" + s.FlagText() + "`"
			if s.Commands != nil {
				flag += " of " + strings.Join(s.Commands, ", ")
			}
			fmt.Fprintf(&b, "| %s | %s | `%s` | %s | %s | %s | %s |\n", key, flag, s.Variable(), s.Type, s.Default, s.Meaning, example)
		}
	}
	return b.String()
}
