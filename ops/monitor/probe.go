package monitor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"multis/internal/fetch"
	"multis/internal/text"
	"multis/safety/sandbox"
)

const (
	maxOutput  = 64 << 10 // bytes of a command's output that are looked at
	maxProblem = 200      // characters of a problem
)

// probe checks what a monitor names. It returns what is wrong, for people; empty if nothing is. The error is not nil only if ctx has ended.
func (c *Checker) probe(ctx context.Context, m Monitor) (problem string, err error) {
	if len(m.Command) > 0 {
		problem = c.probeCommand(ctx, m)
	} else {
		problem = c.probeAddress(ctx, m)
	}
	return text.Clip(text.OneLine(problem), maxProblem), ctx.Err()
}

// probeAddress requests an address.
func (c *Checker) probeAddress(ctx context.Context, m Monitor) string {
	client := c.public
	if m.IsPrivate {
		client = c.private
	}
	ctx, cancel := context.WithTimeoutCause(ctx, m.Timeout, fmt.Errorf("there was no answer within %s", text.Duration(m.Timeout)))
	defer cancel()
	answer, err := client.Probe(ctx, m.URL, m.Accepts)
	left := answer.CertificateEnds.Sub(c.now())
	const day = 24 * time.Hour
	switch {
	case errors.Is(err, fetch.ErrPrivate):
		return fmt.Sprintf("it leads to this machine or into a private network, which monitors.%s.private: true allows", m.Name)
	case err != nil:
		return err.Error()
	case !m.Accepts(answer.Status):
		return strings.TrimSpace(fmt.Sprintf("the server says %d %s", answer.Status, http.StatusText(answer.Status)))
	case m.CertificateDays > 0 && answer.CertificateEnds.IsZero():
		return "the connection is not encrypted, so there is no certificate"
	case m.CertificateDays > 0 && left < time.Duration(m.CertificateDays)*day:
		ends := answer.CertificateEnds.In(c.Zone).Format("2 January 2006")
		return fmt.Sprintf("its certificate ends on %s, in %s", ends, text.Count(int(left/day), "day"))
	default:
		return m.checkText("the answer", answer.Body)
	}
}

// checkText returns what is wrong with a text; empty if nothing is.
func (m Monitor) checkText(what string, found []byte) string {
	switch {
	case m.Contains != "" && !bytes.Contains(found, []byte(m.Contains)):
		return fmt.Sprintf("%s does not contain “%s”", what, m.Contains)
	case m.Lacks != "" && bytes.Contains(found, []byte(m.Lacks)):
		return fmt.Sprintf("%s contains “%s”", what, m.Lacks)
	default:
		return ""
	}
}

// probeCommand runs a command. It is good if it ends with 0 and its output is as it must be.
func (c *Checker) probeCommand(ctx context.Context, m Monitor) string {
	if c.Runner == nil {
		return "commands cannot run here: " + strings.TrimSuffix(c.Problem, ".")
	}
	done, err := c.Runner.Run(ctx, sandbox.Command{
		Argv:            m.Command,
		Workspace:       filepath.Join(c.Folder, m.Name),
		AllowsOwnFolder: true,
		ReadPaths:       m.ReadPaths,
		Timeout:         m.Timeout,
		MaxOutput:       maxOutput,
	})
	switch {
	case err != nil:
		return err.Error()
	case done.TimedOut:
		return "it took longer than " + text.Duration(m.Timeout)
	case done.ExitCode != 0:
		return withLastLine(fmt.Sprintf("it ended with %d", done.ExitCode), done.Output)
	default:
		return m.checkText("its output", []byte(done.Output))
	}
}

// withLastLine adds the last line of an output, where programs say what is wrong.
func withLastLine(problem, output string) string {
	output = strings.TrimSpace(output)
	if output == "" {
		return problem
	}
	return problem + " and said: " + output[strings.LastIndexByte(output, '\n')+1:]
}
