package sourcemap

import "context"

// bundle is a stub until script.go lands.
func (o *object) wantsScript(under *packed) bool                                  { return false }
func (o *object) readScript(ctx context.Context, e *emitter, under *packed) error { return nil }
