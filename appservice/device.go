package appservice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"go.mau.fi/util/random"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/store"
)

// account is one user that multis acts as. Its device may be replaced while others send: they take the session of now.
type account struct {
	user    id.UserID
	setting store.Setting
	current atomic.Pointer[session]
}

// session is the session in use.
func (a *account) session() *session { return a.current.Load() }

// session is a client on one device. It is never changed.
type session struct {
	*mautrix.Client
	deviceCreatedAt time.Time // when the device was made
}

// device is a device of multis' own, as it is stored. All processes use the same one.
type device struct {
	ID        id.DeviceID `json:"id"`
	CreatedAt time.Time   `json:"made"`
}

// newSession makes a client for a user on a device; without one, for what needs none.
func (h *Homeserver) newSession(user id.UserID, d device) (*session, error) {
	c, err := mautrix.NewClient(h.access.URL, user, h.access.Token)
	if err != nil {
		return nil, fmt.Errorf("homeserver.address %s: %w", h.access.URL, err)
	}
	// The client does not log its requests, neither to its own logger nor to the context's: their errors come back to us, which are logged.
	c.Log = zerolog.New(io.Discard).Level(zerolog.PanicLevel)
	c.RequestHook = func(req *http.Request) { *req = *req.WithContext(c.Log.WithContext(req.Context())) }
	c.SetAppServiceUserID = true
	c.DeviceID, c.SetAppServiceDeviceID = d.ID, d.ID != ""
	c.Client = &http.Client{Timeout: 2 * time.Minute} // the long poll; every other request ends with its context
	c.ResponseSizeLimit = 256 << 20
	return &session{Client: c, deviceCreatedAt: d.CreatedAt}, nil
}

// ensureDevices gives both accounts a device: with it, a send that is repeated stays one event even when the homeserver
// restarts in between.
func (h *Homeserver) ensureDevices(ctx context.Context) error {
	lock, err := h.lockSetup(ctx)
	if err != nil {
		return err
	}
	defer lock.Release(ctx)
	for _, a := range []*account{h.owner, h.bot} {
		var d device
		known, err := store.GetSetting(ctx, h.store.DB(), a.setting, &d)
		if err != nil {
			return err
		}
		if known {
			_, err = a.session().GetDeviceInfo(ctx, d.ID)
		}
		switch {
		case errors.Is(err, mautrix.MNotFound):
			err = h.recreateDevice(ctx, a)
		case err != nil:
			err = explain("look at the device of "+a.user.String(), err)
		case known:
			err = h.setDevice(a, d)
		default:
			err = h.createDevice(ctx, a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// createDevice makes a device and has all processes use it.
func (h *Homeserver) createDevice(ctx context.Context, a *account) error {
	d := device{ID: id.DeviceID("MULTIS_" + random.String(8)), CreatedAt: time.Now()}
	fresh, err := h.newSession(a.user, device{})
	if err != nil {
		return err
	}
	if err := fresh.CreateDeviceMSC4190(ctx, d.ID, "multis"); err != nil {
		return explain("make a device for "+a.user.String(), err)
	}
	if err := store.PutSetting(ctx, h.store.Writer(), a.setting, d); err != nil {
		return err
	}
	return h.setDevice(a, d)
}

func (h *Homeserver) setDevice(a *account, d device) error {
	s, err := h.newSession(a.user, d)
	if err != nil {
		return err
	}
	a.current.Store(s)
	return nil
}

// replaceDevice makes a new device after somebody ended ours, unless another process did, and has the owner told.
func (h *Homeserver) replaceDevice(ctx context.Context, a *account) error {
	lock, err := h.lockSetup(ctx)
	if err != nil {
		return err
	}
	defer lock.Release(ctx)
	lost := a.session().DeviceID
	if err := h.reloadDevice(ctx, a); err != nil || a.session().DeviceID != lost {
		return err
	}
	return h.recreateDevice(ctx, a)
}

func (h *Homeserver) recreateDevice(ctx context.Context, a *account) error {
	zerolog.Ctx(ctx).Warn().Stringer("user_id", a.user).Msg("Our device was ended; making another")
	if err := h.createDevice(ctx, a); err != nil {
		return err
	}
	return h.store.InTx(ctx, func(tx store.Tx) error {
		return jobs.Enqueue(ctx, tx, jobs.NoticeArgs{Topic: jobs.TopicSessionReplaced})
	})
}

// reloadDevice takes over the device that another process made.
func (h *Homeserver) reloadDevice(ctx context.Context, a *account) error {
	var d device
	known, err := store.GetSetting(ctx, h.store.DB(), a.setting, &d)
	if err != nil || !known || d.ID == a.session().DeviceID {
		return err
	}
	return h.setDevice(a, d)
}

// isLostDevice tells whether somebody ended our device. The code's prefix is not stable yet.
func isLostDevice(err error) bool {
	var resp mautrix.RespError
	return errors.As(err, &resp) && strings.HasSuffix(resp.ErrCode, "M_UNKNOWN_DEVICE")
}
