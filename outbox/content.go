package outbox

import "maunium.net/go/mautrix/id"

// content is the content of an event. m.mentions is always set, so that a name in the text is no mention.
type content struct {
	MsgType   string     `json:"msgtype,omitempty"`
	Body      string     `json:"body,omitempty"`
	Format    string     `json:"format,omitempty"`
	HTML      string     `json:"formatted_body,omitempty"`
	FileName  string     `json:"filename,omitempty"`
	Info      *fileInfo  `json:"info,omitempty"`
	Voice     *struct{}  `json:"org.matrix.msc3245.voice,omitempty"`
	Audio     *audioInfo `json:"org.matrix.msc1767.audio,omitempty"`
	Mentions  *mentions  `json:"m.mentions,omitempty"`
	RelatesTo *relation  `json:"m.relates_to,omitempty"`
	Profile   *Profile   `json:"com.beeper.per_message_profile,omitempty"`
	Key       string     `json:"ai.multis.out,omitempty"`
	FailedID  string     `json:"ai.multis.unsent,omitempty"`
}

type mentions struct {
	Users []id.UserID `json:"user_ids,omitempty"`
}

type fileInfo struct {
	MIME   string `json:"mimetype"`
	Size   int    `json:"size"`
	Millis int    `json:"duration,omitempty"`
	Width  int    `json:"w,omitempty"`
	Height int    `json:"h,omitempty"`
}

// audioInfo is what clients show of a voice note.
type audioInfo struct {
	Millis int `json:"duration,omitempty"`
}

type relation struct {
	Type  string     `json:"rel_type"`
	Event id.EventID `json:"event_id"`
	Emoji string     `json:"key,omitempty"`
	// Clients without threads show a message in a thread as a reply to ReplyTo.
	ReplyTo   *replyTo `json:"m.in_reply_to,omitempty"`
	IsReplyTo bool     `json:"is_falling_back,omitempty"` // ReplyTo is for those clients only
}

type replyTo struct {
	Event id.EventID `json:"event_id"`
}

// The types of relations that are made here.
const (
	relationReaction = "m.annotation"
	relationReplaces = "m.replace"
	relationThread   = "m.thread"
)

// threadRelation returns the relation of a message in the thread with a root event.
func threadRelation(root id.EventID) *relation {
	return &relation{Type: relationThread, Event: root, ReplyTo: &replyTo{Event: root}, IsReplyTo: true}
}
