package bridgebridge

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"

	"multis/policy"
)

// bridgeFile is a file of testdata/events: what one bridge writes, in the shape of its source code, with values of our own.
type bridgeFile struct {
	Bridge  string           `json:"bridge"`
	Version string           `json:"version"`
	Room    []*event.Event   `json:"room"`
	Chat    string           `json:"chat"` // how multis takes the state of the room
	Events  []catalogueEvent `json:"events"`
}

// catalogueEvent is an event of a bridge, and how multis takes it in a direct chat of a business.
type catalogueEvent struct {
	Name string `json:"name"`
	Take string `json:"take"`
	event.Event
}

func (e *catalogueEvent) UnmarshalJSON(data []byte) error {
	var names struct{ Name, Take string }
	if err := json.Unmarshal(data, &names); err != nil {
		return err
	}
	e.Name, e.Take = names.Name, names.Take
	return json.Unmarshal(data, &e.Event)
}

func readCatalogue(t *testing.T) []bridgeFile {
	t.Helper()
	paths, err := filepath.Glob("testdata/events/*.json")
	require.NoError(t, err)
	var files []bridgeFile
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		var file bridgeFile
		require.NoError(t, json.Unmarshal(data, &file), path)
		files = append(files, file)
	}
	return files
}

// TestCatalogue_IsTakenAsWritten compares what real bridges write with how multis takes it.
func TestCatalogue_IsTakenAsWritten(t *testing.T) {
	t.Parallel()
	for _, file := range readCatalogue(t) {
		t.Run(file.Bridge, func(t *testing.T) {
			portal, isChat := Describe(file.Room, owner, bot)
			require.Equal(t, file.Chat, describeTake(portal, isChat))
			for _, e := range file.Events {
				require.Equal(t, e.Take, eventTake(t, &e.Event, portal), e.Name)
			}
		})
	}
}

// TestCatalogue_NothingIsLost: what a contact of a business sends is answered or shown to a person. Only stickers, calls and what happens
// in the chat itself become a line, and the end of a poll nothing.
func TestCatalogue_NothingIsLost(t *testing.T) {
	t.Parallel()
	counts := map[string]int{}
	for _, file := range readCatalogue(t) {
		portal, isChat := Describe(file.Room, owner, bot)
		for _, e := range file.Events {
			take := strings.FieldsFunc(e.Take, func(r rune) bool { return r == ' ' || r == ':' })[0]
			counts[take]++
			evt, err := Parse(&e.Event)
			require.NoError(t, err)
			isSilent := evt.Stands == ForNothing || evt.Message.Kind == Sticker || evt.Message.Kind == Call
			if isChat && e.Sender == portal.Contact && IsMessageType(e.Type) && !isSilent {
				require.Contains(t, []string{"answer", "escalate"}, take, "%s: %s", file.Bridge, e.Name)
			}
		}
	}
	require.Equal(t, map[string]int{
		"answer":   43,
		"archive":  40,
		"delete":   14,
		"delivery": 50,
		"drop":     1,
		"escalate": 80,
		"ignore":   7,
		"login":    24,
		"reaction": 9,
	}, counts)
}

func describeTake(portal Portal, isChat bool) string {
	if !isChat {
		return "no chat"
	}
	return fmt.Sprintf("%s %q of login %q on %s with %s, own ghost %q", portal.Kind, portal.ChannelID, portal.Login, portal.Network,
		portal.Contact,
		portal.SelfGhost)
}

// eventTake says in a line how multis takes an event of a bridge.
func eventTake(t *testing.T, raw *event.Event, portal Portal) string {
	t.Helper()
	evt, err := Parse(raw)
	require.NoError(t, err)
	who := Senders{
		Owner:     owner,
		Bot:       bot,
		BridgeBot: portal.BridgeBot,
		SelfGhost: portal.SelfGhost,
		Contact:   portal.Contact,
	}
	author := evt.Author(who)
	delivery, isDelivery := evt.DeliveryBy(portal.BridgeBot)
	switch {
	case evt.Connection != nil:
		return strings.TrimSuffix(fmt.Sprintf("login %s: up %v, %s", evt.Connection.Login, evt.Connection.Up, evt.Connection.Why), ", ")
	case isDelivery:
		return strings.TrimSuffix(fmt.Sprintf("delivery: %s %s, %s", delivery.EventID, delivery.State, delivery.Why), ", ")
	case evt.Redacted != "":
		return "delete: " + string(evt.Redacted)
	case raw.Type.Type == event.EventReaction.Type:
		return fmt.Sprintf("reaction: %s by %s to %s", evt.Message.Text, author, evt.Message.ReplyTo)
	case !IsMessageType(raw.Type):
		return "drop: " + raw.Type.Type
	}
	admission := admitInBusiness(evt, author)
	take := fmt.Sprintf("%s: %s by %s: %s", admission.Action, evt.Message.Kind, author, strings.ReplaceAll(evt.Message.Text, "\n", "⏎"))
	if evt.Message.Replaces != "" {
		take += " (edit of " + string(evt.Message.Replaces) + ")"
	}
	if evt.Stands == ForLater {
		take += " (after a while)"
	}
	return take
}

// admitInBusiness decides about an event in a direct chat of a business, with no model for pictures and recordings.
func admitInBusiness(evt Event, author policy.Author) policy.Admission {
	return policy.Admit(policy.AdmitInput{
		Mode:          policy.ModeBusiness,
		Kind:          policy.KindDM,
		Author:        author,
		Text:          evt.Message.Words(),
		Notice:        evt.Message.Notice,
		HasAttachment: evt.Message.HasUnreadFile(false),
		MaxAge:        time.Hour,
		StoreCap:      policy.Rate{Minute: 1, Day: 1},
		SendCap:       policy.Rate{Minute: 1, Day: 1},
	})
}
