"""Prints the stacks of app-dw5.wasm on Wasmtime: python3 trap.py, with the package wasmtime."""
import wasmtime

engine = wasmtime.Engine()
store = wasmtime.Store(engine)
module = wasmtime.Module.from_file(engine, "../app-dw5.wasm")
i32 = wasmtime.ValType.i32()
note = wasmtime.Func(store, wasmtime.FuncType([i32], [i32]), lambda v: v)
run = wasmtime.Instance(store, module, [note]).exports(store)["run"]
for call in [(0, 0), (2, 10**8), (3, 0)]:
    try:
        run(store, *call)
    except wasmtime.Trap as e:
        print(e)
