package pin_test

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/safety/audit"
	"multis/safety/pin"
	"multis/store"
	"multis/store/storetest"
)

// racer is the variable that makes a process of this test enter wrong PINs into a database.
const racer = "MULTIS_TEST_PIN_RACER"

func TestMain(m *testing.M) {
	if dsn := os.Getenv(racer); dsn != "" {
		os.Exit(enterWrongPINs(dsn))
	}
	storetest.Main(m)
}

func newKeeper(t testing.TB, now func() time.Time) *pin.Keeper {
	t.Helper()
	log, err := audit.New("a token of the homeserver")
	require.NoError(t, err)
	return pin.NewKeeper(pin.Options{Log: log, Now: now, Cost: pin.HashCost{KiB: 64, Passes: 1}})
}

// room makes the admin room.
func room(t testing.TB, st *store.Store) store.ChatID {
	t.Helper()
	var id store.ChatID
	require.NoError(t, st.DB().QueryRow(t.Context(),
		`insert into chats (protocol, channel_id, kind, name, encrypted) values ('', 'admin', 'admin', 'Admin', 'no') returning id`).Scan(&id))
	return id
}

// openQuestion opens a question for the PIN.
func openQuestion(t testing.TB, st *store.Store, chat store.ChatID, p pin.Prompt, now time.Time) int64 {
	t.Helper()
	p.AskedAt = now
	var dialog int64
	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error {
		if err := store.ClosePINDialogs(t.Context(), tx, chat); err != nil {
			return err
		}
		err := tx.QueryRow(t.Context(),
			`insert into dialogs (chat_id, kind, payload, outbox_id, expires_at) values ($1, 'pin', '{}', gen_random_uuid(), $2) returning id`, chat,
			now.Add(15*time.Minute)).Scan(&dialog)
		if err != nil {
			return err
		}
		return store.SetDialogPayload(t.Context(), tx, dialog, p, now.Add(15*time.Minute))
	}))
	return dialog
}

// typeText types a text into the admin room.
func typeText(t testing.TB, st *store.Store, k *pin.Keeper, m pin.Message) (i pin.Interception) {
	t.Helper()
	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) (err error) {
		i, err = k.Intercept(t.Context(), tx, m)
		return err
	}))
	return i
}

// setPIN sets a PIN.
func setPIN(t testing.TB, st *store.Store, k *pin.Keeper, chat store.ChatID, digits string) {
	t.Helper()
	now := time.Now()
	openQuestion(t, st, chat, pin.Prompt{Stage: pin.StageNew}, now)
	require.Equal(t, pin.EntryRepeat, typeText(t, st, k, pin.Message{Chat: chat, Text: digits, At: now, CanEnter: true}).Result)
	require.Equal(t, pin.EntrySet, typeText(t, st, k, pin.Message{Chat: chat, Text: digits, At: now, CanEnter: true}).Result)
}

func check(t testing.TB, st *store.Store, k *pin.Keeper, digits string) (r pin.Result) {
	t.Helper()
	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) (err error) {
		r, err = k.Check(t.Context(), tx, digits)
		return err
	}))
	return r
}

func TestPIN_EnteredTwiceChangedWithCurrent(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	k := newKeeper(t, nil)
	chat := room(t, st)
	now := time.Now()
	enterNow := func(text string) pin.EntryResult {
		i := typeText(t, st, k, pin.Message{Chat: chat, Text: text, At: now, CanEnter: true})
		require.True(t, i.Withhold, text)
		return i.Result
	}
	openQuestion(t, st, chat, pin.Prompt{Stage: pin.StageNew}, now)
	for _, trivial := range []string{"0000", "1234", "4321", "1212", "111111", "123123", "2024", "987654"} {
		t.Run(trivial, func(t *testing.T) {
			require.Equal(t, pin.EntryTrivial, enterNow(trivial), trivial)
		})
	}
	require.Equal(t, pin.EntryRepeat, enterNow("4829"))
	require.Equal(t, pin.EntryMismatch, enterNow("4828"))
	require.Equal(t, pin.EntryRepeat, enterNow("482917"))
	require.Equal(t, pin.EntrySet, enterNow("482917"))
	require.Equal(t, pin.EntryUnasked, enterNow("482917"), "nothing is asked for any more")

	openQuestion(t, st, chat, pin.Prompt{Stage: pin.StageCurrent}, now)
	require.Equal(t, pin.EntryWrong, enterNow("4829"))
	require.Equal(t, pin.EntryNext, enterNow("482917"))
	require.Equal(t, pin.EntryRepeat, enterNow("7351"))
	require.Equal(t, pin.EntrySet, enterNow("7351"))
	require.Equal(t, pin.Wrong, check(t, st, k, "482917").Outcome)
	require.Equal(t, pin.Right, check(t, st, k, "7351").Outcome)
}

func TestPIN_UnlocksForADay(t *testing.T) {
	t.Parallel()
	st, now := storetest.New(t), time.Now()
	k := newKeeper(t, func() time.Time { return now })
	needs := func(a pin.Action) pin.Requirement {
		need, _, err := k.Required(t.Context(), st.DB(), a)
		require.NoError(t, err)
		return need
	}
	require.Equal(t, pin.NoPIN, needs(pin.ActionErase), "there is no PIN, and nothing that needs one")
	require.Equal(t, pin.SetPIN, needs(pin.ActionExec))
	log, err := audit.New("a token of the homeserver")
	require.NoError(t, err)
	need, _, err := pin.NewKeeper(pin.Options{Log: log, Required: true}).Required(t.Context(), st.DB(), pin.ActionErase)
	require.NoError(t, err)
	require.Equal(t, pin.SetPIN, need, "agents may change this machine")

	setPIN(t, st, k, room(t, st), "4829")
	require.Equal(t, pin.EnterPIN, needs(pin.ActionErase))
	require.Equal(t, pin.Right, check(t, st, k, "4829").Outcome)
	require.Equal(t, pin.NoPIN, needs(pin.ActionErase))
	require.Equal(t, pin.EnterPIN, needs(pin.ActionExec))
	require.Equal(t, pin.EnterPIN, needs(pin.ActionApprove))
	now = now.Add(-time.Hour)
	require.Equal(t, pin.EnterPIN, needs(pin.ActionErase), "a clock that was set back does not make it longer")
	now = now.Add(time.Hour + pin.UnlockTime)
	require.Equal(t, pin.EnterPIN, needs(pin.ActionErase))

	require.Equal(t, pin.Right, check(t, st, k, "4829").Outcome)
	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error { return k.Lock(t.Context(), tx) }))
	require.Equal(t, pin.EnterPIN, needs(pin.ActionErase))
	for range pin.MaxFailures {
		check(t, st, k, "9999")
	}
	require.Equal(t, pin.WaitForUnlock, needs(pin.ActionErase))
	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error { return k.Reset(t.Context(), tx) }))
	require.Equal(t, pin.NoPIN, needs(pin.ActionErase))
}

func TestPIN_ThreeWrongLockAcrossRestarts(t *testing.T) {
	t.Parallel()
	st, now := storetest.New(t), time.Now()
	clock := func() time.Time { return now }
	k := newKeeper(t, clock)
	setPIN(t, st, k, room(t, st), "4829")
	require.Equal(t, pin.Result{Outcome: pin.Wrong, Left: 2}, check(t, st, k, "1111"))
	k = newKeeper(t, clock) // as another process has
	require.Equal(t, pin.Result{Outcome: pin.Wrong, Left: 1}, check(t, st, k, "1111"))
	require.Equal(t, pin.JustLocked, check(t, st, k, "1111").Outcome)
	k = newKeeper(t, clock)
	require.Equal(t, pin.Locked, check(t, st, k, "4829").Outcome, "the right one is not looked at either")
	s, err := k.State(t.Context(), st.DB())
	require.NoError(t, err)
	require.WithinDuration(t, now.Add(time.Hour), s.LockedUntil, time.Second)
	now = now.Add(-3 * time.Hour)
	require.Equal(t, pin.Locked, check(t, st, k, "4829").Outcome, "a clock that is set back ends no lock")
	now = now.Add(3*time.Hour + pin.LockTime)
	require.Equal(t, pin.Right, check(t, st, k, "4829").Outcome)
}

// enterWrongPINs enters wrong PINs as a process of its own, and prints how many were judged.
func enterWrongPINs(dsn string) int {
	ctx := context.Background()
	st, err := store.Open(ctx, dsn)
	if err != nil {
		return 2
	}
	log, _ := audit.New("a token of the homeserver")
	k, judged := pin.NewKeeper(pin.Options{Log: log}), 0
	for i := range 100 {
		var r pin.Result
		for tries := 0; ; tries++ { // again after a broken connection, as the homeserver does
			err := st.InTx(ctx, func(tx store.Tx) (err error) {
				r, err = k.Check(ctx, tx, strconv.Itoa(100000+i))
				return err
			})
			if err == nil {
				break
			}
			if tries == 100 {
				return 2
			}
		}
		if r.Outcome == pin.Wrong || r.Outcome == pin.JustLocked {
			judged++
		}
	}
	os.Stdout.WriteString(strconv.Itoa(judged))
	return 0
}

func TestPIN_RacingProcessesJudgeThree(t *testing.T) {
	t.Parallel()
	judged, entries := raceWrongPINs(t, func(*store.Store) {})
	require.Equal(t, pin.MaxFailures, judged)
	require.Equal(t, pin.MaxFailures, entries)
}

func TestPIN_BrokenConnectionsJudgeNoMore(t *testing.T) {
	t.Parallel()
	broken := 0
	judged, entries := raceWrongPINs(t, func(st *store.Store) {
		conn, err := st.Pool().Acquire(t.Context())
		require.NoError(t, err)
		defer conn.Release()
		for range 30 { // as at a restart of the database, while all of them judge
			var n int
			require.NoError(t, conn.QueryRow(t.Context(), `select count(pg_terminate_backend(pid)) from pg_stat_activity
				where datname = current_database() and usename = current_user and pid <> pg_backend_pid() and query like '%pin%'`).Scan(&n))
			broken += n
			_, err = conn.Exec(t.Context(), "select pg_sleep(0.04)")
			require.NoError(t, err)
		}
	})
	require.Positive(t, broken)
	require.LessOrEqual(t, judged, pin.MaxFailures)
	require.Equal(t, pin.MaxFailures, entries)
}

// raceWrongPINs lets three processes enter a hundred wrong PINs each, from the same moment on. It returns how many were
// judged as these processes saw it, and by the audit log.
func raceWrongPINs(t *testing.T, meanwhile func(st *store.Store)) (seen, entries int) {
	t.Helper()
	st := storetest.New(t)
	setPIN(t, st, newKeeper(t, nil), room(t, st), "482917")
	program, err := os.Executable()
	require.NoError(t, err)
	// All processes judge their first PIN at the same time: the row is kept locked until each of them waits for it.
	held, err := st.Pool().Begin(t.Context())
	require.NoError(t, err)
	_, err = held.Exec(t.Context(), "select from pin for update")
	require.NoError(t, err)
	var all sync.WaitGroup
	judged := make([]int, 3)
	errs := make([]error, 3)
	for i := range judged {
		all.Go(func() {
			cmd := exec.Command(program)
			cmd.Env = append(os.Environ(), racer+"="+st.Pool().Config().ConnString())
			var out []byte
			if out, errs[i] = cmd.Output(); errs[i] == nil {
				judged[i], errs[i] = strconv.Atoi(strings.TrimSpace(string(out)))
			}
		})
	}
	require.Eventually(t, func() bool {
		return storetest.Count(t, st,
			"select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'") == len(judged)
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, held.Rollback(t.Context()))
	meanwhile(st)
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	return judged[0] + judged[1] + judged[2], storetest.Count(t, st,
		"select count(*) from audit_entries where kind = 'pin' and outcome in ('wrong', 'locked')")
}

func TestPIN_HashIsExpensive(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	log, err := audit.New("a token of the homeserver")
	require.NoError(t, err)
	k := pin.NewKeeper(pin.Options{Log: log})
	setPIN(t, st, k, room(t, st), "4829")
	var hash string
	require.NoError(t, st.DB().QueryRow(t.Context(), "select hash from pin").Scan(&hash))
	require.Contains(t, hash, "$argon2id$v=19$m=65536,t=3,p=1$")
	require.Equal(t, pin.Right, check(t, st, k, "4829").Outcome)
}

func TestPIN_HashNeedsSecret(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	setPIN(t, st, newKeeper(t, nil), room(t, st), "4829")
	log, err := audit.New("another secret")
	require.NoError(t, err)
	require.Equal(t, pin.Wrong, check(t, st, pin.NewKeeper(pin.Options{Log: log}), "4829").Outcome)
}

func TestPIN_FormsAreWithheld(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	k := newKeeper(t, nil)
	chat := room(t, st)
	now := time.Now()
	k.SetIsCommand(func(typed string) bool {
		name, _, _ := strings.Cut(typed, " ")
		return slices.Contains([]string{"/pin", "/remind", "/exec", "/mode", "/help", "/bus"}, name)
	})
	setPIN(t, st, k, chat, "482917")
	type expected struct{ asked, notAsked pin.Interception }
	ordinary := pin.Interception{}
	stray := pin.Interception{Withhold: true, Result: pin.EntryUnasked}
	noDigits := pin.Interception{Withhold: true, Result: pin.EntryNotPIN}
	command := pin.Interception{Withhold: true, Result: pin.EntryCommand}
	for text, want := range map[string]expected{
		"48 29 17":                       {noDigits, stray},
		"\u202e482917\u202c":             {noDigits, stray}, // written from right to left
		"４８２９１７":                         {noDigits, stray}, // full width
		"٤٨٢٩١٧":                         {noDigits, stray}, // Arabic
		"4\ufe0f\u20e38\ufe0f\u20e329":   {noDigits, stray}, // keycaps
		"482":                            {noDigits, ordinary},
		"4829170":                        {noDigits, ordinary},
		"482917.":                        {noDigits, stray},
		"4829!":                          {noDigits, stray},
		"/4829":                          {noDigits, stray},
		"14:30":                          {noDigits, ordinary}, // a time
		strings.Repeat("4829", 2500):     {noDigits, ordinary},
		"my pin is 482917":               {noDigits, stray},
		"4829 is my PIN.":                {noDigits, stray},
		"the offer of 2024":              {ordinary, ordinary}, // no PIN may be a year
		"Wir haben mon-fri 9-18 offen":   {ordinary, ordinary},
		"mon-fri 9-12:30, 13:30-18":      {ordinary, ordinary},
		"It costs 45 EUR from 10 pieces": {ordinary, ordinary},
		"It costs 4500 EUR.":             {ordinary, ordinary},
		"4500€ for all":                  {ordinary, ordinary},
		"on 24.12.2026 at 14:30":         {ordinary, ordinary},
		"call +49 (170) 12345678":        {ordinary, ordinary},
		"it is 4829":                     {noDigits, ordinary},
		"4829 please":                    {noDigits, ordinary},
		"ok: 48 29!":                     {noDigits, ordinary},
		"ok 4-8-2-9":                     {noDigits, ordinary},
		"try «482917», please":           {noDigits, ordinary},
		"try ４８２９ then":                  {noDigits, ordinary},
		"or 4829 2024?":                  {noDigits, ordinary},
		"／pin 4829":                      {command, command},
		"/ pin 4829":                     {command, command},
		"/p 4829":                        {command, command},
		"!pi4829":                        {command, command},
		"pi is 3.14159":                  {ordinary, ordinary},
		"/pim 482917":                    {command, command},
		"/ x4829":                        {noDigits, stray},
		"! atx4829":                      {noDigits, stray},
		"!x4829s\n/4829password":         {noDigits, stray},
		"4829\npi8":                      {noDigits, stray},
		"/pn 482917":                     {command, command},
		"/PNI 4829":                      {command, command},
		"/oin 4829":                      {command, command},
		"!pim4829":                       {command, command},
		"/рin 4829":                      {command, command}, // a Cyrillic р
		"/pinset 4829":                   {command, command},
		"/spin 4829":                     {command, command},
		"/unlock 4829":                   {noDigits, stray}, // no such command
		"/my code is 48 29":              {noDigits, stray},
		"/x4829":                         {noDigits, stray},
		"/remnd 2026-12-24 call Ana":     {ordinary, ordinary},
		"/remnd 14:30 call Ana":          {ordinary, ordinary},
		"/remind 1830 call Ana":          {ordinary, ordinary},
		"/exec kill 48291":               {ordinary, ordinary},
		"/bus 1830":                      {ordinary, ordinary}, // a shortcut
		"/mode off Ana, pin 4829":        {noDigits, stray},
		"/help pin 4829":                 {noDigits, stray},
		"yes 482917":                     {noDigits, stray},
		"4829, yes!":                     {noDigits, stray},
		"pim 4829":                       {noDigits, stray},
		"passcode: 4829":                 {noDigits, stray},
		"482917 482917":                  {noDigits, stray}, // typed twice
		"in 4829":                        {noDigits, ordinary},
		"the bin 4829":                   {noDigits, ordinary},
		"0170 1234567":                   {noDigits, ordinary},
		"/pin 482917":                    {command, command},
		"!PIN set 4829":                  {command, command},
		"pin 482917":                     {command, command},
		"PIN: 4829":                      {command, command},
		"pint of milk, 4829":             {noDigits, ordinary},
		"/pin４８２９１７":                     {command, command},
		"12":                             {ordinary, ordinary},
		"cancel":                         {ordinary, ordinary},
		"yes":                            {ordinary, ordinary},
		"":                               {ordinary, ordinary},
		"/pin set":                       {ordinary, ordinary},
		"/remind 2026-12-24 call Ana":    {ordinary, ordinary},
		"what did Ana say about Friday?": {ordinary, ordinary},
		"My PIN is 482917, " + strings.Repeat("please hurry ", 10):          {noDigits, ordinary},
		"Part 482917 " + strings.Repeat("of the offer ", 10):                {ordinary, ordinary},
		"The pin of part A costs 4500 EUR " + strings.Repeat("as ever ", 8): {ordinary, ordinary},
		"Is " + strings.Repeat("the offer ", 10) + "of 2024 still good?":    {ordinary, ordinary},
	} {
		t.Run(text, func(t *testing.T) {
			require.Equal(t, want.notAsked, typeText(t, st, k, pin.Message{
				Chat:     chat,
				Text:     text,
				At:       now,
				CanEnter: true,
			}), "%.40q, not asked", text)
			dialog := openQuestion(t, st, chat, pin.Prompt{Stage: pin.StageEnter}, now)
			got := typeText(t, st, k, pin.Message{Chat: chat, Text: text, At: now, CanEnter: true})
			if want.asked.Result == pin.EntryNotPIN {
				want.asked.Dialog = dialog
			}
			require.Equal(t, want.asked, got, "%.40q, asked", text)
			require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error { return store.ClosePINDialogs(t.Context(), tx, chat) }))
		})
	}
	require.Zero(t, storetest.Count(t, st, "select failures from pin"), "none of them was judged")

	openQuestion(t, st, chat, pin.Prompt{Stage: pin.StageEnter}, now)
	require.Equal(t, pin.EntryNotPIN, typeText(t, st, k, pin.Message{Chat: chat, Text: "482917", At: now}).Result, "an edit is not an entry")
	require.Equal(t, pin.EntryNotPIN, typeText(t, st, k, pin.Message{
		Chat:     chat,
		Text:     "482917",
		At:       now.Add(-time.Hour),
		CanEnter: true,
	}).Result, "nor what was written before it was asked for")
	require.Equal(t, pin.EntryGranted, typeText(t, st, k, pin.Message{Chat: chat, Text: " 482917\n", At: now, CanEnter: true}).Result)
}

func TestPIN_InWordsOnlyInTranscripts(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	k := newKeeper(t, nil)
	chat := room(t, st)
	now := time.Now()
	setPIN(t, st, k, chat, "482917")
	for transcript, spoken := range map[string]bool{
		"four eight two nine one seven":                   true,
		"Forty-eight, twenty-nine.":                       true,
		"Vier acht zwei neun eins sieben":                 true,
		"cuatro ocho dos nueve":                           true,
		"quatre huit deux neuf, un sept":                  true,
		"My PIN is four eight two nine":                   true,
		"My pin is, um, 4 8 two nine":                     true,
		"Seven":                                           false,
		"What did Ana order, two or three lamps?":         false,
		"Pin the first note, please":                      false,
		"Remind me at eight of the meeting with two Anas": false,
		"": false,
	} {
		t.Run(transcript, func(t *testing.T) {
			got := typeText(t, st, k, pin.Message{Chat: chat, Text: transcript, At: now, IsVoice: true})
			require.Equal(t, spoken, got.Withhold, transcript)
			require.False(t, typeText(t, st, k, pin.Message{
				Chat:     chat,
				Text:     strings.NewReplacer("4 8", "four").Replace(transcript),
				At:       now,
				CanEnter: true,
			}).Withhold, "typed: %s", transcript)
		})
	}
	require.Zero(t, storetest.Count(t, st, "select failures from pin"))
}
