// Package room carries a bound on memory in a context, as contexts carry deadlines.
//
// A server answers requests of strangers. Functions that make much of little input ask for room before they allocate.
// Without a bound in the context, every Take succeeds: a command may use what its limits allow.
package room

import "context"

type key struct{}

// With returns a context. Its Take calls take with the number of bytes. take must be safe for the goroutines that share
// the context; its error ends the work of the caller.
func With(ctx context.Context, take func(bytes int64) error) context.Context {
	return context.WithValue(ctx, key{}, take)
}

// Of returns the function that takes room in ctx; nil: there is no bound.
func Of(ctx context.Context) func(bytes int64) error {
	take, _ := ctx.Value(key{}).(func(int64) error)
	return take
}

// Take asks for room for so many bytes.
func Take(ctx context.Context, bytes int64) error {
	if take := Of(ctx); take != nil {
		return take(bytes)
	}
	return nil
}
