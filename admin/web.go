package admin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"maunium.net/go/mautrix/id"

	"multis/business/desk"
	"multis/internal/text"
	"multis/memory"
	"multis/outbox"
	"multis/safety/audit"
	"multis/store"
)

// RoomReaders says who can read a room.
type RoomReaders interface {
	// OtherReaders returns who is in a room or invited to it besides a person and multis.
	OtherReaders(ctx context.Context, room id.RoomID, person id.UserID) ([]id.UserID, error)
}

// WebCommands lets the owner sign in to the web page, and shows and ends sessions.
type WebCommands struct {
	base

	readers    RoomReaders // nil in a terminal
	memory     *memory.Memory
	desk       *desk.Desk
	finder     *questionCommands
	drafts     *DraftCommands
	tasks      *TaskCommands
	forgetting *ForgetCommands
	modes      *modeCommands
	documents  *DocumentCommands
	pins       *pinCommands
	dialogs    *dialogs
	answers    *AnswerCommands
	previewer  Previewer
}

// newWebCommands returns the commands about the web page, which changes things by the other topics.
func (a *Admin) newWebCommands(o Options) *WebCommands {
	return &WebCommands{
		base:       a.base,
		readers:    o.Readers,
		memory:     o.Memory,
		desk:       o.Desk,
		finder:     a.questions,
		drafts:     a.Drafts,
		tasks:      a.Tasks,
		forgetting: a.Forgetting,
		modes:      a.modes,
		documents:  a.Documents,
		pins:       a.pins,
		dialogs:    a.dialogs,
		answers:    a.Answers,
		previewer:  o.Previewer,
	}
}

// webLinkLifetime is how long a link to sign in can be used.
const webLinkLifetime = 5 * time.Minute

// commands returns the command about the web page.
func (w *WebCommands) commands() []command {
	return []command{{
		name: "web", args: "[sessions or end]", group: groupControl, run: w.run,
		summary: "sign in to the web page",
		aliases: []string{"login", "dashboard"},
		hint:    "`/web` gives you a link that signs you in to the web page.",
		help: "A link that signs you in to the web page, once, for " + text.Duration(webLinkLifetime) +
			"; a newer one replaces it. Only where nobody else can read it. " +
			"`/web sessions` lists who is signed in, `/web end 2` ends that session, `/web end all` every one. A session ends after 12 hours.",
	}}
}

// run gives a link, or shows or ends sessions.
func (w *WebCommands) run(ctx context.Context, r request, args string) (answer, error) {
	if w.settings.WebAddress == "" || w.readers == nil {
		return answer{text: "The web page is off. Set `ops.listen` and `ops.web` in config.yaml: the guide “The web page” says how."}, nil
	}
	words := strings.Fields(strings.ToLower(args))
	switch {
	case len(words) == 0:
		return w.link(ctx, r)
	case len(words) == 1 && words[0] == "sessions":
		return w.list(ctx, r)
	case len(words) == 2 && words[0] == "end" && words[1] == "all":
		return w.endAll(r), nil
	case len(words) == 2 && words[0] == "end" && parseNumber(words[1]) > 0:
		return w.end(r, store.WebSessionID(parseNumber(words[1]))), nil
	default:
		return answer{text: "`/web` gives you a link, `/web sessions` lists who is signed in, `/web end 2` or `/web end all` ends sessions."}, nil
	}
}

// link returns a link that signs in whoever asked for it, if nobody else can read it.
func (w *WebCommands) link(ctx context.Context, r request) (answer, error) {
	others, err := w.readers.OtherReaders(ctx, *r.room.RoomID, r.message.Sender)
	if err != nil {
		return answer{}, err
	}
	if len(others) > 0 {
		return answer{
			text: fmt.Sprintf("No link here: %s can read this room, and whoever opens the link first is signed in as you. "+
				"Give operators a room of their own (`business.escalation.room`) and remove them from this one.", esc(others[0].String())),
			outcome: "refused",
		}, nil
	}
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // it never fails
	token := hex.EncodeToString(secret[:])
	hash := sha256.Sum256([]byte(token))
	expires := r.now.Add(webLinkLifetime)
	return answer{
		text: fmt.Sprintf("%s/sign-in/%s\nSigns you in once, until %s. Don't share it. `/web sessions` lists who is signed in.",
			w.settings.WebAddress, token, w.room.shortTime(expires)),
		change: func(ctx context.Context, tx store.Tx) error {
			return store.PutWebLink(ctx, tx, r.message.Sender, hash[:], expires)
		},
	}, nil
}

// list lists the sessions of the owner.
func (w *WebCommands) list(ctx context.Context, r request) (answer, error) {
	sessions, err := store.WebSessions(ctx, w.store.DB(), r.message.Sender, r.now)
	if err != nil {
		return answer{}, err
	}
	if len(sessions) == 0 {
		return answer{text: "Nobody is signed in to the web page. `/web` gives you a link."}, nil
	}
	lines := []string{"**" + text.Count(len(sessions), "session") + "** of the web page. `/web end 2` ends one, `/web end all` every one."}
	for _, s := range sessions {
		lines = append(lines, fmt.Sprintf("**%d** %s, %s · since %s, last used %s, until %s", s.ID, esc(s.Browser), esc(s.Address),
			w.room.shortTime(s.CreatedAt), w.room.shortTime(s.UsedAt), w.room.shortTime(s.ExpiresAt)))
	}
	return answer{text: strings.Join(lines, "\n")}, nil
}

// end ends one session.
func (w *WebCommands) end(r request, session store.WebSessionID) answer {
	return answer{changeWithText: func(ctx context.Context, tx store.Tx) (string, error) {
		ended, err := store.EndWebSession(ctx, tx, r.message.Sender, session)
		if err != nil {
			return "", err
		}
		if !ended {
			return fmt.Sprintf("There is no session %d. `/web sessions` lists them.", session), nil
		}
		return fmt.Sprintf("Session %d ended.", session), w.log(ctx, tx, r.message.Sender, session, "ended")
	}}
}

// endAll ends every session, and the link that may begin another.
func (w *WebCommands) endAll(r request) answer {
	return answer{changeWithText: func(ctx context.Context, tx store.Tx) (string, error) {
		n, err := store.EndWebSessions(ctx, tx, r.message.Sender)
		if err != nil {
			return "", err
		}
		return text.Count(n, "session") + " ended. The last link is void, too.", w.log(ctx, tx, r.message.Sender, 0, "all ended")
	}}
}

// SignedIn stores in the audit log that a session began, and tells the owner.
func (w *WebCommands) SignedIn(ctx context.Context, tx store.Tx, s store.WebSession) error {
	if err := w.log(ctx, tx, s.Person, s.ID, "signed in"); err != nil {
		return err
	}
	said := fmt.Sprintf("Signed in to the web page: %s, %s, until %s. Not you? `/web end %d`", esc(s.Browser), esc(s.Address),
		w.room.shortTime(s.ExpiresAt), s.ID)
	if err := w.room.box.NotifyOwner(ctx, tx, outbox.Alert, said); !errors.Is(err, outbox.ErrNoAdminRoom) {
		return err
	}
	return nil
}

// SignedOut stores in the audit log that sessions were ended on the page: one, or all if session is zero.
func (w *WebCommands) SignedOut(ctx context.Context, tx store.Tx, person id.UserID, session store.WebSessionID) error {
	return w.log(ctx, tx, person, session, "signed out")
}

// SendDraft sends a draft that the owner approved on the page. It reports whether it is sent.
func (w *WebCommands) SendDraft(ctx context.Context, s store.WebSession, draft uuid.UUID) (done bool, err error) {
	return w.decide(ctx, s, draft, "send", "", func(tx store.Tx) (bool, error) {
		if _, err := w.drafts.send(ctx, tx, draft); err != nil {
			return false, err
		}
		o, err := store.OutboxMessageByID(ctx, tx, draft)
		return o.State == store.OutboxQueued, err
	})
}

// DropDraft drops a draft. It reports whether the draft was open.
func (w *WebCommands) DropDraft(ctx context.Context, s store.WebSession, draft uuid.UUID) (done bool, err error) {
	return w.decide(ctx, s, draft, "drop", "", func(tx store.Tx) (bool, error) {
		_, err := w.drafts.drop(ctx, tx, draft)
		return err == nil, err
	})
}

// ChangeDraft replaces a draft by one with other words, which needs approval. It reports whether the words may be sent there.
func (w *WebCommands) ChangeDraft(ctx context.Context, s store.WebSession, draft uuid.UUID, words string) (done bool, err error) {
	return w.decide(ctx, s, draft, "change", words, func(tx store.Tx) (bool, error) {
		refused, err := w.drafts.rewrite(ctx, tx, draft, words)
		return refused == "" && err == nil, err
	})
}

// decide carries out a decision about a draft.
func (w *WebCommands) decide(ctx context.Context, s store.WebSession, draft uuid.UUID, what, words string,
	change func(store.Tx) (bool, error),
) (done bool, err error) {
	_, err = w.carryOut(ctx, s, deed{
		command: "drafts", outcome: what, ref: draft.String(), words: words,
		change: func(_ context.Context, tx store.Tx) (err error) {
			done, err = change(tx)
			return err
		},
	})
	if errors.Is(err, outbox.ErrDraftDecided) {
		return false, nil
	}
	return done, err
}

// log adds an entry about a session to the audit log.
func (w *WebCommands) log(ctx context.Context, tx store.Tx, person id.UserID, session store.WebSessionID, outcome string) error {
	entry := audit.Entry{
		Kind:    audit.Login,
		Actor:   audit.Owner,
		Person:  person.String(),
		Action:  "web",
		Outcome: outcome,
	}
	if session != 0 {
		entry.Ref = strconv.FormatInt(int64(session), 10)
	}
	return w.settings.Audit.Append(ctx, tx, entry)
}
