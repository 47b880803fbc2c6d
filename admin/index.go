package admin

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"multis/bridgebridge"
	"multis/internal/text"
	"multis/jobs"
	"multis/knowledge"
	"multis/policy"
	"multis/store"
)

// recentFileTime is how long after a file was sent /index without a name means that file.
const recentFileTime = time.Hour

// The reactions on a message whose work has started or is done.
const (
	reactionStarted = "👀"
	reactionDone    = "✅"
)

// index indexes a file that was sent, files in the documents folder, or a page.
func (dc *DocumentCommands) index(ctx context.Context, r request, args string) (answer, error) {
	where, role := args, policy.Role("")
	if fields := strings.Fields(args); len(fields) > 0 {
		if last, found := parseRole(fields[len(fields)-1]); found {
			role, where = last, strings.TrimSpace(strings.TrimSuffix(args, fields[len(fields)-1]))
		}
	}
	_, both := parseRole(where)
	switch {
	case both && role != "":
		return answer{text: "Public, or only you? `/index public` or `/index admin`."}, nil
	case knowledge.IsAddress(where):
		return dc.indexOrAsk(r, pickRole{Address: where, Name: knowledge.AddressName(where)}, role), nil
	case where != "":
		return dc.indexPath(r, where, role), nil
	}
	file, err := dc.fileToIndex(ctx, r)
	if errors.Is(err, store.ErrNotFound) {
		return answer{text: "Send me a file here, or name one in the documents folder, or a page: `/index prices.pdf public`." + dc.folderList()},
			nil
	}
	if err != nil {
		return answer{}, err
	}
	return dc.indexFile(r, file, role), nil
}

// fileToIndex returns the message with the file that /index without a name means: the command itself, the message it
// replies to, or the last message with a file.
func (dc *DocumentCommands) fileToIndex(ctx context.Context, r request) (store.Message, error) {
	if r.message.Attachment != nil {
		return r.message, nil
	}
	if r.message.RelatesTo != "" {
		m, err := store.MessageByEvent(ctx, dc.store.DB(), r.room.ID, r.message.RelatesTo)
		if err == nil && m.Attachment != nil {
			return m, nil
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return store.Message{}, err
		}
	}
	return store.NewestFile(ctx, dc.store.DB(), r.room.ID, r.message.Sender, r.now.Add(-recentFileTime))
}

// offerFile answers a file that was sent without a command. The caption may say who may see it.
func (dc *DocumentCommands) offerFile(r request, caption string) answer {
	role, _ := parseRole(caption)
	return dc.indexFile(r, r.message, role)
}

// indexFile indexes the file of a message.
func (dc *DocumentCommands) indexFile(r request, m store.Message, role policy.Role) answer {
	if m.Kind != string(bridgebridge.Document) {
		return answer{text: unreadableKindText(m.Kind)}
	}
	if why := whyUnindexable(m.Attachment.Name, max(int64(m.Attachment.Size), 1)); why != "" { // zero means unknown
		return answer{text: why}
	}
	return dc.indexOrAsk(r, pickRole{Message: m.ID, Name: m.Attachment.Name}, role)
}

// indexPath indexes the files in the documents folder that a path matches.
func (dc *DocumentCommands) indexPath(r request, where string, role policy.Role) answer {
	where = filepath.ToSlash(filepath.Clean(where))
	files, size, err := dc.library.Find(where)
	if err != nil {
		return answer{text: "⚠️ " + code(where) + ": " + esc(fileErrorText(err)) + "." + dc.folderList()}
	}
	p := pickRole{Path: where, Name: path.Base(where)}
	if len(files) == 1 && files[0] == where {
		if why := whyUnindexable(where, size); why != "" {
			return answer{text: why}
		}
	} else {
		p.Name, p.Files = where, len(files)
	}
	return dc.indexOrAsk(r, p, role)
}

// whyUnindexable says why a file cannot be indexed, by its name and size; empty when it may be possible.
func whyUnindexable(name string, size int64) string {
	switch {
	case knowledge.IsUnreadable(name):
		return "⚠️ I cannot read **" + esc(name) + "**: " + knowledge.ErrUnknownType.Error() + "."
	case size > knowledge.MaxSize:
		return "⚠️ **" + esc(name) + "** is too big: at most " + knowledge.MaxSizeText + "."
	case size == 0:
		return "⚠️ **" + esc(name) + "** is empty."
	default:
		return ""
	}
}

// indexOrAsk starts indexing if the role is known, or asks who may see the document.
func (dc *DocumentCommands) indexOrAsk(r request, p pickRole, role policy.Role) answer {
	if role != "" {
		return p.start(r, role)
	}
	name := "**" + esc(p.Name) + "**"
	switch {
	case p.Watch:
		name = code(p.Name) + " and what comes into it"
	case p.Files > 0:
		name = code(p.Name) + " (" + text.Count(p.Files, "file") + ")"
	}
	return answer{
		text: "📄 " + name +
			" — who may see it? **1** public (customers get answers from it) · **2** only you · **3** skip. Reply with a number.",
		question: p,
	}
}

// pickRole asks who may see a document. Until it is answered, nothing is indexed.
type pickRole struct {
	Message store.MessageID `json:",omitempty"` // the message with the file
	Path    string          `json:",omitempty"` // or a path, folder or pattern in the documents folder
	Address string          `json:",omitempty"` // or the address of a page
	Files   int             `json:",omitempty"` // the number of files that Path matches; zero for one named file
	Watch   bool            `json:",omitempty"` // Path is a folder to watch
	Name    string
}

func (p pickRole) traits() traits {
	return traits{
		kind:    "role",
		command: "index",
		queues:  true,
		message: p.Message,
	}
}

func (pickRole) accepts(word string) bool {
	_, isRole := parseRole(word)
	return isRole || word == "skip" || word == wordNo
}

func (p pickRole) answer(_ context.Context, r request, c choice) (_ answer, done bool, err error) {
	role, isRole := parseRole(c.word)
	switch {
	case isRole:
		return p.start(r, role), true, nil
	case c.number == 1:
		return p.start(r, policy.RolePublic), true, nil
	case c.number == 2:
		return p.start(r, policy.RoleAdmin), true, nil
	case c.number == 3, c.word != "":
		if p.Watch {
			return answer{text: code(p.Name) + " is not watched."}, true, nil
		}
		return answer{text: "**" + esc(p.Name) + "** is not indexed."}, true, nil
	default:
		return answer{text: "1 to 3, please: public, only you, or skip."}, false, nil
	}
}

// start enqueues the indexing, or starts to watch the folder.
func (p pickRole) start(r request, role policy.Role) answer {
	if p.Watch {
		return p.startWatching(r, role)
	}
	return answer{reaction: reactionStarted, change: func(ctx context.Context, tx store.Tx) error {
		return jobs.Enqueue(ctx, tx, jobs.IndexArgs{
			MessageID: p.Message,
			Path:      p.Path,
			Address:   p.Address,
			Role:      role,
			RoleSetAt: r.now,
			ChatID:    r.room.ID,
		})
	}}
}

// unreadableKindText says that messages of a kind cannot be read.
func unreadableKindText(kind string) string {
	switch bridgebridge.MessageKind(kind) {
	case bridgebridge.Voice, bridgebridge.Audio:
		return "I cannot listen: no speech-to-text is set up (`speech.model` in config.yaml). Please type it."
	case bridgebridge.Image:
		return "I cannot look at pictures: no model that sees them is set up (`vision.model` in config.yaml). I read text and documents."
	default:
		return "I can read text and documents so far."
	}
}

// startWatching starts to watch a folder.
func (p pickRole) startWatching(r request, role policy.Role) answer {
	seen, stays := "only for you", ""
	if role == policy.RolePublic {
		seen, stays = "public", " What you made private stays private."
	}
	return answer{
		text: fmt.Sprintf("📂 %s is watched: its files are %s, now and whenever they change.%s `/docs unwatch %s` ends it.", code(p.Path), seen,
			stays, p.Path),
		change: func(ctx context.Context, tx store.Tx) error {
			if err := store.WatchFolder(ctx, tx, store.WatchedFolder{Path: p.Path, Role: role, RoleSetAt: r.now, ChatID: r.room.ID}); err != nil {
				return err
			}
			return jobs.Enqueue(ctx, tx, jobs.IndexFoldersArgs{})
		},
	}
}
