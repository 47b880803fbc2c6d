package doctor

import (
	"maps"
	"slices"
)

// The kinds of findings.
const (
	CheckFailed       ID = "check.failed"
	ConfigMissing     ID = "config.missing"
	ConfigInvalid     ID = "config.invalid"
	ConfigPermissions ID = "config.permissions"
	ConfigStart       ID = "config.start"
	ConfigRefused     ID = "config.refused"
	ConfigDiffers     ID = "config.differs"
	DataUnwritable    ID = "data.unwritable"
	DiskLow           ID = "disk.low"
	ClockSkew         ID = "clock.skew"

	HomeserverUnreachable ID = "homeserver.unreachable"
	HomeserverNotMatrix   ID = "homeserver.not-matrix"
	HomeserverDomain      ID = "homeserver.domain"
	HomeserverMAS         ID = "homeserver.mas"

	RegistrationFile        ID = "registration.file"
	RegistrationPermissions ID = "registration.permissions"
	RegistrationMissing     ID = "registration.missing"
	RegistrationRestart     ID = "registration.restart"
	RegistrationDrift       ID = "registration.drift"
	RegistrationToken       ID = "registration.as-token"
	RegistrationBot         ID = "registration.bot"
	RegistrationOwner       ID = "registration.owner"
	RegistrationRateLimit   ID = "registration.rate-limit"
	RegistrationDevices     ID = "registration.devices"
	OwnerAccount            ID = "owner.account"

	MultisStopped ID = "multis.stopped"
	SafeMode      ID = "multis.safe-mode"
	PingToken     ID = "ping.hs-token"
	PingNoAnswer  ID = "ping.no-answer"
	PingLoopback  ID = "ping.loopback"
	PingOther     ID = "ping.other-program"
	PingNoURL     ID = "ping.no-url"

	PushLag     ID = "push.lag"
	PushStalled ID = "push.stalled"
	SyncStalled ID = "sync.stalled"

	AdminRoom          ID = "admin-room.missing"
	AdminRoomNotIn     ID = "admin-room.not-joined"
	OperatorsRoom      ID = "operators-room.missing"
	OperatorsNotIn     ID = "operators-room.not-joined"
	OperatorsPlain     ID = "operators-room.unencrypted"
	FormerOperator     ID = "admin-room.former-operator"
	OperatorsUninvited ID = "operators.not-invited"
	DeviceMissing      ID = "device.missing"
	DeviceKeys         ID = "device.keys"
	DeviceUnverified   ID = "device.unverified"
	ChatsUnreadable    ID = "chats.unreadable"
	ChatsMissing       ID = "chats.missing"

	BridgeDown         ID = "bridge.down"
	BridgeDoublePuppet ID = "bridge.double-puppet"
	BridgeStatus       ID = "bridge.status-events"
	BridgeUnconfirmed  ID = "bridge.unconfirmed"
	BridgeClaim        ID = "bridge.claim"

	DatabaseUnreachable ID = "database.unreachable"
	DatabasePrograms    ID = "database.programs"
	DatabaseVersion     ID = "database.version"
	DatabaseEncoding    ID = "database.encoding"
	DatabaseSuperuser   ID = "database.superuser"
	DatabaseRights      ID = "database.rights"
	DatabaseRowSecurity ID = "database.wall"
	DatabaseSchema      ID = "database.schema"
	DatabaseVector      ID = "database.pgvector"
	DatabaseTrigrams    ID = "database.pg_trgm"
	DatabasePooling     ID = "database.pooling"
	DatabaseConnections ID = "database.connections"
	DatabaseShared      ID = "database.shared"

	BackupOld    ID = "backup.old"
	BackupFailed ID = "backup.failed"

	SandboxOff ID = "sandbox.off"

	MonitorFails ID = "monitor.fails"

	ModelConfig      ID = "model.config"
	ModelKey         ID = "model.key"
	ModelUnknown     ID = "model.unknown"
	ModelUnreachable ID = "model.unreachable"
	ModelUnexamined  ID = "model.unexamined"
	ModelUnfit       ID = "model.unfit"
	BudgetZero       ID = "budget.zero"
	BudgetSpent      ID = "budget.spent"

	JobsFailed   ID = "jobs.failed"
	JobsLate     ID = "jobs.late"
	OutboxFailed ID = "outbox.failed"
)

// kind is what all findings of one id have in common.
type kind struct {
	severity Severity
	fixable  bool // whether Fix repairs it
}

var kinds = map[ID]kind{
	CheckFailed:             {Warning, false},
	ConfigMissing:           {Error, false},
	ConfigInvalid:           {Error, false},
	ConfigPermissions:       {Error, true},
	ConfigStart:             {Error, false},
	ConfigRefused:           {Error, false},
	ConfigDiffers:           {Warning, false},
	DataUnwritable:          {Error, false},
	DiskLow:                 {Error, false},
	ClockSkew:               {Warning, false},
	HomeserverUnreachable:   {Error, false},
	HomeserverNotMatrix:     {Error, false},
	HomeserverDomain:        {Error, false},
	HomeserverMAS:           {Error, false},
	RegistrationFile:        {Error, true},
	RegistrationPermissions: {Error, true},
	RegistrationMissing:     {Error, false},
	RegistrationRestart:     {Error, false},
	RegistrationDrift:       {Error, false},
	RegistrationToken:       {Error, false},
	RegistrationBot:         {Error, false},
	RegistrationOwner:       {Error, false},
	RegistrationRateLimit:   {Warning, false},
	RegistrationDevices:     {Error, false},
	OwnerAccount:            {Error, false},
	MultisStopped:           {Error, false},
	SafeMode:                {Error, false},
	PingToken:               {Error, false},
	PingNoAnswer:            {Error, false},
	PingLoopback:            {Error, true},
	PingOther:               {Error, false},
	PingNoURL:               {Error, false},
	PushLag:                 {Warning, false},
	PushStalled:             {Error, false},
	SyncStalled:             {Error, false},
	AdminRoom:               {Error, false},
	AdminRoomNotIn:          {Warning, false},
	OperatorsRoom:           {Error, false},
	OperatorsNotIn:          {Warning, false},
	OperatorsPlain:          {Error, false},
	FormerOperator:          {Error, false},
	OperatorsUninvited:      {Warning, false},
	DeviceMissing:           {Error, false},
	DeviceKeys:              {Error, false},
	DeviceUnverified:        {Warning, false},
	ChatsUnreadable:         {Warning, false},
	ChatsMissing:            {Warning, false},
	BridgeDown:              {Error, false},
	BridgeDoublePuppet:      {Warning, false},
	BridgeStatus:            {Warning, false},
	BridgeUnconfirmed:       {Warning, false},
	BridgeClaim:             {Warning, false},
	DatabaseUnreachable:     {Error, false},
	DatabasePrograms:        {Error, false},
	DatabaseVersion:         {Error, false},
	DatabaseEncoding:        {Error, false},
	DatabaseSuperuser:       {Error, false},
	DatabaseRights:          {Error, false},
	DatabaseRowSecurity:     {Error, false},
	DatabaseSchema:          {Error, false},
	DatabaseVector:          {Warning, false},
	DatabaseTrigrams:        {Warning, false},
	DatabasePooling:         {Error, false},
	DatabaseConnections:     {Warning, false},
	DatabaseShared:          {Warning, false},
	BackupOld:               {Warning, false},
	BackupFailed:            {Warning, false},
	SandboxOff:              {Error, false},
	MonitorFails:            {Warning, false},
	ModelConfig:             {Error, false},
	ModelKey:                {Error, false},
	ModelUnknown:            {Error, false},
	ModelUnreachable:        {Error, false},
	ModelUnexamined:         {Warning, false},
	ModelUnfit:              {Warning, false},
	BudgetZero:              {Warning, false},
	BudgetSpent:             {Warning, false},
	JobsFailed:              {Warning, false},
	JobsLate:                {Warning, false},
	OutboxFailed:            {Warning, false},
}

// IDs returns all ids in alphabetical order.
func IDs() []ID { return slices.Sorted(maps.Keys(kinds)) }
