package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"maunium.net/go/mautrix/id"

	"multis/config"
	"multis/internal/text"
	"multis/ops/doctor"
)

// Options configure a Wizard.
type Options struct {
	Config       string            // path of config.yaml, which may not exist yet
	Registration string            // path of the registration
	Given        map[string]string // values that are not asked for, by key of config.yaml
	Synapse      string            // path of homeserver.yaml; empty means that it is looked for
	Pairing      bool              // the owner is not asked for, because pairing will set the owner
	Asker        Asker             // nil means that nobody is asked: a value that is neither given nor found is an error
	Out          io.Writer
	Env          func(string) (string, bool) // as os.LookupEnv
	Machine      Machine
	Probes       Probes
}

// Probes try one value each, when it is entered. The value is rejected if the result has a finding that is an error.
type Probes struct {
	Homeserver func(ctx context.Context, address string) doctor.Result
	Account    func(ctx context.Context, address, user string) doctor.Result
	Database   func(ctx context.Context, dsn string) doctor.Result
	Model      func(ctx context.Context, c *config.Config) doctor.Result
	Embeddings func(ctx context.Context, c *config.Config) doctor.Result
	Speech     func(ctx context.Context, c *config.Config) doctor.Result
}

// Wizard makes or changes a configuration. It writes nothing: Run returns what is to be written.
type Wizard struct {
	Options
	old     []byte // the file as it is; nil for a new one
	data    []byte // with the answers so far
	synapse *Synapse
	// problems are the findings about values that a probe rejected and the user kept.
	problems []doctor.Finding
}

// Answers are the result of a Wizard.
type Answers struct {
	Config       *config.Config
	Old, Data    []byte // config.yaml before (nil if there was none) and after
	Registration []byte
	Synapse      *Synapse // nil if it is not on this machine
	Problems     []doctor.Finding
}

// IsNew reports whether there was no configuration before.
func (a Answers) IsNew() bool { return a.Old == nil }

// Run finds, asks and tries values, and returns the answers when the user agrees to write them, else ErrAborted.
func Run(ctx context.Context, o Options) (Answers, error) {
	w := &Wizard{Options: o}
	if err := w.load(); err != nil {
		return Answers{}, err
	}
	if err := w.searchMachine(); err != nil {
		return Answers{}, err
	}
	var agreed Answers
	err := w.takeSteps(ctx, w.askAddress, w.askOwner, w.choosePort, w.askTimeZone, w.askProfile, w.askName, w.askDatabase,
		w.askModel, w.askEmbeddings, w.askSpeech, func(ctx context.Context) (err error) {
			agreed, err = w.finish(ctx)
			return err
		})
	return agreed, err
}

// load reads the configuration, or begins with the example.
func (w *Wizard) load() error {
	old, err := config.ReadFile(w.Config)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.data = config.Example()
	case err != nil:
		return err
	default:
		w.old, w.data = old, old
	}
	var given []config.Value
	for _, key := range slices.Sorted(maps.Keys(w.Given)) {
		given = append(given, config.Value{Key: key, Text: w.Given[key]})
	}
	if w.data, err = w.edited(given...); err != nil {
		return err
	}
	return w.checkUnasked()
}

// askedKeys are the keys whose values are asked for, or follow from an answer.
var askedKeys = []string{
	"owner", "homeserver.address", "homeserver.domain", "time_zone", "chats.profile", "name", "database.url",
	"llm.model", "llm.base_url", "llm.api_key", "llm.local",
	"embeddings.model", "embeddings.base_url", "embeddings.api_key", "embeddings.local", "embeddings.price_per_mtok",
	"speech.model", "speech.base_url", "speech.api_key", "speech.local", "speech.price_per_minute",
}

// checkUnasked returns what is wrong with the values that no question will correct, so that it is known before the first one.
func (w *Wizard) checkUnasked() error {
	data, err := config.ReplacePlaceholders(w.Config, w.data)
	if err != nil {
		return err
	}
	var lines []error
	for _, p := range config.Problems(w.Config, data, w.Env) {
		switch {
		case slices.Contains(askedKeys, p.Key):
		case w.old == nil: // the file is not there yet, so its lines tell nothing
			lines = append(lines, fmt.Errorf("%s: %s", p.Key, p.What))
		default:
			lines = append(lines, errors.New(p.Text))
		}
	}
	return errors.Join(lines...)
}

// searchMachine searches the machine and prints what it finds.
func (w *Wizard) searchMachine() error {
	var err error
	if w.synapse, err = w.Machine.FindSynapse(w.Synapse); err != nil {
		if w.Synapse != "" {
			return err
		}
		w.printf("! %v; run this as root to have it read\n", err)
	}
	if w.synapse == nil && w.Machine.HasDocker() {
		w.printf("! %-12s no configuration found; for one in a container run this as root, or name its homeserver.yaml with --synapse\n",
			"synapse")
	}
	if s := w.synapse; s != nil {
		w.printOK("synapse", fmt.Sprintf("%s, configured in %s", s.Domain, s.Files[0].Host))
		for _, b := range s.Bridges() {
			w.printOK("bridge", text.OneLine(fmt.Sprintf("%s at %s", b.ID, b.URL)))
		}
		if len(s.Bridges()) > 0 && !s.HasDoublePuppet() {
			w.printf("! %-12s none has a registration for double puppeting: what you type on the phone will look like a contact's message (docs/install.md, Bridges)\n", "bridges")
		}
	}
	return nil
}

// unknownKeys are the keys whose value in the example configuration is only a placeholder.
var unknownKeys = []string{"owner", "homeserver.address", "homeserver.domain", "time_zone"}

func exampleValue(key string) string {
	value, _ := config.Lookup(config.Example(), key)
	return value
}

// value returns the value of a key; the placeholders of the example count as not set.
func (w *Wizard) value(key string) string {
	if fixed, ok := w.fixed(key); ok {
		return fixed
	}
	value, _ := config.Lookup(w.data, key)
	if key == "owner" && value == config.UnpairedOwner(w.value("homeserver.domain")).String() {
		return ""
	}
	if w.old == nil && !w.isGiven(key) && slices.Contains(unknownKeys, key) && value == exampleValue(key) {
		return ""
	}
	return value
}

// fixed returns the value that the environment or a secret file sets for a key, which overrides config.yaml.
func (w *Wizard) fixed(key string) (string, bool) {
	name := config.EnvName(key)
	if value, ok := w.Env(name); ok {
		return value, true
	}
	if path, ok := w.Env(name + "_FILE"); ok {
		return strings.TrimSpace(readText(path)), true
	}
	if path, ok := config.Lookup(w.data, key+"_file"); ok {
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(w.Config), path)
		}
		return strings.TrimSpace(readText(path)), true
	}
	return "", false
}

// edited returns the file with values. Those that the environment or a secret file sets are left out.
func (w *Wizard) edited(values ...config.Value) ([]byte, error) {
	return config.Edit(w.Config, w.data, slices.DeleteFunc(values, func(v config.Value) bool { return w.isFixed(v.Key) })...)
}

// check returns the file with values. Its error is the problem that the check of the configuration finds in one of keys;
// the first key is the one that was asked for.
func (w *Wizard) check(keys []string, values ...config.Value) ([]byte, error) {
	data, err := w.edited(slices.Clone(values)...)
	if err != nil {
		return nil, err
	}
	for _, p := range config.Problems(w.Config, data, w.Env) {
		if slices.Contains(keys, p.Key) {
			return nil, errors.New(strings.TrimPrefix(p.Key+" "+p.What, keys[0]+" "))
		}
	}
	return data, nil
}

// set records a value that the check of the configuration accepts. With the owner it sets the domain of the homeserver.
func (w *Wizard) set(key, value string) error {
	keys, values := []string{key}, []config.Value{{Key: key, Text: value}}
	if key == "owner" {
		const domain = "homeserver.domain"
		keys, values = append(keys, domain), append(values, config.Value{Key: domain, Text: id.UserID(value).Homeserver()})
	}
	data, err := w.check(keys, values...)
	if err == nil {
		w.data = data
	}
	return err
}

// isSettled reports whether a key needs no question: it was given, the environment or a secret file sets it, or there is nobody to ask.
func (w *Wizard) isSettled(key string) bool {
	return w.isGiven(key) || w.isFixed(key) || w.Asker == nil
}

// parsed returns the configuration with the answers so far.
func (w *Wizard) parsed() (*config.Config, []byte, error) {
	data, err := config.ReplacePlaceholders(w.Config, w.data)
	if err != nil {
		return nil, nil, err
	}
	c, err := config.Parse(w.Config, data, w.Env)
	return c, data, err
}

// refusal is the error for a value that its probe rejected, which was printed with its fix.
type refusal struct{ doctor.Finding }

func (r refusal) Error() string { return strings.TrimSuffix(r.Message, ".") }

// ask asks for a value until probe accepts it, and records it. probe may be nil. A rejected value that is entered again
// is kept. If the value is settled (see isSettled), ask only probes it.
func (w *Wizard) ask(ctx context.Context, key string, q Question, probe func(context.Context, string) doctor.Result) error {
	q = q.completing()
	if w.isSettled(key) {
		err := w.accept(ctx, key, q.Complete(w.value(key)), q.Check, probe)
		if err == nil || errors.Is(err, ErrAborted) {
			return err
		}
		if w.Asker == nil && q.Flag != "" && w.value(key) == "" {
			return fmt.Errorf("%s is neither given nor found: add %s", key, q.Flag)
		}
		if w.Asker == nil || w.isFixed(key) {
			return fmt.Errorf("%s: %w", key, err)
		}
		w.printRejection(key, err)
	}
	for insisted := ""; ; {
		q.Default = cmp.Or(w.value(key), q.Default)
		answer, err := w.Asker.Ask(ctx, q)
		if err != nil {
			return err
		}
		answer = q.Complete(answer)
		var refused refusal
		switch err := w.accept(ctx, key, answer, q.Check, probe); {
		case err == nil, errors.Is(err, ErrAborted):
			return err
		case errors.As(err, &refused) && answer == insisted:
			w.problems = append(w.problems, refused.Finding)
			return nil
		case refused.ID != "":
			w.printf("Correct it, or enter it again to keep it as it is.\n")
			insisted = answer
		default:
			w.printRejection(key, err)
		}
	}
}

// printRejection prints why a value is not accepted, unless its probe has printed that already.
func (w *Wizard) printRejection(key string, err error) {
	if _, shown := errors.AsType[refusal](err); !shown {
		w.printf("✗ %s: %s\n", key, text.OneLine(err.Error()))
	}
}

// accept records a value and tries it.
func (w *Wizard) accept(ctx context.Context, key, answer string, check func(string) error,
	probe func(context.Context, string) doctor.Result,
) error {
	if check != nil {
		if err := check(answer); err != nil {
			return err
		}
	}
	if err := w.set(key, answer); err != nil {
		return err
	}
	if probe == nil {
		return nil
	}
	result := probe(ctx, answer)
	if ctx.Err() != nil {
		return ErrAborted
	}
	PrintResult(w.Out, key, result)
	if failed := firstError(result); failed != nil {
		return refusal{*failed}
	}
	return nil
}

func (w *Wizard) isGiven(key string) bool {
	_, given := w.Given[key]
	return given
}

func (w *Wizard) isFixed(key string) bool {
	_, fixed := w.fixed(key)
	return fixed
}

// WithOwner returns the answers with another owner.
func (a Answers) WithOwner(file string, owner string, env func(string) (string, bool)) (Answers, error) {
	a.Old = a.Data
	var err error
	if a.Data, err = config.Edit(file, a.Data, config.Value{Key: "owner", Text: owner}); err != nil {
		return a, err
	}
	if a.Config, err = config.Parse(file, a.Data, env); err != nil {
		return a, err
	}
	a.Registration, err = config.Registration(a.Config)
	return a, err
}

// finish checks the whole configuration, shows what changes and asks whether to write it.
func (w *Wizard) finish(ctx context.Context) (Answers, error) {
	c, data, err := w.parsed()
	if err != nil {
		return Answers{}, err
	}
	registration, err := config.Registration(c)
	if err != nil {
		return Answers{}, err
	}
	a := Answers{
		Config:       c,
		Old:          w.old,
		Data:         data,
		Registration: registration,
		Synapse:      w.synapse,
		Problems:     w.problems,
	}
	diff := Diff(w.old, data, c.Secrets())
	switch {
	case a.IsNew():
		w.printSummary(c)
		w.printf("\nTo be written: %s (readable by multis only) and %s\n", w.Config, w.Registration)
	case diff == "":
		w.printf("\n%s stays as it is.\n", w.Config)
	default:
		w.printf("\nChanges of %s:\n%s", w.Config, diff)
	}
	if w.Asker != nil && (a.IsNew() || diff != "") {
		yes, err := w.Asker.Confirm(ctx, "Write it?", true)
		if err != nil {
			return Answers{}, err
		}
		if !yes {
			return Answers{}, ErrAborted
		}
	}
	return a, nil
}

// printSummary prints what a new configuration says about what was asked or found.
func (w *Wizard) printSummary(c *config.Config) {
	w.printf("\nYour multis:\n")
	for _, line := range [][2]string{
		{"owner", orElse(w.value("owner"), "whoever pairs with the code")},
		{"homeserver", c.Homeserver.Address},
		{"time zone", c.TimeZone.String()},
		{"new chats", string(c.Chats.Profile)},
		{"name", c.Name},
		{"database", databaseText(w.value("database.url"))},
		{"model", w.modelText("llm")},
		{"by meaning", w.modelText("embeddings")},
		{"voice notes", w.modelText("speech")},
	} {
		w.printf("  %-12s %s\n", line[0], text.Visible(redactLine(line[1], c.Secrets())))
	}
}

// databaseText says in the summary which database is used, without its address, which may have a password.
func databaseText(url string) string {
	if url == "" {
		return "multis runs its own Postgres"
	}
	return "the one that you named"
}

// modelText says in the summary which model a section of the configuration has.
func (w *Wizard) modelText(section string) string {
	model := orElse(w.value(section+".model"), noModel)
	if w.value(section+".api_key") != "" && model != noModel {
		model += ", with an API key"
	}
	return model
}

func (w *Wizard) printf(format string, args ...any) { fmt.Fprintf(w.Out, format, args...) }

func (w *Wizard) printOK(what, fact string) { w.printf("✓ %-12s %s\n", what, fact) }

// PrintResult prints the result of a probe. what is the part that was probed.
func PrintResult(out io.Writer, what string, r doctor.Result) {
	what, _, _ = strings.Cut(what, ".")
	if r.Fact != "" && firstError(r) == nil {
		fmt.Fprintf(out, "✓ %-12s %s\n", what, r.Fact)
	}
	for _, f := range r.Findings {
		mark := "✗"
		if f.Severity == doctor.Warning {
			mark = "!"
		}
		fmt.Fprintf(out, "%s %-12s %s\n", mark, what, f.Message)
		if f.Fix != "" {
			fmt.Fprintf(out, "  %-12s fix: %s\n", "", doctor.Copyable(f.Fix))
		}
	}
}

// firstError returns the first finding that is not a warning; nil if there is none.
func firstError(r doctor.Result) *doctor.Finding {
	for _, f := range r.Findings {
		if f.Severity == doctor.Error {
			return &f
		}
	}
	return nil
}
