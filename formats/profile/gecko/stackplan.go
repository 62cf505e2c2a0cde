package gecko

// planStacks makes the new table of stacks.
func planStacks(p *plan) *stackPlan {
	old := p.t.of("stackTable")
	made := &stackPlan{leaf: make([]int32, old.rows), other: make([]int32, old.rows)}
	for i := range old.rows {
		made.base = append(made.base, int32(len(made.frame)))
		caller := int32(null)
		if up, _ := old.prefix(i); up >= 0 {
			caller = made.other[up]
		}
		frame := old.at("frame", i)
		paths, changes := p.paths[frame]
		if !changes {
			paths = [2]path{{frame}, {frame}}
		}
		made.other[i] = made.push(caller, paths[0])
		made.leaf[i] = made.other[i]
		if uses := p.t.uses; uses != nil && uses.leaf.has(i) && (len(paths[0]) != len(paths[1]) || paths[0][0] != paths[1][0]) {
			made.leaf[i] = made.push(caller, paths[1])
		}
	}
	made.base = append(made.base, int32(len(made.frame)))
	return made
}

func (s *stackPlan) push(caller int32, rows path) int32 {
	for _, row := range rows {
		s.frame, s.caller = append(s.frame, row), append(s.caller, caller)
		caller = int32(len(s.frame) - 1)
	}
	return caller
}
