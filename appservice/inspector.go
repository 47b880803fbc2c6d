package appservice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto/signatures"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
)

// Reasons why a homeserver does not do what multis needs. Errors of an Inspector may wrap one of them.
var (
	ErrUnreachable   = errors.New("no homeserver answers")
	ErrNotMatrix     = errors.New("this is not a Matrix homeserver")
	ErrUnknownToken  = errors.New("the homeserver does not know the as_token")
	ErrNotCovered    = errors.New("the registration does not cover this user")
	ErrNoUser        = errors.New("the user does not exist")
	ErrUnknownDevice = errors.New("the device does not exist")
	ErrPingToken     = errors.New("the homeserver uses another hs_token")
	ErrPingID        = errors.New("the homeserver knows the as_token under another registration id")
	ErrPingNoURL     = errors.New("the registration has no url")
	ErrPingNoAnswer  = errors.New("the homeserver gets no answer from multis")
	ErrPingOther     = errors.New("another program answers at the url of the registration")
)

// Inspector asks a homeserver for facts. It changes nothing there, needs no database, and works without the users and devices of multis.
type Inspector struct{ access Access }

// NewInspector returns an Inspector. Token, Owner, Bot and AppserviceID are needed only by the methods that use them.
func NewInspector(a Access) *Inspector { return &Inspector{access: a} }

// ServerInfo describes a homeserver.
type ServerInfo struct {
	Name, Version string        // such as "Synapse" and "1.160.0"; empty if the homeserver does not say
	Took          time.Duration // duration of the request
	ClockAhead    time.Duration // how far its clock is ahead of ours, to the second; negative if it is behind
	IsMAS         bool          // whether accounts are managed by the Matrix Authentication Service
}

// Server describes the homeserver. It needs no token. The error wraps ErrUnreachable or ErrNotMatrix.
func (i *Inspector) Server(ctx context.Context) (ServerInfo, error) {
	var info ServerInfo
	began := time.Now()
	var versions struct {
		Versions []string `json:"versions"`
	}
	header, err := i.getJSON(ctx, "/_matrix/client/versions", &versions)
	info.Took = time.Since(began)
	switch {
	case err != nil:
		return info, err
	case len(versions.Versions) == 0:
		return info, ErrNotMatrix
	}
	if at, err := http.ParseTime(header.Get("Date")); err == nil {
		info.ClockAhead = at.Sub(began.Add(info.Took / 2)).Round(time.Second)
	}
	var version struct {
		Server struct{ Name, Version string }
	}
	if _, err := i.getJSON(ctx, "/_matrix/federation/v1/version", &version); err == nil {
		info.Name, info.Version = version.Server.Name, version.Server.Version
	}
	var auth struct{ Issuer string }
	_, err = i.getJSON(ctx, "/_matrix/client/v1/auth_metadata", &auth)
	info.IsMAS = err == nil && auth.Issuer != ""
	return info, nil
}

// getJSON requests a path without a token.
func (i *Inspector) getJSON(ctx context.Context, path string, to any) (http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(i.access.URL, "/")+path, nil)
	if err != nil {
		return nil, fmt.Errorf("%w at %s: %w", ErrUnreachable, i.access.URL, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, unreachable(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%w: HTTP %d", ErrNotMatrix, resp.StatusCode)
	}
	const maxBody = 1 << 20
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxBody)).Decode(to); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotMatrix, err)
	}
	return resp.Header, nil
}

// unreachable wraps a failed connection, without the URL of the request, which is long.
func unreachable(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}

// client returns a client that acts as a user. Empty means the registration's own user.
func (i *Inspector) client(user id.UserID) (*mautrix.Client, error) {
	c, err := mautrix.NewClient(i.access.URL, user, i.access.Token)
	if err != nil {
		return nil, fmt.Errorf("%w at %s: %w", ErrUnreachable, i.access.URL, err)
	}
	c.Log = zerolog.New(io.Discard).Level(zerolog.PanicLevel)
	c.RequestHook = func(req *http.Request) { *req = *req.WithContext(c.Log.WithContext(req.Context())) }
	c.SetAppServiceUserID = user != ""
	c.DefaultHTTPRetries = 0
	c.IgnoreRateLimit = true
	c.ResponseSizeLimit = 64 << 20
	return c, nil
}

// WhoAmI acts as user and returns who multis is then, according to the homeserver. Empty means the registration's own user. The error wraps
// ErrUnreachable, ErrUnknownToken, ErrNotCovered or ErrNoUser.
func (i *Inspector) WhoAmI(ctx context.Context, user id.UserID) (id.UserID, error) {
	c, err := i.client(user)
	if err != nil {
		return "", err
	}
	who, err := c.Whoami(ctx)
	if err != nil {
		return "", classify(err)
	}
	return who.UserID, nil
}

// classify wraps an error of the homeserver in the Err value that fits.
func classify(err error) error {
	var failed mautrix.HTTPError
	var request *url.Error
	switch {
	case errors.As(err, &request):
		return unreachable(err)
	case errors.As(err, &failed) && failed.RespError == nil:
		return fmt.Errorf("%w: %w", ErrNotMatrix, err)
	case errors.Is(err, mautrix.MUnknownToken), errors.Is(err, mautrix.MMissingToken):
		return fmt.Errorf("%w: %w", ErrUnknownToken, err)
	case errors.Is(err, mautrix.MForbidden) && strings.Contains(err.Error(), "not registered"):
		return fmt.Errorf("%w: %w", ErrNoUser, err)
	case errors.Is(err, mautrix.MForbidden), errors.Is(err, mautrix.MExclusive):
		return fmt.Errorf("%w: %w", ErrNotCovered, err)
	case isLostDevice(err), errors.Is(err, mautrix.MNotFound):
		return fmt.Errorf("%w: %w", ErrUnknownDevice, err)
	default:
		return err
	}
}

// Ping makes the homeserver call multis and returns how long that took. The error wraps one of the ErrPing errors, ErrUnreachable or
// ErrUnknownToken.
func (i *Inspector) Ping(ctx context.Context) (time.Duration, error) {
	c, err := i.client("")
	if err != nil {
		return 0, err
	}
	took, err := ping(ctx, c, i.access.AppserviceID, "doctor")
	if err != nil {
		return 0, classifyPing(err)
	}
	return took, nil
}

// ping makes the homeserver call multis and returns how long that took. After an answer Synapse pushes at once what it
// kept. If it is already doing that, by itself or after an earlier ping, it reports AlreadyCalled or AlreadyCancelled as
// a failed connection, although multis did answer.
func ping(ctx context.Context, c *mautrix.Client, appservice, transaction string) (time.Duration, error) {
	began := time.Now()
	resp, err := c.AppservicePing(ctx, appservice, transaction)
	switch {
	case errors.Is(err, mautrix.MConnectionFailed) &&
		(strings.Contains(err.Error(), "AlreadyCalled") || strings.Contains(err.Error(), "AlreadyCancelled")):
		return time.Since(began), nil
	case err != nil:
		return 0, err
	}
	return time.Duration(resp.DurationMS) * time.Millisecond, nil
}

// classifyPing wraps an error of a ping in the Err value that fits.
func classifyPing(err error) error {
	var failed mautrix.HTTPError
	switch text := err.Error(); {
	case errors.Is(err, mautrix.MBadStatus) && (strings.Contains(text, "HTTP 401") || strings.Contains(text, "HTTP 403")):
		return fmt.Errorf("%w: %w", ErrPingToken, err)
	case errors.Is(err, mautrix.MBadStatus):
		return fmt.Errorf("%w: %w", ErrPingOther, err)
	case errors.Is(err, mautrix.MURLNotSet):
		return fmt.Errorf("%w: %w", ErrPingNoURL, err)
	case errors.Is(err, mautrix.MConnectionFailed), errors.Is(err, mautrix.MConnectionTimeout):
		return fmt.Errorf("%w: %w", ErrPingNoAnswer, err)
	case errors.Is(err, mautrix.MForbidden) && errors.As(err, &failed):
		return fmt.Errorf("%w: %w", ErrPingID, err)
	default:
		return classify(err)
	}
}

// rateLimitBurst is how many requests IsRateLimited sends at once: more than Synapse allows a limited user.
const rateLimitBurst = 30

// IsRateLimited reports whether the homeserver limits the requests of multis, that is, whether the registration that it has loaded lacks
// rate_limited: false. It requests the summary of a room that the owner is in, because Synapse limits these requests to 10 at once.
func (i *Inspector) IsRateLimited(ctx context.Context, room id.RoomID) (bool, error) {
	c, err := i.client(i.access.Owner)
	if err != nil {
		return false, err
	}
	// All at once, because a slow homeserver would never reach the limit if they were sent one after the other.
	var requests errgroup.Group
	for range rateLimitBurst {
		requests.Go(func() error {
			_, err := c.MakeFullRequest(ctx, mautrix.FullRequest{
				Method: http.MethodGet, MaxAttempts: 1,
				URL: c.BuildURLWithQuery(mautrix.ClientURLPath{"v1", "rooms", room, "hierarchy"}, map[string]string{"limit": "1", "max_depth": "0"}),
			})
			return err
		})
	}
	switch err := requests.Wait(); {
	case errors.Is(err, mautrix.MLimitExceeded):
		return true, nil
	case err != nil:
		return false, classify(err)
	}
	return false, nil
}

// ManagesDevices reports whether the homeserver lets multis create devices (MSC4190), that is, whether the registration
// that it has loaded has io.element.msc4190. It tries to log in as a user outside of the registration, which always
// fails, so no device is created: with MSC4190 an application service cannot log in at all, without it not as that user.
// known is false if the error is neither of these.
func (i *Inspector) ManagesDevices(ctx context.Context) (manages, known bool, err error) {
	c, err := i.client("")
	if err != nil {
		return false, false, err
	}
	_, err = c.MakeFullRequest(ctx, mautrix.FullRequest{
		Method: http.MethodPost, MaxAttempts: 1, URL: c.BuildClientURL("v3", "login"),
		RequestJSON: map[string]any{
			"type":       "m.login.application_service",
			"identifier": map[string]string{"type": "m.id.user", "user": "multis-doctor-nobody"},
		},
	})
	var resp mautrix.RespError
	switch {
	case errors.As(err, &resp) && strings.HasSuffix(resp.ErrCode, "APPSERVICE_LOGIN_UNSUPPORTED"):
		return true, true, nil
	case errors.Is(err, mautrix.MForbidden), errors.Is(err, mautrix.MExclusive):
		return false, true, nil
	case err != nil:
		return false, false, classify(err)
	default:
		return false, false, nil
	}
}

// DeviceInfo describes a device of multis.
type DeviceInfo struct {
	HasKeys  bool // whether its encryption keys are published
	Verified bool // whether its user's cross-signing key signed it
	CanSign  bool // whether its user has cross-signing keys
}

// Device describes a device. The error wraps ErrUnknownDevice if it does not exist.
func (i *Inspector) Device(ctx context.Context, user id.UserID, device id.DeviceID) (DeviceInfo, error) {
	var info DeviceInfo
	c, err := i.client(user)
	if err != nil {
		return info, err
	}
	if _, err := c.GetDeviceInfo(ctx, device); err != nil {
		return info, classify(err)
	}
	resp, err := c.QueryKeys(ctx, &mautrix.ReqQueryKeys{DeviceKeys: mautrix.DeviceKeysRequest{user: mautrix.DeviceIDList{}}, Timeout: 5000})
	if err != nil {
		return info, classify(err)
	}
	keys, ok := resp.DeviceKeys[user][device]
	info.HasKeys = ok && len(keys.Keys) > 0
	signing, ok := resp.SelfSigningKeys[user]
	if info.CanSign = ok && signing.FirstKey() != ""; !info.HasKeys || !info.CanSign {
		return info, nil
	}
	info.Verified, err = signatures.VerifySignatureJSON(keys, user, signing.FirstKey().String(), signing.FirstKey())
	if err != nil {
		info.Verified = false // there is no valid signature
	}
	return info, nil
}

// Members returns the membership, such as "join", of each user who is or was in a room or was invited to it. It is read
// as a member of the room.
func (i *Inspector) Members(ctx context.Context, as id.UserID, room id.RoomID) (map[id.UserID]string, error) {
	client, err := i.client(as)
	if err != nil {
		return nil, err
	}
	members, err := client.Members(ctx, room)
	if err != nil {
		return nil, explain("read who is in "+room.String(), err)
	}
	memberships := map[id.UserID]string{}
	for _, evt := range members.Chunk {
		evt.Type.Class = event.StateEventType
		if c, ok := parseContent[event.MemberEventContent](ctx, evt); ok && evt.StateKey != nil {
			memberships[id.UserID(*evt.StateKey)] = string(c.Membership)
		}
	}
	return memberships, nil
}

// JoinedRooms returns the rooms that a user is in.
func (i *Inspector) JoinedRooms(ctx context.Context, user id.UserID) ([]id.RoomID, error) {
	c, err := i.client(user)
	if err != nil {
		return nil, err
	}
	resp, err := c.JoinedRooms(ctx)
	if err != nil {
		return nil, classify(err)
	}
	return resp.JoinedRooms, nil
}

// portalStateTypes are the types of state that distinguish chats of bridges from other rooms.
var portalStateTypes = []event.Type{event.StateBridge, event.StateHalfShotBridge, event.StateCreate, event.StatePowerLevels}

// Portals returns those of the owner's rooms that are chats of bridges, without their members. It takes one request.
func (i *Inspector) Portals(ctx context.Context, rooms []id.RoomID) (map[id.RoomID]bridgebridge.Portal, error) {
	c, err := i.client(i.access.Owner)
	if err != nil {
		return nil, err
	}
	nothing := &mautrix.FilterPart{NotTypes: []event.Type{{Type: "*"}}}
	filter, err := json.Marshal(mautrix.Filter{
		AccountData: nothing, Presence: nothing,
		Room: &mautrix.RoomFilter{
			Rooms: rooms, AccountData: nothing, Ephemeral: nothing, State: &mautrix.FilterPart{Types: portalStateTypes},
			Timeline: &mautrix.FilterPart{Types: portalStateTypes, Limit: 1},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("write a filter: %w", err)
	}
	resp, err := c.FullSyncRequest(ctx, mautrix.ReqSync{FilterID: string(filter), FullState: true, SetPresence: event.PresenceOffline})
	if err != nil {
		return nil, classify(err)
	}
	portals := map[id.RoomID]bridgebridge.Portal{}
	for room, found := range resp.Rooms.Join {
		state := []*event.Event{joinOf(i.access.Owner)}
		for _, evt := range append(found.State.Events, found.Timeline.Events...) {
			// Members are not requested, because rooms can have many. Whoever claims the room for a bridge is assumed to be a member.
			state = append(state, joinOf(evt.Sender), evt)
		}
		if portal, ok := bridgebridge.Describe(state, i.access.Owner, i.access.Bot); ok {
			portals[room] = portal
		}
	}
	return portals, nil
}

// joinOf returns the state event that makes a user a member.
func joinOf(user id.UserID) *event.Event {
	key := user.String()
	return &event.Event{
		Type:     event.StateMember,
		StateKey: &key,
		Sender:   user,
		Content:  event.Content{VeryRaw: json.RawMessage(`{"membership":"join"}`)},
	}
}
