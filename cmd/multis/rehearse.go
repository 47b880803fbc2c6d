package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rs/zerolog"

	"multis/config"
	"multis/internal/text"
	"multis/migrations"
	"multis/store"
	"multis/store/pgserver"
)

// rehearseCmd asks a file of questions as customers would, and shows what they would get. It sends nothing, and its database
// is removed at the end.
type rehearseCmd struct {
	Documents string `placeholder:"FOLDER" help:"The folder whose files customers are answered from. All of them are public."`
	Questions string `placeholder:"FILE" help:"The questions, one JSON object a line: id, text and, if customers wrote something before it, after. - reads the standard input."`
	Model     string `placeholder:"MODEL" help:"The model that answers, or none. Defaults to llm.model of the configuration."`
	JSON      bool   `help:"Print one JSON object a question."`
	Sets      string `placeholder:"FOLDER" help:"Ask the questions of several businesses and print how many were answered: each folder in it has documents/ and files of questions (.jsonl)."`
}

// maxRehearsed is the maximum number of messages in a rehearsed conversation.
const maxRehearsed = 1000

// rehearsedQuestion is a line of the questions: a conversation with one customer.
type rehearsedQuestion struct {
	ID     string         `json:"id"`
	Text   string         `json:"text"`
	After  []string       `json:"after"`  // what the customer wrote before, the oldest first
	Kind   string         `json:"kind"`   // by which a report counts
	Expect *expectedReply `json:"expect"` // nil expects nothing
}

// expectedReply is what a customer should get. Texts are compared without case.
type expectedReply struct {
	Outcome  outcomes `json:"outcome"`  // one of these; empty allows any
	Contains []string `json:"contains"` // the reply has each of these, if it answers
	Never    []string `json:"never"`    // the reply has none of these
}

// outcomes are the names of outcomes, which JSON may write as one text.
type outcomes []outcome

// UnmarshalJSON reads a list of names, or one name.
func (o *outcomes) UnmarshalJSON(data []byte) error {
	var one outcome
	if json.Unmarshal(data, &one) == nil {
		*o = outcomes{one}
		return nil
	}
	var many []outcome
	if err := json.Unmarshal(data, &many); err != nil {
		return errors.New("expect.outcome must be a text or a list of texts")
	}
	*o = many
	return nil
}

// rehearsedReply is what a customer would get for a question.
type rehearsedReply struct {
	ID      string           `json:"id"`
	Outcome outcome          `json:"outcome"`
	Text    string           `json:"text"`    // what is sent; empty for nothing
	Partial bool             `json:"partial"` // it answers a part, and a person the rest
	Sources []rehearsedQuote `json:"sources"`
	// Proposal is the likeliest answer that a person may send as it stands; nil for none. Proposals has the others, too.
	Proposal  *rehearsedProposal  `json:"proposal"`
	Proposals []rehearsedProposal `json:"proposals"`
	Reason    string              `json:"reason"`
	Cost      float64             `json:"cost"` // of the whole conversation, in the currency of the budget
	// Failed are the expectations that it does not meet.
	Failed []string `json:"failed,omitempty"`
}

type rehearsedProposal struct {
	Text    string           `json:"text"`
	Sources []rehearsedQuote `json:"sources"`
}

type rehearsedQuote struct {
	Document string `json:"document"`
	Quote    string `json:"quote"`
}

// check returns what of the expectations a reply does not meet.
func (e *expectedReply) check(r rehearsedReply) (failed []string) {
	if e == nil {
		return nil
	}
	if len(e.Outcome) > 0 && !slices.Contains(e.Outcome, r.Outcome) {
		failed = append(failed, "outcome "+joinOutcomes(e.Outcome))
	}
	said := strings.ToLower(r.Text)
	needsParts := r.Outcome == outcomeAnswered || len(e.Outcome) == 0 // another outcome that is allowed has no answer
	for _, part := range e.Contains {
		if needsParts && !strings.Contains(said, strings.ToLower(part)) {
			failed = append(failed, fmt.Sprintf("contains %q", part))
		}
	}
	for _, part := range e.Never {
		if strings.Contains(said, strings.ToLower(part)) {
			failed = append(failed, fmt.Sprintf("never %q", part))
		}
	}
	return failed
}

func joinOutcomes(list outcomes) string {
	names := make([]string, len(list))
	for i, o := range list {
		names[i] = string(o)
	}
	return strings.Join(names, " or ")
}

// Run asks the questions and prints what customers would get. It exits with 1 if a reply does not meet its expectations.
func (c rehearseCmd) Run(ctx context.Context, global *cli) error {
	if c.Sets != "" {
		return c.runSets(ctx, global)
	}
	if c.Documents == "" || c.Questions == "" {
		return errors.New("give --documents and --questions, or --sets")
	}
	questions, err := c.readQuestions()
	if err != nil {
		return err
	}
	replies, err := c.ask(ctx, global, questions)
	if err != nil {
		return err
	}
	return printReplies(os.Stdout, questions, replies, c.JSON)
}

// ask asks questions about the documents, with a database that is removed at the end.
func (c rehearseCmd) ask(ctx context.Context, global *cli, questions []rehearsedQuestion) ([]rehearsedReply, error) {
	if _, err := os.ReadDir(c.Documents); err != nil {
		return nil, fmt.Errorf("--documents: %w", err)
	}
	dir, remove, err := makeThrowawayDir()
	if err != nil {
		return nil, err
	}
	defer remove()
	cfg, err := c.configuration(global.Config, dir)
	if err != nil {
		return nil, err
	}
	closeLog, err := openLog(config.Logging{Level: zerolog.ErrorLevel, Format: config.FormatPretty})
	if err != nil {
		return nil, err
	}
	defer closeLog()
	st, closeDB, err := openThrowaway(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer closeDB()
	return rehearse(ctx, cfg, st, c.Documents, questions)
}

// readQuestions reads the questions.
func (c rehearseCmd) readQuestions() ([]rehearsedQuestion, error) {
	if c.Questions == "-" {
		return readQuestions(os.Stdin, "standard input")
	}
	file, err := os.Open(c.Questions)
	if err != nil {
		return nil, fmt.Errorf("--questions: %w", err)
	}
	defer file.Close()
	return readQuestions(file, filepath.Base(c.Questions))
}

// readQuestions reads a question a line. A line without an id gets its number as id.
func readQuestions(in io.Reader, name string) (questions []rehearsedQuestion, err error) {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, 1<<20)
	for n := 1; scanner.Scan(); n++ {
		if strings.TrimSpace(scanner.Text()) == "" {
			continue
		}
		q := rehearsedQuestion{ID: strconv.Itoa(n)}
		if err := json.Unmarshal(scanner.Bytes(), &q); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		if strings.TrimSpace(q.Text) == "" {
			return nil, fmt.Errorf("%s, line %d: text is missing", name, n)
		}
		questions = append(questions, q)
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return questions, nil
}

// configuration is that of multis chat, with the model of the command line, which all agents use.
func (c rehearseCmd) configuration(file, dataDir string) (*config.Config, error) {
	cfg, err := chatCmd{Data: dataDir, Documents: c.Documents}.configuration(file)
	if err != nil {
		return nil, err
	}
	if c.Model != "" {
		cfg.LLM = withModel(cfg.LLM, c.Model)
		for name, agent := range cfg.Agents {
			agent.Model = ""
			cfg.Agents[name] = agent
		}
	}
	setRehearsing(cfg)
	return cfg, checkModel(cfg)
}

// setRehearsing sets what a rehearsal has otherwise than multis run: no embeddings, no pauses, and caps that it cannot reach.
func setRehearsing(cfg *config.Config) {
	cfg.Embeddings.Model = config.NoModel // no job embeds the passages
	cfg.Chats.BurstQuiet = 0
	cfg.Chats.ContactCaps = config.ContactCaps{PerMinute: maxRehearsed, PerDay: maxRehearsed}
}

// makeThrowawayDir makes a folder for a throwaway database. The returned function removes it.
func makeThrowawayDir() (dir string, remove func(), err error) {
	if dir, err = os.MkdirTemp("", "multis-rehearse-"); err != nil {
		return "", nil, fmt.Errorf("make a folder for the database: %w", err)
	}
	remove = func() { os.RemoveAll(dir) }
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // the user that Postgres runs as must be able to enter it
		remove()
		return "", nil, fmt.Errorf("open the folder of the database: %w", err)
	}
	return dir, remove, nil
}

// openThrowaway starts a Postgres server with an empty database in a folder. The returned function stops it.
func openThrowaway(ctx context.Context, dir string) (*store.Store, func(), error) {
	server, err := pgserver.Start(ctx, pgserver.Options{Dir: filepath.Join(dir, "postgres"), Throwaway: true})
	if err != nil {
		return nil, nil, err
	}
	stop := func() {
		if err := server.Stop(); err != nil {
			zerolog.Ctx(ctx).Err(err).Msg("Cannot stop the database")
		}
	}
	st, err := func() (*store.Store, error) {
		dsn, err := server.EnsureDatabase(ctx, "multis", "multis")
		if err != nil {
			return nil, err
		}
		if err := migrations.RunAfter(ctx, dsn, func(context.Context) error { return nil }); err != nil {
			return nil, store.Unreachable(err)
		}
		return store.Open(ctx, dsn)
	}()
	if err != nil {
		stop()
		return nil, nil, err
	}
	return st, func() { st.Close(); stop() }, nil
}

// printReplies prints the replies, and how many meet their expectations. If one does not, it returns status 1.
func printReplies(w io.Writer, questions []rehearsedQuestion, replies []rehearsedReply, asJSON bool) error {
	var b strings.Builder
	counts := map[outcome]int{}
	expected := 0
	failed := 0
	for i, r := range replies {
		counts[r.Outcome]++
		if questions[i].Expect != nil {
			expected++
		}
		if len(r.Failed) > 0 {
			failed++
		}
		if asJSON {
			line, err := json.Marshal(r)
			if err != nil {
				return fmt.Errorf("write %s: %w", r.ID, err)
			}
			fmt.Fprintf(&b, "%s\n", line)
			continue
		}
		writeReply(&b, questions[i], r)
	}
	if !asJSON {
		for _, o := range allOutcomes {
			if counts[o] > 0 {
				fmt.Fprintf(&b, "%-13s %d\n", o, counts[o])
			}
		}
		if expected > 0 {
			fmt.Fprintf(&b, "\n%d of %d replies as expected.\n", expected-failed, expected)
			writeFailed(&b, replies)
		}
		b.WriteString("\n")
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	if failed > 0 {
		return statusError(1)
	}
	return nil
}

// writeReply writes one question with its reply for people.
func writeReply(b *strings.Builder, q rehearsedQuestion, r rehearsedReply) {
	fmt.Fprintf(b, "%s  %s\n", r.ID, text.OneLine(strings.Join(append(slices.Clone(q.After), q.Text), " / ")))
	fmt.Fprintf(b, "    %s: %s\n", r.Outcome, r.Reason)
	for line := range strings.Lines(r.Text) {
		fmt.Fprintf(b, "    > %s\n", strings.TrimRight(line, "\n"))
	}
	for i, p := range r.Proposals {
		fmt.Fprintf(b, "    proposal %d: %s\n", i+1, text.OneLine(p.Text))
	}
	b.WriteString("\n")
}

// writeFailed writes a table of the replies that do not meet their expectations.
func writeFailed(b *strings.Builder, replies []rehearsedReply) {
	for _, r := range replies {
		if len(r.Failed) > 0 {
			fmt.Fprintf(b, "%-16s %-12s expected %s\n", r.ID, r.Outcome, strings.Join(r.Failed, ", "))
		}
	}
}

// quotesOf returns citations with the names of their documents.
func quotesOf(citations []store.Citation) []rehearsedQuote {
	quotes := make([]rehearsedQuote, len(citations))
	for i, c := range citations {
		quotes[i] = rehearsedQuote{Document: documentOf(c.Source), Quote: c.Quote}
	}
	return quotes
}
