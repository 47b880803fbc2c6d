package appservice

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/rs/zerolog"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// maxDepth is the maximum nesting of JSON from the homeserver. Deeper values are read as null, because the decoder would reject a whole
// transaction if one of its events is nested 10,000 deep.
const maxDepth = 500

// unmarshal decodes JSON from the homeserver with nesting limited to maxDepth.
func unmarshal(data []byte, into any) error { return json.Unmarshal(cutDeep(data), into) }

// cutDeep replaces values nested deeper than maxDepth by null. It returns data itself if there are none.
func cutDeep(data []byte) []byte {
	var cut []byte // the result without data[from:]; nil while nothing was cut
	from := 0
	depth := 0
	inString := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth == maxDepth {
				cut = append(append(cut, data[from:i]...), "null"...)
			}
		case c == '}' || c == ']':
			if depth--; depth == maxDepth-1 {
				from = i + 1
			}
		}
	}
	if cut == nil {
		return data
	}
	return append(cut, data[from:]...)
}

// eventList is a list of events from the homeserver. Malformed events are skipped, because one of them would block all others.
type eventList []*event.Event

// UnmarshalJSON decodes the events one by one.
func (l *eventList) UnmarshalJSON(data []byte) error {
	var all []json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	if len(all) > 0 {
		*l = make(eventList, 0, len(all))
	}
	for _, raw := range all {
		if evt := readEvent(raw); evt != nil {
			*l = append(*l, evt)
		}
	}
	return nil
}

// readEvent decodes one event. It returns nil if the event is malformed.
func readEvent(raw json.RawMessage) *event.Event {
	evt := new(event.Event)
	if string(raw) == "null" || json.Unmarshal(raw, evt) != nil {
		return nil
	}
	return evt
}

// syncResponse is the part of a /sync response that multis uses.
type syncResponse struct {
	NextBatch string `json:"next_batch"`
	ToDevice  struct {
		Events eventList `json:"events"`
	} `json:"to_device"`
	DeviceLists    mautrix.DeviceLists `json:"device_lists"`
	DeviceOTKCount mautrix.OTKCount    `json:"device_one_time_keys_count"`
	FallbackKeys   []id.KeyAlgorithm   `json:"device_unused_fallback_key_types"`
	Rooms          struct {
		Join  map[id.RoomID]syncedRoom `json:"join"`
		Leave map[id.RoomID]syncedRoom `json:"leave"`
	} `json:"rooms"`
}

// syncedRoom is one room in a /sync response.
type syncedRoom struct {
	Timeline timeline `json:"timeline"`
}

// timeline is the newest events of a room, oldest first.
type timeline struct {
	Events    eventList `json:"events"`
	Limited   bool      `json:"limited"` // events between the last sync and PrevBatch were left out
	PrevBatch string    `json:"prev_batch"`
}

// keys returns the parts of the response that encryption needs.
func (r *syncResponse) keys() *mautrix.RespSync {
	return &mautrix.RespSync{
		NextBatch: r.NextBatch, ToDevice: mautrix.SyncEventsList{Events: r.ToDevice.Events}, DeviceLists: r.DeviceLists,
		DeviceOTKCount: r.DeviceOTKCount, FallbackKeys: r.FallbackKeys,
	}
}

// sync makes one sync request.
func (s *session) sync(ctx context.Context, req mautrix.ReqSync) (*syncResponse, error) {
	var resp syncResponse
	return &resp, s.get(ctx, s.BuildURLWithQuery(mautrix.ClientURLPath{"v3", "sync"}, req.BuildQuery()), &resp)
}

// page is a page of a room's events, newest first.
type page struct {
	Chunk eventList `json:"chunk"` // nil if the homeserver sent none
	End   string    `json:"end"`   // where the next page begins; empty after the last
}

// pageSize is the number of events in a page.
const pageSize = 100

// messagesBefore reads a page of a room's events backwards, from one position to another. An empty from means now. An empty to
// means the beginning of the room.
func (s *session) messagesBefore(ctx context.Context, room id.RoomID, from, to string) (*page, error) {
	query := map[string]string{"dir": "b", "limit": strconv.Itoa(pageSize)}
	if from != "" {
		query["from"] = from
	}
	if to != "" {
		query["to"] = to
	}
	var p page
	err := s.get(ctx, s.BuildURLWithQuery(mautrix.ClientURLPath{"v3", "rooms", room, "messages"}, query), &p)
	if p.Chunk == nil {
		p.End = "" // some homeservers return a position even after the last page
	}
	for _, evt := range p.Chunk {
		evt.RoomID = room
	}
	return &p, err
}

// event fetches one event. It returns nil if the event is malformed.
func (s *session) event(ctx context.Context, room id.RoomID, evt id.EventID) (*event.Event, error) {
	var raw json.RawMessage
	if err := s.get(ctx, s.BuildClientURL("v3", "rooms", room, "event", evt), &raw); err != nil {
		return nil, err
	}
	return readEvent(raw), nil
}

// state fetches the whole state of a room.
func (s *session) state(ctx context.Context, room id.RoomID) ([]*event.Event, error) {
	var all eventList
	err := s.get(ctx, s.BuildClientURL("v3", "rooms", room, "state"), &all)
	for _, evt := range all {
		evt.Type.Class = event.StateEventType
		_ = evt.Content.ParseRaw(evt.Type) // invalid content is read as empty
	}
	return all, err
}

// get makes a GET request and decodes the response with unmarshal.
func (s *session) get(ctx context.Context, url string, into any) error {
	_, err := s.MakeFullRequest(ctx, mautrix.FullRequest{
		Method: http.MethodGet, URL: url, ResponseJSON: into, MaxAttempts: 1,
		Handler: func(_ *http.Request, res *http.Response, into any, limit int64) ([]byte, error) {
			data, err := io.ReadAll(io.LimitReader(res.Body, limit))
			if err == nil {
				err = unmarshal(data, into)
			}
			if err != nil {
				return nil, fmt.Errorf("read the homeserver's answer: %w", err)
			}
			return nil, nil
		},
	})
	return err
}

// parseTransaction decodes a pushed transaction. ephemeral are its ephemeral events: typing and read receipts.
func parseTransaction(ctx context.Context, body []byte) (events, ephemeral []*event.Event, err error) {
	var txn struct {
		Events    eventList `json:"events"`
		Ephemeral eventList `json:"ephemeral"`
	}
	if err := unmarshal(body, &txn); err != nil {
		return nil, nil, err
	}
	for _, evt := range txn.Events {
		if evt.ID == "" || evt.RoomID == "" || evt.Sender == "" {
			zerolog.Ctx(ctx).Warn().Msg("Left out an event without id, room or sender")
			continue
		}
		events = append(events, evt)
	}
	return events, txn.Ephemeral, nil
}
