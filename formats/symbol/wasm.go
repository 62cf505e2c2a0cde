package symbol

// wasmFunctions is where the functions of a module of WebAssembly begin among its positions: sections have lengths of 32
// bits, so offsets in a module that engines load lie below.
const wasmFunctions = 1 << 40

// WasmFunction is the position that answers what a function of a module is called and where it begins. Engines count
// functions from 0, imported functions first, and some say of a frame no more than that number.
func WasmFunction(index uint32) uint64 { return wasmFunctions | uint64(index) }
