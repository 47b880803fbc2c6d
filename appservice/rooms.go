package appservice

import (
	"sync"

	"maunium.net/go/mautrix/id"
)

// roomSet is a set of rooms, bounded so that a server with very many rooms costs little: the oldest half is forgotten
// when it is full, and looked at again when something happens there.
type roomSet struct {
	mu       sync.Mutex
	now, old map[id.RoomID]struct{}
}

const roomSetSize = 50_000

func newRoomSet() *roomSet { return &roomSet{now: map[id.RoomID]struct{}{}} }

func (s *roomSet) add(room id.RoomID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.now) >= roomSetSize {
		s.now, s.old = map[id.RoomID]struct{}{}, s.now
	}
	s.now[room] = struct{}{}
}

func (s *roomSet) has(room id.RoomID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, now := s.now[room]
	_, old := s.old[room]
	return now || old
}

func (s *roomSet) remove(room id.RoomID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.now, room)
	delete(s.old, room)
}
