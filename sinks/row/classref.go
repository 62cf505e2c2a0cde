package row

// strings is a bound of those that are left.
func (r *classReader) strings() int {
	if r.packed != nil {
		return len(r.packed.refs.b) - r.packed.refs.at
	}
	return r.left(colRefLo)
}

func (r *classReader) pair(col int) uint64 {
	return uint64(r.col[col-parted].byte()) | r.next(col+1)<<8
}

func (r *classReader) ref(col int) string {
	if r.packed != nil {
		return r.packedString()
	}
	switch v := r.pair(col); v {
	case refEmpty:
		return ""
	case refFresh:
		if r.fresh >= r.most {
			r.bad = true
			return ""
		}
		r.fresh++
		return r.at(r.fresh - 1)
	case refBack:
		back := r.pair(col)
		if back >= uint64(r.fresh) {
			r.bad = true
			return ""
		}
		return r.at(r.fresh - 1 - uint32(back))
	default:
		if r.block.dict == nil || v-refDict >= uint64(r.block.dict.count) {
			r.bad = true
			return ""
		}
		return r.block.dict.string(uint32(v - refDict))
	}
}

// at gives string i of those that stand in the block.
func (r *classReader) at(i uint32) string {
	from, to := r.block.upTo(i), r.block.ends[i]
	if i >= r.first {
		base := r.block.upTo(r.first)
		return r.own[from-base : to-base]
	}
	return string(r.block.cols[colFreshText][from:to])
}

// packedString gives the next string of a packed class.
func (r *classReader) packedString() string {
	number, s, _ := r.packed.ref()
	if number == 0 {
		return s
	}
	if at := r.table.index(number); at < uint32(len(r.table.Strings)) {
		return r.table.Strings[at]
	}
	r.bad = true
	return ""
}
