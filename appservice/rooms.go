package appservice

import (
	"sync"
	"time"

	"maunium.net/go/mautrix/id"
)

// roomSet is a set of rooms, bounded so that a server with very many rooms costs little: the oldest half is forgotten
// when it is full, and looked at again when something happens there.
type roomSet struct {
	mu       sync.Mutex
	now, old map[id.RoomID]struct{}
	// until are rooms that are left out for a while.
	until map[id.RoomID]time.Time
	// watched are rooms that are being looked at, and whether something changed there since the look began.
	watched map[id.RoomID]bool
}

const roomSetSize = 50_000

func newRoomSet() *roomSet {
	return &roomSet{now: map[id.RoomID]struct{}{}, until: map[id.RoomID]time.Time{}, watched: map[id.RoomID]bool{}}
}

// watch begins a look at a room. One look at a room is under way at a time.
func (s *roomSet) watch(room id.RoomID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched[room] = false
}

// unwatch ends a look.
func (s *roomSet) unwatch(room id.RoomID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watched, room)
}

// stale tells whether something changed in a room since the look at it began: what it found may be of yesterday.
func (s *roomSet) stale(room id.RoomID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watched[room]
}

func (s *roomSet) add(room id.RoomID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.now) >= roomSetSize {
		s.now, s.old = map[id.RoomID]struct{}{}, s.now
	}
	s.now[room] = struct{}{}
}

// addFor is add for a while.
func (s *roomSet) addFor(room id.RoomID, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.until) >= roomSetSize {
		clear(s.until)
	}
	s.until[room] = time.Now().Add(d)
}

func (s *roomSet) has(room id.RoomID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, now := s.now[room]
	_, old := s.old[room]
	return now || old || time.Now().Before(s.until[room])
}

// remove takes a room out.
func (s *roomSet) remove(room id.RoomID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(room)
}

// drop is remove with the lock held.
func (s *roomSet) drop(room id.RoomID) {
	delete(s.now, room)
	delete(s.old, room)
	delete(s.until, room)
}

// changed takes a room out because of an event that may make it a chat.
func (s *roomSet) changed(room id.RoomID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(room)
	if _, ok := s.watched[room]; ok {
		s.watched[room] = true
	}
}
