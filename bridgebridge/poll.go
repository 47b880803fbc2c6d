package bridgebridge

import (
	"cmp"
	"regexp"
	"strings"

	"maunium.net/go/mautrix/event"
)

// The stable types of the events that begin a poll, and that vote in one. Bridges still write the unstable ones.
const (
	pollStart    = "m.poll.start"
	pollResponse = "m.poll.response"
)

// pollContent is the part of a poll that multis reads. Bridges write it into events of their own type, or into a message with the same in
// words. StablePoll is where the specification has it, NamedPoll where clients wrote it before.
type pollContent struct {
	StablePoll   poll `json:"m.poll"`
	NamedPoll    poll `json:"m.poll.start"`
	UnstablePoll poll `json:"org.matrix.msc3381.poll.start"`
}

// poll is a question with its answers.
type poll struct {
	Question pollText   `json:"question"`
	Answers  []pollText `json:"answers"`
}

// pollText is a text of a poll, in the unstable or the stable form.
type pollText struct {
	Unstable string `json:"org.matrix.msc1767.text"`
	Body     string `json:"body"`
	Stable   []struct {
		Body string `json:"body"`
	} `json:"m.text"`
}

func (t pollText) text() string {
	if len(t.Stable) > 0 {
		return cmp.Or(t.Stable[0].Body, t.Unstable, t.Body)
	}
	return cmp.Or(t.Unstable, t.Body)
}

func (c pollContent) poll() poll {
	for _, p := range []poll{c.StablePoll, c.NamedPoll} {
		if p.Question.text() != "" {
			return p
		}
	}
	return c.UnstablePoll
}

// telegramPoll matches a poll of mautrix-telegram, which writes it in words only.
var telegramPoll = regexp.MustCompile(`(?s)^Poll: (.+)\nOpen the Telegram app to vote\.$`)

// isPoll reports whether a message is a poll.
func (c messageContent) isPoll() bool {
	return c.poll().Question.text() != "" || c.MsgType == event.MsgText && telegramPoll.MatchString(c.Body)
}

// pollLine returns the question and the answers of a poll as one line, or else its text for clients that know no polls.
func (c messageContent) pollLine() string {
	p := c.poll()
	if p.Question.text() == "" {
		return telegramPoll.ReplaceAllString(c.Body, "$1")
	}
	var answers []string
	for _, answer := range p.Answers {
		answers = append(answers, answer.text())
	}
	if len(answers) == 0 {
		return p.Question.text()
	}
	return p.Question.text() + ": " + strings.Join(answers, ", ")
}

// readPoll reads an event that begins a poll, or votes in one. A vote names its answer by an id, so its line does not say which.
func readPoll(of event.Type, content messageContent) Message {
	line := cmp.Or(content.pollLine(), content.Body)
	if of.Type == pollResponse || of.Type == event.EventUnstablePollResponse.Type {
		line = "voted"
	}
	return Message{
		Kind:    Poll,
		Text:    placeholder(string(Poll), line),
		ReplyTo: cmp.Or(content.RelatesTo.GetReplyTo(), content.RelatesTo.GetReferenceID()),
		Thread:  content.RelatesTo.GetThreadParent(),
	}
}
