package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"
)

// startPooler starts a pooler before a database that behaves as PgBouncer with pool_mode transaction: each transaction gets the server
// connection that was used last and is free. It returns its address.
func startPooler(t *testing.T, dsn string) string {
	t.Helper()
	const size = 3
	idle := make(chan []*pgconn.HijackedConn, 1)
	var servers []*pgconn.HijackedConn
	for range size {
		conn, err := pgconn.Connect(context.Background(), dsn)
		require.NoError(t, err)
		server, err := conn.Hijack()
		require.NoError(t, err)
		t.Cleanup(func() { _ = server.Conn.Close() })
		servers = append(servers, server)
	}
	idle <- servers
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // closed
			}
			go func() {
				defer client.Close()
				if err := serveClient(client, idle); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) &&
					!errors.Is(err, net.ErrClosed) {
					t.Error(err)
				}
			}()
		}
	}()
	return fmt.Sprintf("postgres://multis@%s/%s?sslmode=disable", listener.Addr(), databaseOf(t, dsn))
}

// serveClient carries out the transactions of one client.
func serveClient(conn net.Conn, idle chan []*pgconn.HijackedConn) error {
	client := pgproto3.NewBackend(conn, conn)
	if _, err := client.ReceiveStartupMessage(); err != nil {
		return err
	}
	const inventedPID = 7
	client.Send(&pgproto3.AuthenticationOk{})
	client.Send(&pgproto3.BackendKeyData{ProcessID: inventedPID, SecretKey: []byte{0, 0, 0, 0}})
	client.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	if err := client.Flush(); err != nil {
		return err
	}
	var server *pgconn.HijackedConn
	for {
		msg, err := client.Receive()
		if err != nil {
			return err
		}
		if _, ended := msg.(*pgproto3.Terminate); ended {
			return nil
		}
		if server == nil {
			servers := <-idle
			server = servers[len(servers)-1]
			idle <- servers[:len(servers)-1]
		}
		server.Frontend.Send(msg)
		switch msg.(type) {
		case *pgproto3.Sync, *pgproto3.Query:
		default:
			continue
		}
		status, err := relayAnswers(server.Frontend, client)
		if err != nil {
			return err
		}
		if status == 'I' { // before the client hears of it, because its next transaction shall take the same server
			idle <- append(<-idle, server)
			server = nil
		}
		if err := client.Flush(); err != nil {
			return err
		}
	}
}

// relayAnswers takes the answers of a server for a client until the server is ready for the next query, and returns the
// state of its transaction.
func relayAnswers(server *pgproto3.Frontend, client *pgproto3.Backend) (status byte, err error) {
	if err := server.Flush(); err != nil {
		return 0, err
	}
	for {
		msg, err := server.Receive()
		if err != nil {
			return 0, err
		}
		client.Send(msg)
		if ready, ok := msg.(*pgproto3.ReadyForQuery); ok {
			return ready.TxStatus, nil
		}
	}
}
