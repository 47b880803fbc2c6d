package appservice

import (
	"sync"
	"time"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// roomSet is a bounded set of rooms that are no chats. When it is full, its older half is dropped; those rooms are described again at
// their next event.
type roomSet struct {
	mu            sync.Mutex
	recent, older map[id.RoomID]struct{}
	// temporary holds rooms that are in the set for a limited time, with the time at which they leave it.
	temporary map[id.RoomID]time.Time
	// changedRooms says, for each watched room, whether it changed since startWatching.
	changedRooms map[id.RoomID]bool
}

// roomSetSize is the number of rooms after which the set drops its older half.
const roomSetSize = 50_000

// newRoomSet returns an empty set.
func newRoomSet() *roomSet {
	return &roomSet{recent: map[id.RoomID]struct{}{}, temporary: map[id.RoomID]time.Time{}, changedRooms: map[id.RoomID]bool{}}
}

// startWatching begins to record whether a room changes. Only one description of a room runs at a time.
func (s *roomSet) startWatching(room id.RoomID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changedRooms[room] = false
}

// stopWatching ends the recording that startWatching began.
func (s *roomSet) stopWatching(room id.RoomID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.changedRooms, room)
}

// hasChanged reports whether a room changed since startWatching, so that its description may be outdated.
func (s *roomSet) hasChanged(room id.RoomID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changedRooms[room]
}

func (s *roomSet) add(room id.RoomID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.recent) >= roomSetSize {
		s.recent, s.older = map[id.RoomID]struct{}{}, s.recent
	}
	s.recent[room] = struct{}{}
}

// addFor adds a room for the duration d.
func (s *roomSet) addFor(room id.RoomID, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.temporary) >= roomSetSize {
		clear(s.temporary)
	}
	s.temporary[room] = time.Now().Add(d)
}

func (s *roomSet) has(room id.RoomID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, now := s.recent[room]
	_, old := s.older[room]
	return now || old || time.Now().Before(s.temporary[room])
}

func (s *roomSet) remove(room id.RoomID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeLocked(room)
}

// removeLocked implements remove. The caller holds mu.
func (s *roomSet) removeLocked(room id.RoomID) {
	delete(s.recent, room)
	delete(s.older, room)
	delete(s.temporary, room)
}

// recordChange removes a room from the set after an event that may make the room a chat. It also records the change for hasChanged.
func (s *roomSet) recordChange(room id.RoomID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeLocked(room)
	if _, ok := s.changedRooms[room]; ok {
		s.changedRooms[room] = true
	}
}

// changesRoom reports whether an event can turn an ignored room into a chat.
func changesRoom(evt *event.Event, settings Settings) bool {
	switch evt.Type.Type {
	case event.StateBridge.Type, event.StateHalfShotBridge.Type:
		return evt.StateKey != nil
	case event.StateMember.Type:
		return evt.StateKey != nil && (*evt.StateKey == settings.Owner.String() || *evt.StateKey == settings.Bot.String())
	case event.StateJoinRules.Type, event.StateHistoryVisibility.Type:
		return evt.StateKey != nil && evt.Sender == settings.Owner // it may become a room that only he can open
	default:
		return false
	}
}
