package formats_test

import (
	"context"
	"fmt"
	"os"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/all"
	"github.com/symlake/symlake/formats/symbol"
)

// Open finds the format of an object. Explode emits its ranges part by part; this prints the
// first range of the first function.
func ExampleOpen() {
	const name = "../testdata/elf/libgame-arm64-dw5.so"
	file, err := os.Open(name)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		fmt.Println(err)
		return
	}

	limits := formats.Limits{}.WithDefaults()
	in := &formats.Input{Name: name, Size: info.Size(), Bytes: file, Limits: &limits}
	format, object, err := formats.Open(context.Background(), all.Formats(), in)
	if err != nil || format == nil {
		fmt.Println(format, err)
		return
	}
	defer object.Close()

	for _, artifact := range object.Artifacts {
		fmt.Println(format.Name, artifact.Kind, artifact.Arch, artifact.Canonical)
		_, err = artifact.Explode(context.Background(), 0, func(run *symbol.Run) error {
			for i, r := range run.Ranges[:min(1, len(run.Ranges))] {
				for _, frame := range run.Chain(i, nil) {
					fmt.Printf("%#x to %#x: %s at %s:%d\n", r.Start, r.End, frame.Linkage, frame.File, frame.Line)
				}
			}
			return context.Canceled // one run is enough
		})
		fmt.Println(err)
	}
	// Output:
	// elf elf arm64 564bb6c8be48eea9d9db622b8689806eea5af3c7
	// 0x4650 to 0x4654: _ZdlPvm at ./src/engine.cpp:4
	// context canceled
}
