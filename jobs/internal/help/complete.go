package help

import (
	"fmt"
	"slices"
	"strings"
)

// Shells are the shells that Completion knows.
var Shells = []string{"bash", "zsh", "fish", "powershell"}

// Completion returns the script that completes the program's words in a shell: commands, flags, values, topics and files.
func (m *Manual) Completion(shell string) string {
	switch shell {
	case "bash":
		return m.bash()
	case "zsh":
		return m.zsh()
	case "fish":
		return m.fish()
	}
	return m.powershell()
}

// words returns the names of commands and topics, for the command help.
func (m *Manual) words() []string {
	words := []string{"flags"}
	for _, c := range m.Commands {
		words = append(words, c.Name)
	}
	for _, t := range m.Topics {
		words = append(words, t.Name)
	}
	return words
}

// arguments returns the words that stand for arguments of a command. files: paths complete too.
func (m *Manual) arguments(c *Command) (words []string, files bool) {
	switch c.Name {
	case "help":
		return m.words(), false
	case "completion":
		return Shells, false
	}
	for _, a := range c.Args {
		files = files || a.File
	}
	for _, below := range c.Commands {
		words = append(words, last(below.Name))
	}
	return words, files
}

func last(name string) string { return name[strings.LastIndexByte(name, ' ')+1:] }

// flagsOf returns the flags of a command with the flags of every command.
func (m *Manual) flagsOf(c *Command) []Flag { return append(slices.Clone(c.Flags), m.Flags...) }

// names returns flags as they are typed.
func names(list []Flag) (words []string) {
	for _, f := range list {
		words = append(words, "--"+f.Name)
		if f.Negatable {
			words = append(words, "--no-"+f.Name)
		}
		if f.Short != "" {
			words = append(words, "-"+f.Short)
		}
	}
	return words
}

// function returns the program's name as part of a shell function's.
func (m *Manual) function() string { return strings.ReplaceAll(m.Program, "-", "_") }

// bash returns a script for bash 3.2 and later. It needs no package of completions.
func (m *Manual) bash() string {
	var w strings.Builder
	fn := m.function()
	fmt.Fprintf(&w, "# Completion of %[1]s for bash. In ~/.bashrc: source <(%[1]s completion bash)\n\n", m.Program)
	// What a command line has left of the cursor leads to one command.
	fmt.Fprintf(&w, "_%s_next() {\n\tcase \"$1:$2\" in\n", fn)
	for _, c := range m.All() {
		above := ""
		if i := strings.LastIndexByte(c.Name, ' '); i >= 0 {
			above = c.Name[:i]
		}
		fmt.Fprintf(&w, "\t\"%s:%s\") echo \"%s\" ;;\n", above, last(c.Name), c.Name)
	}
	fmt.Fprintf(&w, "\t*) echo \"$1\" ;;\n\tesac\n}\n\n")
	fmt.Fprintf(&w, "_%s_flags() {\n\tcase \"$1\" in\n", fn)
	for _, c := range m.All() {
		fmt.Fprintf(&w, "\t\"%s\") echo \"%s\" ;;\n", c.Name, strings.Join(names(c.Flags), " "))
	}
	fmt.Fprintf(&w, "\tesac\n\techo \"%s\"\n}\n\n", strings.Join(names(m.Flags), " "))
	fmt.Fprintf(&w, "# Prints how the value of a flag completes: words, FILES, or ANY; nothing where the flag takes none.\n_%s_value() {\n\tcase \"$1:$2\" in\n", fn)
	value := func(command string, list []Flag) {
		for _, f := range list {
			if kind := valueOf(&f); kind != "" {
				fmt.Fprintf(&w, "\t\"%s:--%s\") echo \"%s\" ; return ;;\n", command, f.Name, kind)
			}
		}
	}
	for _, c := range m.All() {
		value(c.Name, c.Flags)
	}
	fmt.Fprintf(&w, "\tesac\n\tcase \":$2\" in\n")
	value("", m.Flags)
	fmt.Fprintf(&w, "\tesac\n}\n\n_%s_arguments() {\n\tcase \"$1\" in\n\t\"\") echo \"%s\" ;;\n", fn, strings.Join(m.words()[1:1+len(m.Commands)], " "))
	for _, c := range m.All() {
		words, files := m.arguments(c)
		if files {
			words = append(words, "FILES")
		}
		fmt.Fprintf(&w, "\t\"%s\") echo \"%s\" ;;\n", c.Name, strings.Join(words, " "))
	}
	fmt.Fprintf(&w, "\tesac\n}\n\n"+`_%[1]s() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev= word= command= kind= i=1
	while [ $i -lt $COMP_CWORD ]; do
		word=${COMP_WORDS[i]}
		case $word in
		=) ;;
		-*) prev=$word
			if [ -n "$(_%[1]s_value "$command" "$word")" ]; then
				i=$((i + 1))
				if [ "${COMP_WORDS[i]}" = "=" ]; then i=$((i + 1)); fi
				if [ $i -lt $COMP_CWORD ]; then prev=; fi
			else
				prev=
			fi ;;
		*) prev=; command=$(_%[1]s_next "$command" "$word") ;;
		esac
		i=$((i + 1))
	done
	if [ "$cur" = "=" ]; then cur=; fi
	if [ -n "$prev" ]; then
		kind=$(_%[1]s_value "$command" "$prev")
	else
		case $cur in
		-*) kind=$(_%[1]s_flags "$command") ;;
		*) kind=$(_%[1]s_arguments "$command") ;;
		esac
	fi
	COMPREPLY=()
	case " $kind " in
	*" FILES "*)
		kind=${kind%%FILES}
		compopt -o filenames 2>/dev/null
		while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$cur") ;;
	esac
	if [ "$kind" != ANY ]; then
		while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$kind" -- "$cur")
	fi
}

complete -F _%[1]s %[2]s
`, fn, m.Program)
	return w.String()
}

// valueOf says how the value of a flag completes: words, FILES, or ANY; "": it takes none.
func valueOf(f *Flag) string {
	switch {
	case f.Placeholder == "":
		return ""
	case len(f.Values) > 0:
		return strings.Join(f.Values, " ")
	case f.File:
		return "FILES"
	}
	return "ANY"
}

// zsh returns a script that works in a folder of $fpath and by source.
func (m *Manual) zsh() string {
	var w strings.Builder
	fn := m.function()
	fmt.Fprintf(&w, "#compdef %[1]s\n# Completion of %[1]s for zsh: save it as _%[1]s in a folder of $fpath, or source <(%[1]s completion zsh)\n", m.Program)
	var each func(name string, commands []*Command, c *Command)
	each = func(name string, commands []*Command, c *Command) {
		list := m.Flags
		if c != nil {
			list = m.flagsOf(c)
		}
		fmt.Fprintf(&w, "\n_%s() {\n\tlocal curcontext=\"$curcontext\" state line\n\ttypeset -A opt_args\n\t_arguments -C -S", name)
		for _, f := range list {
			for _, spec := range zshFlag(&f) {
				fmt.Fprintf(&w, " \\\n\t\t%s", single(spec))
			}
		}
		if len(commands) == 0 {
			words, files := m.arguments(c)
			switch {
			case len(words) > 0:
				fmt.Fprintf(&w, " \\\n\t\t%s", single("*:word:("+strings.Join(words, " ")+")"))
			case files:
				fmt.Fprintf(&w, " \\\n\t\t'*:file:_files'")
			case len(c.Args) > 0:
				fmt.Fprintf(&w, " \\\n\t\t%s", single("*:"+strings.ToLower(c.Args[0].Name)+": "))
			}
			fmt.Fprintf(&w, "\n}\n")
			return
		}
		fmt.Fprintf(&w, " \\\n\t\t'1:command:->command' \\\n\t\t'*::argument:->rest'\n\tcase $state in\n\tcommand)\n\t\tlocal -a commands\n\t\tcommands=(\n")
		for _, below := range commands {
			fmt.Fprintf(&w, "\t\t\t%s\n", single(last(below.Name)+":"+strings.TrimSuffix(below.Summary, ".")))
		}
		fmt.Fprintf(&w, "\t\t)\n\t\t_describe command commands ;;\n\trest)\n\t\tcase $words[1] in\n")
		for _, below := range commands {
			fmt.Fprintf(&w, "\t\t%[1]s) _%[2]s_%[1]s ;;\n", last(below.Name), name)
		}
		fmt.Fprintf(&w, "\t\tesac ;;\n\tesac\n}\n")
		for _, below := range commands {
			each(name+"_"+last(below.Name), below.Commands, below)
		}
	}
	each(fn, m.Commands, nil)
	fmt.Fprintf(&w, "\nif [ \"$funcstack[1]\" = \"_%[1]s\" ]; then\n\t_%[1]s \"$@\"\nelse\n\tcompdef _%[1]s %[2]s\nfi\n", fn, m.Program)
	return w.String()
}

// zshFlag returns the specifications of a flag for _arguments.
func zshFlag(f *Flag) (specs []string) {
	help := strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`).Replace(strings.TrimSuffix(f.Help, "."))
	many := ""
	if f.Repeatable {
		many = "*"
	}
	action := ""
	switch kind := valueOf(f); kind {
	case "":
	case "FILES":
		action = ":file:_files"
	case "ANY":
		action = ":" + strings.NewReplacer(":", `\:`, "[", "", "]", "").Replace(strings.ToLower(f.Placeholder)) + ": "
	default:
		action = ":value:(" + kind + ")"
	}
	for _, name := range names([]Flag{*f}) {
		if action != "" && strings.HasPrefix(name, "--") {
			name += "=" // --flag=value and --flag value
		}
		specs = append(specs, many+name+"["+help+"]"+action)
	}
	return specs
}

// single returns a text in single quotes of a shell.
func single(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// fish returns a script for fish.
func (m *Manual) fish() string {
	var w strings.Builder
	quote := func(text string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
	}
	var tops []string
	for _, c := range m.Commands {
		tops = append(tops, c.Name)
	}
	none := "not __fish_seen_subcommand_from " + strings.Join(tops, " ")
	fmt.Fprintf(&w, "# Completion of %[1]s for fish: %[1]s completion fish > ~/.config/fish/completions/%[1]s.fish\n\ncomplete -c %[1]s -f\n", m.Program)
	option := func(condition string, f *Flag) {
		fmt.Fprintf(&w, "complete -c %s", m.Program)
		if condition != "" {
			fmt.Fprintf(&w, " -n %s", quote(condition))
		}
		fmt.Fprintf(&w, " -l %s", f.Name)
		if f.Short != "" {
			fmt.Fprintf(&w, " -s %s", f.Short)
		}
		switch kind := valueOf(f); kind {
		case "":
		case "FILES":
			fmt.Fprintf(&w, " -r -F")
		case "ANY":
			fmt.Fprintf(&w, " -x")
		default:
			fmt.Fprintf(&w, " -x -a %s", quote(kind))
		}
		fmt.Fprintf(&w, " -d %s\n", quote(strings.TrimSuffix(f.Help, ".")))
	}
	each := func(condition string, commands []*Command) {
		for _, c := range commands {
			fmt.Fprintf(&w, "complete -c %s -n %s -a %s -d %s\n", m.Program, quote(condition), last(c.Name), quote(strings.TrimSuffix(c.Summary, ".")))
		}
	}
	each(none, m.Commands)
	for i := range m.Flags {
		option("", &m.Flags[i])
	}
	for _, c := range m.All() {
		var seen []string
		for word := range strings.FieldsSeq(c.Name) {
			seen = append(seen, "__fish_seen_subcommand_from "+word)
		}
		condition := strings.Join(seen, "; and ")
		if len(c.Commands) > 0 {
			var below []string
			for _, b := range c.Commands {
				below = append(below, last(b.Name))
			}
			each(condition+"; and not __fish_seen_subcommand_from "+strings.Join(below, " "), c.Commands)
			continue
		}
		words, files := m.arguments(c)
		if len(words) > 0 {
			fmt.Fprintf(&w, "complete -c %s -n %s -a %s\n", m.Program, quote(condition), quote(strings.Join(words, " ")))
		}
		if files {
			fmt.Fprintf(&w, "complete -c %s -n %s -F\n", m.Program, quote(condition))
		}
		for i := range c.Flags {
			option(condition, &c.Flags[i])
			if c.Flags[i].Negatable {
				fmt.Fprintf(&w, "complete -c %s -n %s -l no-%s\n", m.Program, quote(condition), c.Flags[i].Name)
			}
		}
	}
	return w.String()
}

// powershell returns a script for PowerShell 5 and later. Where it offers nothing, PowerShell offers files.
func (m *Manual) powershell() string {
	var w strings.Builder
	list := func(words []string) string {
		quoted := make([]string, len(words))
		for i, word := range words {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", "''") + "'"
		}
		return "@(" + strings.Join(quoted, ", ") + ")"
	}
	fmt.Fprintf(&w, "# Completion of %[1]s for PowerShell. In $PROFILE: %[1]s completion powershell | Out-String | Invoke-Expression\n\n", m.Program)
	fmt.Fprintf(&w, "Register-ArgumentCompleter -Native -CommandName '%s', '%[1]s.exe' -ScriptBlock {\n    param($word, $ast, $cursor)\n    $words = @{\n        '' = %s\n", m.Program, list(m.words()[1:1+len(m.Commands)]))
	for _, c := range m.All() {
		words, _ := m.arguments(c)
		fmt.Fprintf(&w, "        '%s' = %s\n", c.Name, list(words))
	}
	fmt.Fprintf(&w, "    }\n    $flags = @{\n        '' = %s\n", list(names(m.Flags)))
	for _, c := range m.All() {
		fmt.Fprintf(&w, "        '%s' = %s\n", c.Name, list(names(m.flagsOf(c))))
	}
	fmt.Fprintf(&w, "    }\n    $values = @{\n")
	value := func(command string, flags []Flag) {
		for _, f := range flags {
			if f.Placeholder != "" {
				fmt.Fprintf(&w, "        '%s --%s' = %s\n", command, f.Name, list(f.Values))
			}
		}
	}
	value("", m.Flags)
	for _, c := range m.All() {
		value(c.Name, c.Flags)
	}
	fmt.Fprintf(&w, `    }
    $command = ''
    $flag = ''
    foreach ($element in $ast.CommandElements | Select-Object -Skip 1) {
        if ($element.Extent.EndOffset -ge $cursor) { break }
        $text = $element.ToString()
        if ($flag) { $flag = ''; continue }
        if ($text.StartsWith('-')) {
            foreach ($key in "$command $text", " $text") { if ($values.ContainsKey($key)) { $flag = $key } }
            continue
        }
        $below = "$command $text".Trim()
        if ($words.ContainsKey($below)) { $command = $below }
    }
    $offers = if ($flag) { $values[$flag] } elseif ($word.StartsWith('-')) { $flags[$command] } else { $words[$command] }
    $offers | Where-Object { $_ -like "$word*" } | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
    }
}
`)
	return w.String()
}
