package ranges

import (
	"encoding/binary"

	"github.com/symlake/symlake/sinks/internal/column"
)

// The columns of a block, in the order in which they stand. Durable.
const (
	colLength     = iota // per range: its length twice, plus 1 if a hole precedes it
	colGap               // per such hole: its length
	colNode              // per range: which node answers it
	colBack              // per node that is no ancestor of the last: distance back
	colParent            // per chain of new nodes: where it hangs
	colSite              // per range: its place, as a site of its function
	colCall              // per node below another: its call, as a site of the other's function
	colFunction          // per node: its function
	colFirstFile         // per first site of a function: its file
	colNextFile          // per further site
	colFirstLine         // per first site of a function: its line, against the last first line in that file
	colNextLine          // per further site: its line, against the last of its node or its function
	colColumn            // per site
	colFunctionLo        // per function: its number in the dictionary plus 1, low byte; 0: its name stands here
	colFunctionHi        // the rest of that number
	colFileLo            // per file: as functions
	colFileHi            //
	colTextLength        // per name that stands here: its length
	colText              // these names: functions and files as they first occur
	columns

	// The further columns of a block of a script.
	colStart         = iota - 1 // per part that begins on another line than the one before: its column
	colScriptFile               // per part with another file: which
	colScriptLine               // per part with an answer: its line, against the last one's in its file
	colScriptColumn             // per part of the same line as that one: its column, against that one's
	colScriptRestart            // per part of another line: its column
	colScriptName               // per part with a name: which
	colNameLo                   // per name: as functions
	colNameHi                   //
	scriptColumns
)

// In a block of a script these columns mean something else.
const (
	colStep     = colLength // per part: columns since the part before; 0: it begins on another line
	colLineStep = colGap    // per such part: lines since
	colWhat     = colSite   // per part: what follows
)

// What a part of a script's block has.
const (
	partHole     = 1 << iota // no answer, and none of the following
	partFile                 // another file than the last part with an answer
	partNode                 // another node
	partName                 // a name
	partIgnored              // Frame.Ignored
	partLinear               // symbol.Linear
	partLine                 // the line of the last range in its file
	partLines                // symbol.OverLines: it ends where the next part begins, not with its line
	partCompiled             // another symbol.Mark.Compiled than the last part with an answer
)

// coders says which coders are tried on a column. Where whole sequences recur (the same
// inlined code leaves the same lengths, nodes and lines) zstd may win.
var coders = [scriptColumns]column.Trial{colLength: column.TryBoth, colNode: column.TryBoth, colNextLine: column.TryBoth, colText: column.TryZstd}

// scriptCoders is the same for a script's block. Its parts are many and small: coding them takes most
// of the time that loading them takes.
var scriptCoders = func() (c [scriptColumns]column.Trial) {
	for i := range c {
		c[i] = column.TryFast
	}
	c[colNameLo], c[colNameHi] = column.TryNone, column.TryNone
	c[colNode], c[colText] = column.TryBoth, column.TryZstd
	return c
}()

// Full is a block that is full, before it is coded. It speaks for [From, Last]. One goroutine at a time.
type Full struct {
	From, Last uint64

	ranges, nodes int
	script        bool
	cols          [scriptColumns][]byte
	body          []byte
}

// Columns are what the block is made of. They are valid until the block is filled again.
func (b *Full) Columns() [][]byte {
	if b.script {
		return b.cols[:]
	}
	return b.cols[:columns]
}

// Body codes the block: the first position it speaks for, its numbers of ranges and nodes, and its
// columns. The body is valid until the block is filled again.
func (b *Full) Body(c *column.Encoder) []byte {
	try := &coders
	if b.script {
		try = &scriptCoders
	}
	b.body = binary.AppendUvarint(b.body[:0], b.From)
	b.body = binary.AppendUvarint(b.body, uint64(b.ranges))
	b.body = binary.AppendUvarint(b.body, uint64(b.nodes))
	for i, col := range b.Columns() {
		b.body = c.Append(b.body, col, try[i])
	}
	return b.body
}
