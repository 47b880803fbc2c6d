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

// account is a user that multis acts as: the owner or the bot. Replacing its device changes its session, so each request
// must get the current session.
type account struct {
	user    id.UserID
	setting store.Setting
	current atomic.Pointer[session]
}

// session returns the current session.
func (a *account) session() *session { return a.current.Load() }

// session is a client on one device. It is immutable.
type session struct {
	*mautrix.Client
	deviceCreatedAt time.Time // the device's CreatedAt
}

// device is the stored Matrix device that all processes of multis use for one account.
type device struct {
	ID        id.DeviceID `json:"id"`
	CreatedAt time.Time   `json:"made"`
}

// newSession returns a client for a user on a device. An empty device is enough for requests that need no device.
func (h *Homeserver) newSession(user id.UserID, d device) (*session, error) {
	c, err := mautrix.NewClient(h.access.URL, user, h.access.Token)
	if err != nil {
		return nil, fmt.Errorf("homeserver.address %s: %w", h.access.URL, err)
	}
	// The client logs no requests, neither to its own logger nor to the context's. Callers log the errors that it returns.
	c.Log = zerolog.New(io.Discard).Level(zerolog.PanicLevel)
	c.RequestHook = func(req *http.Request) { *req = *req.WithContext(c.Log.WithContext(req.Context())) }
	c.SetAppServiceUserID = true
	c.DeviceID, c.SetAppServiceDeviceID = d.ID, d.ID != ""
	c.Client = &http.Client{Timeout: 2 * time.Minute} // long enough for the long poll; every other request has a context with a timeout
	c.ResponseSizeLimit = 256 << 20
	return &session{Client: c, deviceCreatedAt: d.CreatedAt}, nil
}

// ensureDevices makes sure that both accounts have a device. Synapse stores transaction ids by device, so that repeating a send
// gives the same event even after a restart of the homeserver.
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

// createDevice creates a device and stores it for all processes.
func (h *Homeserver) createDevice(ctx context.Context, a *account) error {
	d := device{ID: id.DeviceID("MULTIS_" + random.String(8)), CreatedAt: time.Now()}
	fresh, err := h.newSession(a.user, device{})
	if err != nil {
		return err
	}
	if err := fresh.CreateDeviceMSC4190(ctx, d.ID, "multis"); err != nil {
		return explain("make a device for "+a.user.String(), err)
	}
	if err := h.storeDevice(ctx, a, d); err != nil {
		return err
	}
	return h.setDevice(a, d)
}

// storeDevice stores a new device of an account. If a backup was restored, the new device also gets the keys of rooms
// that the former device had received, and the former device is deleted.
func (h *Homeserver) storeDevice(ctx context.Context, a *account, d device) error {
	var former device
	key := store.SettingFormer + a.setting
	restored, err := store.GetSetting(ctx, h.store.DB(), key, &former)
	if err != nil {
		return err
	}
	if !restored {
		return store.PutSetting(ctx, h.store.Writer(), a.setting, d)
	}
	err = h.store.InTx(ctx, func(tx store.Tx) error {
		if err := store.MoveRoomKeys(ctx, tx, cryptoAccount(a.user, former.ID), cryptoAccount(a.user, d.ID)); err != nil {
			return err
		}
		if err := store.DropSetting(ctx, tx, key); err != nil {
			return err
		}
		return store.PutSetting(ctx, tx, a.setting, d)
	})
	if err != nil {
		return err
	}
	fresh, err := h.newSession(a.user, device{})
	if err == nil {
		err = fresh.DeleteDevice(ctx, former.ID, &mautrix.ReqDeleteDevice[any]{}) // Synapse refuses a request without a body
	}
	if err != nil && !errors.Is(err, mautrix.MNotFound) {
		zerolog.Ctx(ctx).Warn().Err(err).Stringer("device_id",
			former.ID).Msg("Cannot delete the device of before the backup was restored; log it out in a client")
	}
	return nil
}

// setDevice makes this process use the device for an account.
func (h *Homeserver) setDevice(a *account, d device) error {
	s, err := h.newSession(a.user, d)
	if err != nil {
		return err
	}
	a.current.Store(s)
	return nil
}

// replaceDevice creates a new device after the old one was deleted, unless another process already did, and enqueues a notice to the
// owner.
func (h *Homeserver) replaceDevice(ctx context.Context, a *account) error {
	lock, err := h.lockSetup(ctx)
	if err != nil {
		return err
	}
	defer lock.Release(ctx)
	lost := a.session().DeviceID
	if err := h.reloadDevice(ctx, a); err != nil {
		return err
	}
	if a.session().DeviceID != lost {
		return nil
	}
	return h.recreateDevice(ctx, a)
}

// recreateDevice creates the new device for replaceDevice, which holds the setup lock.
func (h *Homeserver) recreateDevice(ctx context.Context, a *account) error {
	zerolog.Ctx(ctx).Warn().Stringer("user_id", a.user).Msg("The device of multis was deleted; creating another")
	if err := h.createDevice(ctx, a); err != nil {
		return err
	}
	return h.store.InTx(ctx, func(tx store.Tx) error {
		return jobs.Enqueue(ctx, tx, jobs.NoticeArgs{Topic: jobs.TopicSessionReplaced})
	})
}

// reloadDevice makes this process use the stored device of an account. Another process may have created it.
func (h *Homeserver) reloadDevice(ctx context.Context, a *account) error {
	var d device
	known, err := store.GetSetting(ctx, h.store.DB(), a.setting, &d)
	if err != nil {
		return err
	}
	if !known || d.ID == a.session().DeviceID {
		return nil
	}
	return h.setDevice(a, d)
}

// isLostDevice reports whether a request failed because its device was deleted. It compares only the end of the error code, because the
// prefix is not stable yet.
func isLostDevice(err error) bool {
	var resp mautrix.RespError
	return errors.As(err, &resp) && strings.HasSuffix(resp.ErrCode, "M_UNKNOWN_DEVICE")
}
