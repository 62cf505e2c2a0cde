package sinks_test

import (
	"context"
	"fmt"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/stores"
)

// A store keeps sealed rows in the order of their keys. A row's key ends with the last position that
// it speaks for, so the first row at or after a position is the only row that can hold it.
func ExampleStore() {
	ctx := context.Background()
	store, err := stores.Open(ctx, "mem:", stores.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()

	var load sinks.Prefix // artifact and load
	key := func(last byte) []byte { return append(load[:], 1, 0, 0, 0, 0, 0, 0, 0, last) }
	batch, err := store.Blocks.Begin(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer batch.Abort()
	for _, last := range []byte{0x0f, 0x2f} {
		if err := batch.Write(sinks.Row{Key: key(last), Value: []byte{last}}); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := batch.Commit(ctx); err != nil {
		fmt.Println(err)
		return
	}

	position := sinks.Span{From: key(0x17), Stop: load.Next()}
	err = store.Blocks.First(ctx, []sinks.Span{position}, func(_ int, r sinks.Row, err error) {
		fmt.Printf("%#x %v\n", r.Value, err)
	})
	fmt.Println(err)
	// Output:
	// 0x2f <nil>
	// <nil>
}
