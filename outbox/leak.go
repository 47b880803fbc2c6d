package outbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"multis/internal/text"
	"multis/policy"
	"multis/store"
)

// leaksSecret reports whether a message to a contact holds a secret of the configuration.
func (m Message) leaksSecret() bool {
	if m.Purpose == policy.PurposeNotice {
		return false // secrets are masked there
	}
	return policy.LeaksSecret(m.Text) || policy.LeaksSecret(m.HTML) || m.File != nil && m.File.leaksSecret()
}

func (f File) leaksSecret() bool {
	if f.leaks != nil {
		return *f.leaks
	}
	return policy.LeaksSecret(f.Name) || policy.LeaksSecret(f.MIME) || policy.LeaksSecret(string(f.Data))
}

// fileLeaksSecret reports whether the file of a row to a contact holds a secret that is in the configuration now.
func fileLeaksSecret(ctx context.Context, db store.DB, o store.OutboxMessage) (bool, error) {
	var c content
	if err := json.Unmarshal(o.Content, &c); err != nil {
		return false, fmt.Errorf("read event: %w", err)
	}
	if o.Purpose == policy.PurposeNotice || c.FileName == "" || o.Replaces != "" {
		return false, nil
	}
	file := File{Name: c.FileName}
	if c.Info != nil {
		file.MIME = c.Info.MIME
	}
	data, err := store.OutboxFile(ctx, db, o.ID)
	if errors.Is(err, store.ErrNotFound) { // it was sent, and its file deleted
		return false, nil
	}
	if err != nil {
		return false, err
	}
	file.Data = data
	return file.leaksSecret(), nil
}

// readContent returns a row that is about to be sent, with its parsed content for the gate. In a notice it first masks
// secrets that were configured after the notice was queued. Any other message with such a secret is stopped by the gate.
func readContent(ctx context.Context, tx store.Tx, o store.OutboxMessage) (store.OutboxMessage, content, error) {
	var c content
	if o.Purpose == policy.PurposeNotice {
		masked, err := maskAgain(ctx, tx, o)
		if err != nil {
			return o, c, err
		}
		o = masked
	}
	if err := json.Unmarshal(o.Content, &c); err != nil {
		return o, c, fmt.Errorf("read event: %w", err)
	}
	return o, c, nil
}

// maskAgain masks the secrets in the content and the file of a row, and stores it if there are any.
func maskAgain(ctx context.Context, tx store.Tx, o store.OutboxMessage) (store.OutboxMessage, error) {
	var c content
	var whole map[string]any // with the keys that c does not have
	if err := errors.Join(json.Unmarshal(o.Content, &c), json.Unmarshal(o.Content, &whole)); err != nil {
		return o, fmt.Errorf("read event: %w", err)
	}
	isMasked := maskStrings(whole)
	var masked []byte // the file, if it changes
	if c.FileName != "" {
		data, err := store.OutboxFile(ctx, tx, o.ID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return o, err
		}
		file := File{Data: data}
		if c.Info != nil {
			file.MIME = c.Info.MIME
		}
		if file = file.cleaned(); !bytes.Equal(file.Data, data) {
			isMasked, masked = true, file.Data
			if info, ok := whole["info"].(map[string]any); ok {
				info["size"] = len(masked)
			}
		}
	}
	if !isMasked {
		return o, nil
	}
	raw, err := json.Marshal(whole)
	if err != nil {
		return o, fmt.Errorf("write event: %w", err)
	}
	o.Content = raw
	return o, store.MaskOutboxMessage(ctx, tx, o.ID, raw, masked)
}

// maskStrings masks the secrets in the values of a JSON object and of those in it. It reports whether there were any.
func maskStrings(object map[string]any) (isMasked bool) {
	for key, value := range object {
		switch v := value.(type) {
		case string:
			if hidden := policy.Hide(v); hidden != v {
				object[key], isMasked = hidden, true
			}
		case map[string]any:
			isMasked = maskStrings(v) || isMasked
		}
	}
	return isMasked
}

// withoutText returns the message with a mark in place of its text and of its file. It is stored in place of one that leaks a secret.
func (m Message) withoutText() Message {
	m.Text = policy.Mask
	m.HTML = ""
	m.File = nil
	return m
}

// dropLeak drops a row that holds a secret, and notifies the owner.
func (b *Box) dropLeak(ctx context.Context, tx store.Tx, o store.OutboxMessage, chat store.Chat, d policy.Decision) error {
	if err := b.NotifyOwner(ctx, tx, Alert, fmt.Sprintf("⚠️ **Not sent to %s**: %s `/why` shows when.", text.Escape(chat.Label()),
		d.Why)); err != nil {
		return err
	}
	return b.drop(ctx, tx, o, d.Code, d.Why)
}
