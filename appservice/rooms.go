package appservice

import (
	"sync"
	"time"

	"maunium.net/go/mautrix/id"
)

// roomSet is a set of rooms, bounded so that a server with very many rooms costs little: the oldest half is forgotten
// when it is full, and looked at again when something happens there.
type roomSet struct {
	mu            sync.Mutex
	recent, older map[id.RoomID]struct{}
	// temporary are rooms that are left out for a while.
	temporary map[id.RoomID]time.Time
	// changedRooms are rooms that are being looked at, and whether something changed there since the look began.
	changedRooms map[id.RoomID]bool
}

const roomSetSize = 50_000

func newRoomSet() *roomSet {
	return &roomSet{recent: map[id.RoomID]struct{}{}, temporary: map[id.RoomID]time.Time{}, changedRooms: map[id.RoomID]bool{}}
}

// startWatching begins a look at a room. One look at a room is under way at a time.
func (s *roomSet) startWatching(room id.RoomID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changedRooms[room] = false
}

// stopWatching ends a look.
func (s *roomSet) stopWatching(room id.RoomID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.changedRooms, room)
}

// hasChanged tells whether something changed in a room since the look at it began: what it found may be of yesterday.
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

// addFor is add for a while.
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

// remove takes a room out.
func (s *roomSet) remove(room id.RoomID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeLocked(room)
}

// removeLocked is remove with the lock held.
func (s *roomSet) removeLocked(room id.RoomID) {
	delete(s.recent, room)
	delete(s.older, room)
	delete(s.temporary, room)
}

// noteChange takes a room out because of an event that may make it a chat.
func (s *roomSet) noteChange(room id.RoomID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeLocked(room)
	if _, ok := s.changedRooms[room]; ok {
		s.changedRooms[room] = true
	}
}
