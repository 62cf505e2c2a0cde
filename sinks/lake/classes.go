package lake

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// class adds the rows of a class of a mapping. The class "" has none: it is no class.
func (c *loading) class(k *symbol.Class) error {
	if k.Name == "" {
		return nil
	}
	id, load := c.id.String(), hex.EncodeToString(c.load[:])
	c.rows += uint64(max(1, len(k.Members)))
	if len(k.Members) == 0 {
		var rules []string
		if k.Synthesized {
			rules = []string{"synthesized"}
		}
		return c.out.put(id, load, k.Name, k.Original, k.File, "", "", "", "", "", "", int32(0), int32(0), int32(0), int32(0), rules)
	}
	for i := range k.Members {
		m := &k.Members[i]
		what, in := "method", m.Class
		if m.Field {
			what = "field"
		}
		if in == "" {
			in = k.Original
		}
		err := c.out.put(id, load, k.Name, k.Original, k.File, what, m.Name, m.Original, in, m.Type, m.Params,
			pqfile.LineNumber(m.Lines.First), pqfile.LineNumber(m.Lines.Last), pqfile.LineNumber(m.From.First), pqfile.LineNumber(m.From.Last), rulesOf(m, k.Synthesized))
		if err != nil {
			return err
		}
	}
	return nil
}

// rulesOf prints the rules of a member: its name, and what it says.
func rulesOf(m *symbol.Member, synthesized bool) []string {
	var all []string
	if synthesized {
		all = append(all, "synthesized")
	}
	for _, r := range m.Rules {
		switch r.Kind {
		case symbol.Synthesized:
			all = append(all, "synthesized")
		case symbol.RewriteFrame:
			all = append(all, "rewriteFrame "+strings.Join(r.Conditions, " ")+" "+strings.Join(r.Actions, " "))
		case symbol.Outline:
			all = append(all, "outline")
		case symbol.OutlineCallsite:
			s := "outlineCallsite " + r.Text
			for _, p := range r.Positions {
				s += fmt.Sprintf(" %d:%d", p.Outline, p.Line)
			}
			all = append(all, s)
		case symbol.ResidualSignature:
			all = append(all, "residualSignature "+r.Text)
		}
	}
	return all
}
