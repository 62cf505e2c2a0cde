package report

// Script is the part of a frame of JavaScript that other frames do not have.
type Script struct {
	// Module of a React Native bundle: its lines count from where it begins there.
	Module *Module
}

// Module names a part of a React Native bundle that has its own numbers: a
// segment, a module of a RAM bundle in it, or a function of its bytecode.
type Module struct {
	Segment  uint32
	Table    Table
	Number   uint32 // of the module or function
	Bytecode bool   // the frame's column counts bytes from the function's first
}

// Table says what a number of a Module counts.
type Table uint8

// The tables of a map.
const (
	NoTable   Table = iota
	Modules         // modules of a RAM bundle: symbol.ModuleOffset
	Functions       // functions of bytecode: symbol.HermesFunction
)
