package token

import (
	"errors"
	"fmt"
	"os"

	"github.com/symlake/symlake/sinks/hbase/security"
)

// Variable names the environment variable with the file of a job's tokens.
const Variable = "HADOOP_TOKEN_FILE_LOCATION"

// Find reads the tokens of a kind: of Options.TokenFile, else of HADOOP_TOKEN_FILE_LOCATION unless a keytab is set.
// No file is no error. A file of Options that has no such token is no error either: its tokens may be for HDFS alone.
func Find(o security.Options, kind string) ([]Token, error) {
	path := o.TokenFile
	if path == "" && o.Keytab == "" {
		path = os.Getenv(Variable)
	}
	if path == "" || o.Mode == "simple" {
		return nil, nil
	}
	all, err := Read(path)
	if err != nil {
		return nil, security.Refused(err)
	}
	var list []Token
	for _, t := range all {
		if t.Kind == kind {
			list = append(list, t)
		}
	}
	return list, nil
}

// errSeveral says that tokens are of several clusters.
var errSeveral = errors.New("the file has tokens of several HBase clusters, and the server does not tell its cluster id: name a file with one token")

// Choose returns the token of a cluster. cluster is asked only if there are several tokens.
func Choose(list []Token, cluster func() (string, error)) (Token, error) {
	if len(list) == 1 {
		return list[0], nil
	}
	id, err := cluster()
	if err != nil {
		return Token{}, security.Refused(fmt.Errorf("%w: %w", errSeveral, err))
	}
	for _, t := range list {
		if t.Service == id {
			return t, nil
		}
	}
	return Token{}, security.Refused(fmt.Errorf("none of %d HBase tokens is for cluster %s", len(list), id))
}
