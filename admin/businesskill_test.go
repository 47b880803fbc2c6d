package admin_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/admin"
	"multis/business/answers"
	"multis/knowledge/search"
	"multis/outbox"
	"multis/policy"
	"multis/safety/audit"
	"multis/store"
	"multis/store/storetest"
)

// The environment of a process that carries out a command and is killed meanwhile.
const (
	commandDatabase = "MULTIS_TEST_COMMAND_KILL_DATABASE"
	commandMessage  = "MULTIS_TEST_COMMAND_KILL_MESSAGE"
	commandConfig   = "MULTIS_TEST_COMMAND_KILL_CONFIG"
)

// commandOnce is the main function of the process that is killed: it carries out the command of a message.
func commandOnce(ctx context.Context) error {
	st, err := store.Open(ctx, os.Getenv(commandDatabase))
	if err != nil {
		return err
	}
	defer st.Close()
	log, err := audit.New("a token of the homeserver")
	if err != nil {
		return err
	}
	message, err := strconv.ParseInt(os.Getenv(commandMessage), 10, 64)
	if err != nil {
		return err
	}
	defaults, disclose := policy.Defaults{Profile: policy.ProfilePersonal}, func(string) bool { return true }
	a := admin.New(admin.Options{
		Store: st, Box: outbox.New(st, outbox.Settings{
			Defaults: defaults,
			Owner:    owner,
			Name:     "Nora",
			Disclose: disclose,
		}, &homeserver{}), Now: func() time.Time { return noon },
		Settings: admin.Settings{Name: "Nora", Zone: time.UTC, Defaults: defaults, Audit: log, Disclose: disclose},
		Answers:  &answers.Keeper{Store: st, Search: search.New(st)}, Config: configFile(os.Getenv(commandConfig)), Previewer: previewer{},
	})
	return a.HandleCommand(ctx, store.MessageID(message), false)
}

// A process is killed before and after each write of a command of the business desk; its job runs again. The command
// takes effect once and is answered once.
func TestBusinessCommands_TakeEffectOnceDespiteKill(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	log, err := audit.New("a token of the homeserver")
	require.NoError(t, err)
	r.settings.Audit = log
	r.restart()
	ana := r.chat("Ana", "whatsapp")
	killed := 0
	for _, c := range []struct {
		line   func(n int) string
		effect string // how many effects there are of the command with a number
	}{
		{func(n int) string {
			return fmt.Sprintf("/answers add Is there parking %d? = Behind house %d.", n, n)
		}, "select count(*) from canned_answers where question like '%parking ' || $1 || '?'"},
		{func(n int) string {
			return fmt.Sprintf("/label Ana wholesale%d", n)
		}, "select count(*) from chats, unnest(labels) l where l = 'wholesale' || $1"},
		{func(n int) string {
			return fmt.Sprintf("Piano House %d", n)
		}, "select count(*) from settings where key = 'config:business.name' and value::text like '%Piano House ' || $1 || '\"'"},
	} {
		for kill := 1; ; kill++ {
			if c.line(1) == "Piano House 1" {
				require.Contains(t, r.asOwner("/business setup name"), "1 of 9")
			}
			m := r.storeCommand(store.Message{Body: c.line(kill)})
			effects := func() int { return r.count(c.effect, strconv.Itoa(kill)) }
			name := storetest.NewFaultInjector(kill).Run(t, r.st, commandDatabase, fmt.Sprint(commandMessage, "=", int64(m)),
				fmt.Sprint(commandConfig, "=", r.config))
			require.LessOrEqual(t, effects(), 1, name)
			for range 2 { // the job once more, and once too often
				require.NoError(t, r.runJobs(m, false))
			}
			r.sendQueued()
			require.Equal(t, 1, effects(), "%s, killed at %s", c.line(kill), name)
			require.Equal(t, 1, r.count("select count(*) from outbox where quotes @> array[$1::bigint] or sources @> array[$1::bigint]", m),
				"answered once: %s", name)
			require.Equal(t, 1, r.count("select count(*) from audit_entries where kind = 'command' and message_id = $1", m), name)
			if name == "" {
				break
			}
			killed++
		}
	}
	require.Greater(t, killed, 20)
	require.Empty(t, r.sentTo(ana))
}
