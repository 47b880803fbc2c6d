package admin

import "multis/store"

// base is what the topics share; each topic embeds it.
type base struct {
	store    *store.Store
	room     *room
	chats    *chatPicker
	states   *chatStates
	settings Settings
}

// newBase returns what the topics share.
func newBase(o Options) base {
	room := &room{store: o.Store, box: o.Box, settings: o.Settings, now: o.Now}
	states := &chatStates{store: o.Store, room: room, settings: o.Settings}
	return base{
		store:    o.Store,
		room:     room,
		chats:    &chatPicker{store: o.Store, states: states, table: &commandTable{}, settings: o.Settings},
		states:   states,
		settings: o.Settings,
	}
}

// questions returns no questions, for topics that ask none.
func (base) questions() []func() question { return nil }

// topic is a struct with the commands and questions about one subject.
type topic interface {
	commands() []command
	// questions returns a constructor for each kind of question that the topic asks.
	questions() []func() question
}
