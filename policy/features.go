package policy

import "strings"

// Features are the limits of the network behind a room. The zero value means that the bridge did not publish any; then only the limits of
// multis apply.
type Features struct {
	Known       bool                `json:"known,omitempty"`
	MaxText     int                 `json:"max_text,omitempty"` // characters in one message; 0 means no limit
	NoEdits     bool                `json:"no_edits,omitempty"`
	NoReactions bool                `json:"no_reactions,omitempty"`
	Files       map[string]FileRule `json:"files,omitempty"` // by msgtype; files of a msgtype without a rule are refused
}

// FileRule says which files of one msgtype a network accepts.
type FileRule struct {
	Types      []string `json:"types,omitempty"`    // MIME types: "text/plain", "image/*", "*/*"
	MaxSize    int64    `json:"max_size,omitempty"` // bytes; 0 means no limit
	Captions   bool     `json:"captions,omitempty"`
	MaxCaption int      `json:"max_caption,omitempty"` // characters; 0 means no limit
}

// FileSpec describes an outgoing file.
type FileSpec struct {
	MIME    string
	Size    int64
	Caption string
}

// MaxFile is the maximum size of a file that is sent, in bytes.
const MaxFile = 20 << 20

// CheckFile returns why the network does not accept a file; empty if it does.
func (f Features) CheckFile(msgType string, file FileSpec) Code {
	if file.Size > MaxFile {
		return CodeFileTooBig
	}
	if !f.Known {
		return ""
	}
	rule, taken := f.Files[msgType]
	switch {
	case !taken || !rule.accepts(file.MIME):
		return CodeNoFiles
	case rule.MaxSize > 0 && file.Size > rule.MaxSize:
		return CodeFileTooBig
	case file.Caption == "":
		return ""
	case !rule.Captions, rule.MaxCaption > 0 && len([]rune(file.Caption)) > rule.MaxCaption:
		return CodeNoCaptions
	default:
		return ""
	}
}

func (r FileRule) accepts(mime string) bool {
	general, _, _ := strings.Cut(mime, "/")
	for _, t := range r.Types {
		if t == mime || t == general+"/*" || t == "*/*" {
			return true
		}
	}
	return false
}

// checkFeatures refuses what the network behind the room does not accept.
func checkFeatures(in GateInput) Code {
	f := in.Features
	switch {
	case in.Kind == KindAdmin:
		return ""
	case in.Edits && f.NoEdits:
		return CodeNoEdits
	case in.Reacts && f.NoReactions:
		return CodeNoReactions
	case in.File != nil:
		return f.CheckFile(in.MsgType, *in.File)
	case f.MaxText > 0 && len([]rune(in.Body)) > f.MaxText:
		return CodeNetworkLimit
	default:
		return ""
	}
}
