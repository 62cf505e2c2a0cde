package settings

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/guess"
)

// ParseDuration reads a time as Go writes it, or with days: 90s, 36h, 400d.
func ParseDuration(text string) (time.Duration, error) {
	days, rest, ok := strings.Cut(text, "d")
	d := time.Duration(0)
	if ok {
		n, err := strconv.ParseFloat(days, 64)
		if err != nil || n < -mostDays || n > mostDays {
			return 0, fmt.Errorf("%q is no time: want 90s, 30m, 36h or 400d", text)
		}
		d = time.Duration(n * 24 * float64(time.Hour))
		if rest == "" {
			return d, nil
		}
		text = rest
	}
	more, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no time: want 90s, 30m, 36h or 400d", text)
	}
	return d + more, nil
}

// mostDays is a hundred years. It fits into a Duration.
const mostDays = 36500

// Mappers are the options of a grammar that read numbers and times, and explain wrong ones in words.
func Mappers() []kong.Option {
	options := []kong.Option{kong.TypeMapper(reflect.TypeFor[time.Duration](), mapper(func(text string, to reflect.Value) error {
		d, err := ParseDuration(text)
		to.SetInt(int64(d))
		return err
	}))}
	options = append(options, kong.KindMapper(reflect.Bool, yesNo{}))
	for _, kind := range []reflect.Kind{reflect.Int, reflect.Int64} {
		options = append(options, kong.KindMapper(kind, mapper(func(text string, to reflect.Value) error {
			n, err := strconv.ParseInt(text, 10, to.Type().Bits())
			if err != nil {
				return fmt.Errorf("%q is no whole number", text)
			}
			to.SetInt(n)
			return nil
		})))
	}
	return append(options, kong.KindMapper(reflect.Uint32, mapper(func(text string, to reflect.Value) error {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return fmt.Errorf("%q is no whole number from 0", text)
		}
		to.SetUint(n)
		return nil
	})))
}

// yesNo reads a flag that stands for yes without a value.
type yesNo struct{}

// IsBool implements kong.BoolMapper.
func (yesNo) IsBool() bool { return true }

// Decode implements kong.Mapper.
func (yesNo) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		target.SetBool(true)
		return nil
	}
	text := ctx.Scan.Pop().String()
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes", "on", "1":
		target.SetBool(true)
	case "false", "no", "off", "0":
		target.SetBool(false)
	default:
		return fmt.Errorf("%q is neither yes nor no", text)
	}
	return nil
}

// mapper reads one value of the command line.
func mapper(read func(text string, to reflect.Value) error) kong.Mapper {
	return kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
		var text string
		if err := ctx.Scan.PopValueInto("string", &text); err != nil {
			return err
		}
		return read(strings.TrimSpace(text), target)
	})
}

// TakeVariables keeps kong from reading variables: where one is wrong, kong names the flag alone.
func TakeVariables(parsed *kong.Context) {
	var each func(n *kong.Node)
	each = func(n *kong.Node) {
		for _, f := range n.Flags {
			f.Tag.Envs = nil
		}
		for _, child := range n.Children {
			each(child)
		}
	}
	each(parsed.Model.Node)
}

// ApplyVariables sets the flags of the command that the command line leaves out and a variable names. Space around a
// variable's value is no part of it, and an empty variable is none.
func ApplyVariables(parsed *kong.Context) error {
	for _, f := range parsed.Flags() {
		if len(f.Envs) == 0 || OnCommandLine(parsed, f.Name) {
			continue
		}
		name := f.Envs[0]
		value := strings.TrimSpace(os.Getenv(name))
		if value == "" {
			continue
		}
		err := f.Parse(kong.ScanFromTokens(kong.Token{Type: kong.FlagValueToken, Value: value}), f.Target)
		if err != nil {
			return exit.Usage("%s: %s", name, strings.TrimPrefix(err.Error(), f.ShortSummary()+": "))
		}
		if err := checkEnum(f.Value); err != nil {
			return exit.Usage("%s: %w", name, err)
		}
	}
	return nil
}

// CheckValues checks the values of the command line that kong would name without a hint, and refuses an empty place: a
// script lost its variable.
func CheckValues(parsed *kong.Context) error {
	for _, p := range parsed.Path {
		switch {
		case p.Flag != nil:
			if place(p.Flag) && p.Flag.Target.Kind() == reflect.String && strings.TrimSpace(p.Flag.Target.String()) == "" && !optional(p.Flag) {
				return exit.Usage("--%s is empty: give a %s, or leave the flag out", p.Flag.Name, p.Flag.PlaceHolder)
			}
			if err := checkEnum(p.Flag.Value); err != nil {
				return exit.Usage("--%s: %w", p.Flag.Name, err)
			}
		case p.Positional != nil && p.Positional.Name != "name":
			for _, text := range texts(p.Positional.Target) {
				if strings.TrimSpace(text) == "" {
					return exit.Usage("%s is empty", strings.ToUpper(p.Positional.Name))
				}
			}
		}
	}
	return nil
}

// place reports whether a flag names a place: a file, a folder, a URL or a key.
func place(f *kong.Flag) bool {
	return slices.Contains([]string{"FILE", "DIR", "PATH", "URL", "URL|off", "URL|FILE", "ARN", "HOST:PORT"}, f.PlaceHolder)
}

// optional reports whether a flag may stand without a value.
func optional(f *kong.Flag) bool { return f.Target.Type() == reflect.TypeFor[lakeFlag]() }

// texts returns the strings that a value holds.
func texts(v reflect.Value) (list []string) {
	switch v.Kind() {
	case reflect.String:
		return []string{v.String()}
	case reflect.Slice:
		for i := range v.Len() {
			list = append(list, texts(v.Index(i))...)
		}
	}
	return list
}

// checkEnum checks that a value is a word that its flag takes, and writes it as the flag does: DEBUG is debug.
func checkEnum(v *kong.Value) error {
	if v.Enum == "" {
		return nil
	}
	if v.Target.Kind() == reflect.String {
		known := v.EnumSlice()
		if i := slices.IndexFunc(known, func(w string) bool { return strings.EqualFold(w, v.Target.String()) }); i >= 0 {
			v.Target.SetString(known[i])
		}
	}
	for _, text := range texts(v.Target) {
		if !slices.Contains(v.EnumSlice(), text) {
			return fmt.Errorf("%s", guess.Among(text, v.EnumSlice()))
		}
	}
	return nil
}
