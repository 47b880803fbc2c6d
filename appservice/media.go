package appservice

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto/attachment"
	"maunium.net/go/mautrix/event"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// Reasons why a file cannot be downloaded. Their text is shown to users. A retry does not help.
var (
	// ErrTooLarge is returned for a file over the limit, before the download if its size is known.
	ErrTooLarge = errors.New("the file is too large")
	// ErrTruncated is returned for a file that is incomplete.
	ErrTruncated = errors.New("only a part of the file arrived; send it again")
	// ErrAltered is returned for an encrypted file whose hash is wrong.
	ErrAltered = errors.New("the file is not the one that was sent (its hash is wrong); send it again")
	// ErrUnknownEncryption is returned for a file with an unsupported encryption.
	ErrUnknownEncryption = errors.New("the file is encrypted in a way that I do not know")
	// ErrFileGone is returned for a file that the homeserver does not have.
	ErrFileGone = errors.New("the homeserver does not have the file any more; send it again")
)

// mediaTimeout limits a download or an upload. It is a little below the timeout of the HTTP client.
const mediaTimeout = 110 * time.Second

// Download returns a file that was sent in the admin room, decrypted. limit is its maximum size in bytes.
func (h *Homeserver) Download(ctx context.Context, file store.Attachment, limit int64) ([]byte, error) {
	var data bytes.Buffer
	data.Grow(int(min(int64(file.Size), limit)))
	if err := h.Fetch(ctx, policy.AsBot, file, limit, &data); err != nil {
		return nil, err
	}
	return data.Bytes(), nil
}

// Fetch streams a decrypted file to w. limit is its maximum size in bytes. What was written is valid only if Fetch returns nil, because
// the hash of an encrypted file is checked at its end. If jobs.IsPermanent(err), a retry does not help.
func (h *Homeserver) Fetch(ctx context.Context, who policy.SendAs, file store.Attachment, limit int64, w io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, mediaTimeout)
	defer cancel()
	if int64(file.Size) > limit {
		return tooLarge(limit)
	}
	uri, err := file.URL.Parse()
	if err != nil || uri.IsEmpty() {
		return jobs.Permanent(errors.New("the file has no address"))
	}
	sealed, err := fileEncryption(file)
	if err != nil {
		return err
	}
	resp, err := h.account(who).session().Download(ctx, uri)
	switch {
	case errors.Is(err, mautrix.MNotFound):
		return jobs.Permanent(ErrFileGone)
	case err != nil:
		return explain("download the file", err)
	}
	defer resp.Body.Close()
	if resp.ContentLength > limit {
		return tooLarge(limit)
	}
	return copyFile(resp.Body, sealed, file, limit, w)
}

// copyFile copies body to w, decrypts it if sealed is not nil, and checks the limit and the hash.
func copyFile(body io.Reader, sealed *attachment.EncryptedFile, file store.Attachment, limit int64, w io.Writer) error {
	from, proven := io.LimitReader(body, limit+1), func() error { return nil }
	if sealed != nil {
		plain := sealed.DecryptStream(from)
		from, proven = plain, plain.Close
	}
	n, err := io.Copy(w, from)
	switch {
	case n > limit:
		return tooLarge(limit)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return ErrTruncated // no permanent error: the connection broke, and a retry may succeed
	case err != nil:
		return fmt.Errorf("download the file: %w", err)
	}
	switch err := proven(); {
	case err == nil:
		return nil
	case n < int64(file.Size): // valid for encrypted files too: encryption does not change the size
		return jobs.Permanent(ErrTruncated)
	default:
		return jobs.Permanent(ErrAltered)
	}
}

// fileEncryption returns the decryption parameters of a file, or nil if it is not encrypted.
func fileEncryption(file store.Attachment) (*attachment.EncryptedFile, error) {
	if file.Key == nil {
		return nil, nil //nolint:nilnil // a file that is not encrypted has no key, which is no error
	}
	sealed := &attachment.EncryptedFile{
		Key:        attachment.JSONWebKey{Key: file.Key.Key, Algorithm: file.Key.Algorithm},
		InitVector: file.Key.IV, Hashes: attachment.EncryptedFileHashes{SHA256: file.Key.SHA256}, Version: file.Key.Version,
	}
	if err := sealed.PrepareForDecryption(); err != nil {
		return nil, jobs.Permanent(ErrUnknownEncryption)
	}
	return sealed, nil
}

// tooLarge returns the permanent error for a file over limit bytes.
func tooLarge(limit int64) error {
	return jobs.Permanent(fmt.Errorf("%w: at most %d MB", ErrTooLarge, limit>>20))
}

// attachedFile reports whether an outbox message has a file, and returns its MIME type.
func attachedFile(o store.OutboxMessage) (mime string, carries bool) {
	var content struct {
		FileName string `json:"filename"`
		Info     struct {
			MIME string `json:"mimetype"`
		} `json:"info"`
	}
	err := json.Unmarshal(o.Content, &content)
	return content.Info.MIME, err == nil && content.FileName != ""
}

// uploadFile uploads the file of a message, encrypted for an encrypted room, and returns the content with the file's
// address. It returns the content of a message without a file unchanged. A retry uploads the file again but gives the
// same event, because the transaction id is the same.
func (h *Homeserver) uploadFile(ctx context.Context, o store.OutboxMessage, c *session, encrypted bool) (json.RawMessage, error) {
	mime, carries := attachedFile(o)
	if !carries {
		return o.Content, nil
	}
	data, err := store.OutboxFile(ctx, h.store.DB(), o.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, jobs.Permanent(errors.New("the file to send is gone"))
	}
	if err != nil {
		return nil, err
	}
	var sealed *attachment.EncryptedFile
	if encrypted {
		sealed, mime = attachment.NewEncryptedFile(), "application/octet-stream"
		sealed.EncryptInPlace(data)
	}
	uploaded, err := c.UploadBytes(ctx, data, mime)
	switch {
	case err == nil:
	case isPermanent(err):
		return nil, jobs.Permanent(explain("upload the file", err))
	default:
		return nil, explain("upload the file", err)
	}
	var content map[string]json.RawMessage
	if err := json.Unmarshal(o.Content, &content); err != nil {
		return nil, fmt.Errorf("read event: %w", err)
	}
	key, where := "url", any(uploaded.ContentURI.CUString())
	if sealed != nil {
		key, where = "file", event.EncryptedFileInfo{EncryptedFile: *sealed, URL: uploaded.ContentURI.CUString()}
	}
	if content[key], err = json.Marshal(where); err != nil {
		return nil, fmt.Errorf("write event: %w", err)
	}
	return json.Marshal(content)
}
