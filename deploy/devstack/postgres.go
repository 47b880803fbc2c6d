package devstack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/jackc/pgx/v5"
)

const postgresBin = "/usr/lib/postgresql/18/bin/"

// PostgresDSN returns the superuser's connection string for a database.
func (s *Stack) PostgresDSN(database string) string {
	return fmt.Sprintf("postgres://postgres:%s@127.0.0.1:%d/%s?sslmode=disable", s.password, s.postgresPort, database)
}

// CreateDatabase creates an empty database.
func (s *Stack) CreateDatabase(ctx context.Context, name string) error {
	conn, err := pgx.Connect(ctx, s.PostgresDSN("postgres"))
	if err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "create database "+pgx.Identifier{name}.Sanitize()); err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	return nil
}

// startPostgres creates a cluster and serves it on TCP only, without fsync,
// because the data is temporary.
func (s *Stack) startPostgres(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	// The file is readable for the user who runs initdb, and removed below.
	passwordFile := filepath.Join(s.dir, "postgres.password")
	if err := os.WriteFile(passwordFile, []byte(s.password), 0o644); err != nil {
		return err
	}
	defer os.Remove(passwordFile)
	initdb, err := s.root.run(s.dir, "initdb", postgresBin+"initdb", "--no-sync", "--no-instructions",
		"--pgdata=/mnt/postgres", "--username=postgres", "--pwfile=/mnt/postgres.password",
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C")
	if err != nil {
		return err
	}
	if err := initdb.wait(ctx); err != nil {
		return err
	}
	s.postgres, err = s.root.run(s.dir, "postgres", postgresBin+"postgres", "-D", "/mnt/postgres",
		"-p", strconv.Itoa(s.postgresPort), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
		"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=300")
	if err != nil {
		return err
	}
	return s.postgres.until(ctx, func(ctx context.Context) error {
		conn, err := pgx.Connect(ctx, s.PostgresDSN("postgres"))
		if err != nil {
			return err
		}
		return conn.Close(ctx)
	})
}
