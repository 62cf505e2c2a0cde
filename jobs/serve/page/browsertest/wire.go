package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/coder/websocket"
)

// wire is a connection that speaks WebDriver BiDi. Safe for concurrent use.
type wire struct {
	conn *websocket.Conn
	end  context.CancelFunc

	mu      sync.Mutex
	last    int
	waiting map[int]chan reply
	hear    func(method string, params json.RawMessage)
	err     error // why the connection ended
}

type reply struct {
	Type    string          `json:"type"`
	ID      int             `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   string          `json:"error"`
	Message string          `json:"message"`
}

// dial connects to a browser. hear gets its events, one after the other, and must not send.
func dial(ctx context.Context, address string, hear func(method string, params json.RawMessage)) (*wire, error) {
	conn, _, err := websocket.Dial(ctx, address, nil) //nolint:bodyclose // a WebSocket's answer has no body
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(-1) // pictures are large
	reading, end := context.WithCancel(context.WithoutCancel(ctx))
	w := &wire{conn: conn, end: end, waiting: map[int]chan reply{}, hear: hear}
	go w.read(reading)
	return w, nil
}

// read hands out what the browser says, until the connection ends.
func (w *wire) read(ctx context.Context) {
	for {
		_, text, err := w.conn.Read(ctx)
		var r reply
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		if err != nil {
			w.mu.Lock()
			w.err = err
			for _, to := range w.waiting {
				close(to)
			}
			w.waiting = nil
			w.mu.Unlock()
			return
		}
		if r.Type == "event" {
			w.hear(r.Method, r.Params)
			continue
		}
		w.mu.Lock()
		to := w.waiting[r.ID]
		delete(w.waiting, r.ID)
		w.mu.Unlock()
		if to != nil {
			to <- r
		}
	}
}

// send sends a command, waits for its result and decodes it into to, unless to is nil.
func (w *wire) send(ctx context.Context, method string, params map[string]any, to any) error {
	if params == nil {
		params = map[string]any{}
	}
	answer := make(chan reply, 1)
	w.mu.Lock()
	if w.waiting == nil {
		defer w.mu.Unlock()
		return fmt.Errorf("%s: the browser is gone: %w", method, w.err)
	}
	w.last++
	id := w.last
	w.waiting[id] = answer
	w.mu.Unlock()
	text, err := json.Marshal(map[string]any{"id": id, "method": method, "params": params})
	if err != nil {
		return err
	}
	if err := w.conn.Write(ctx, websocket.MessageText, text); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case r, ok := <-answer:
		switch {
		case !ok:
			return fmt.Errorf("%s: the browser is gone", method)
		case r.Type == "error":
			return fmt.Errorf("%s: %s: %s", method, r.Error, r.Message)
		case to == nil:
			return nil
		}
		return json.Unmarshal(r.Result, to)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, ctx.Err())
	}
}

func (w *wire) close() {
	w.end()
	w.conn.CloseNow()
}
