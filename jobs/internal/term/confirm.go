package term

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/symlake/symlake/jobs/internal/exit"
)

// errUnconfirmed: the person at the terminal did not say yes.
var errUnconfirmed = errors.New("not confirmed: nothing was done")

// Confirm prints what a command is about to destroy. Without yes it asks the person at the terminal; where no terminal
// is, that is an error of usage.
func Confirm(in io.Reader, errOut io.Writer, yes bool, what string) error {
	if _, err := fmt.Fprintln(errOut, what); err != nil {
		return err
	}
	switch {
	case yes:
		return nil
	case !isTerminal(in) || !isTerminal(errOut):
		return exit.Usage("this cannot be undone, and no terminal is there to ask: add --yes. Nothing was done")
	}
	fmt.Fprint(errOut, "Go on? [y/N] ")
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		return errors.Join(errUnconfirmed, err)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errUnconfirmed
}
