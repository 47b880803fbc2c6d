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

// maxDepth is how deep JSON from the homeserver may be nested. The decoder refuses a whole transaction because of one event that
// is nested 10,000 deep; what lies deeper than this is read as null.
const maxDepth = 500

// unmarshal decodes what the homeserver sent.
func unmarshal(data []byte, into any) error { return json.Unmarshal(cutDeep(data), into) }

// cutDeep replaces what is nested deeper than maxDepth by null. It returns data itself if nothing is.
func cutDeep(data []byte) []byte {
	var cut []byte // what is kept up to from; nil while nothing was cut
	from, depth, inString := 0, 0, false
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

// eventList is a list of events as the homeserver sends it. An event that is malformed is left out: it would hold up all others
// for ever.
type eventList []*event.Event

// UnmarshalJSON reads the events one by one.
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

// readEvent reads one event; nil for one that is malformed.
func readEvent(raw json.RawMessage) *event.Event {
	evt := new(event.Event)
	if string(raw) == "null" || json.Unmarshal(raw, evt) != nil {
		return nil
	}
	return evt
}

// syncResponse is what is read of a sync.
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

// syncedRoom is what a sync says of one room.
type syncedRoom struct {
	Timeline timeline `json:"timeline"`
}

// timeline is the newest events of a room, oldest first.
type timeline struct {
	Events    eventList `json:"events"`
	Limited   bool      `json:"limited"` // there are more between the last sync and PrevBatch
	PrevBatch string    `json:"prev_batch"`
}

// keys are the parts of a sync that encryption needs.
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

// pageSize is how many events are read at once.
const pageSize = 100

// messagesBefore reads a page of a room's events, from a position back to another one; empty: from now, to the beginning.
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
		p.End = "" // some homeservers name a position behind the last page
	}
	for _, evt := range p.Chunk {
		evt.RoomID = room
	}
	return &p, err
}

// event reads one event; nil for one that is malformed.
func (s *session) event(ctx context.Context, room id.RoomID, evt id.EventID) (*event.Event, error) {
	var raw json.RawMessage
	if err := s.get(ctx, s.BuildClientURL("v3", "rooms", room, "event", evt), &raw); err != nil {
		return nil, err
	}
	return readEvent(raw), nil
}

// state reads the whole state of a room.
func (s *session) state(ctx context.Context, room id.RoomID) ([]*event.Event, error) {
	var all eventList
	err := s.get(ctx, s.BuildClientURL("v3", "rooms", room, "state"), &all)
	for _, evt := range all {
		evt.Type.Class = event.StateEventType
		_ = evt.Content.ParseRaw(evt.Type) // what does not parse is read as empty
	}
	return all, err
}

// get makes a GET request and decodes its answer leniently.
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

// parseTransaction reads what the homeserver pushes. signs are what is not kept: who is typing, what was read.
func parseTransaction(ctx context.Context, body []byte) (events, signs []*event.Event, err error) {
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
