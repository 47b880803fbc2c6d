// Package deploy_test checks the files for Docker without running Docker: the library of Compose must accept
// docker-compose.yml, and it, the Dockerfile and the set-up of the database must agree with the program.
package deploy_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"

	"multis/config"
)

// secrets is the folder of the secrets in a container.
const secrets = "/run/secrets"

// load reads docker-compose.yml as "docker compose" does: schema, variables, references between its parts.
func load(t *testing.T, env ...string) *types.Project {
	t.Helper()
	return loadProfiles(t, env)
}

func loadProfiles(t *testing.T, env []string, profiles ...string) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{"../docker-compose.yml"}, cli.WithEnv(env), cli.WithProfiles(profiles))
	require.NoError(t, err)
	project, err := options.LoadProject(t.Context())
	require.NoError(t, err)
	return project
}

func TestCompose_JoinsNetworkOfSynapse(t *testing.T) {
	t.Parallel()
	own := load(t).Networks["matrix"]
	require.Equal(t, "multis", own.Name)
	require.False(t, bool(own.External), "without MATRIX_NETWORK there is nothing to join")
	network := load(t, "MATRIX_NETWORK=homeserver_default").Networks["matrix"]
	require.Equal(t, "homeserver_default", network.Name)
	require.True(t, bool(network.External), "the network is Synapse's, not ours to create")
}

func TestCompose_ServersRunWithoutPrivileges(t *testing.T) {
	t.Parallel()
	for name, service := range loadProfiles(t, nil, "full").Services {
		require.Equal(t, []string{"ALL"}, service.CapDrop, name)
		require.Contains(t, service.SecurityOpt, "no-new-privileges:true", name)
		require.False(t, service.Privileged, name)
		for _, port := range service.Ports {
			require.Equal(t, "127.0.0.1", port.HostIP, "%s: nothing is published to the outside", name)
		}
		require.NotEmpty(t, service.Logging.Options["max-size"], "%s: the log is bounded", name)
		require.NotEmpty(t, service.Logging.Options["max-file"], "%s: the log is bounded", name)
		if service.Restart == "no" {
			require.True(t, service.ReadOnly, name)
			continue
		}
		require.Empty(t, service.CapAdd, name)
		require.NotContains(t, []string{"", "0", "root", "0:0"}, service.User, name)
		require.Equal(t, "unless-stopped", service.Restart, name)
		require.NotNil(t, service.HealthCheck, name)
		require.NotEmpty(t, service.HealthCheck.Test, name)
	}
	setup := load(t).Services["multis-setup"]
	require.Equal(t, "0:0", setup.User)
	require.Equal(t, "none", setup.NetworkMode, "what runs as root reaches nobody")
}

func TestCompose_OnlyMultisReachesDatabase(t *testing.T) {
	t.Parallel()
	project := load(t)
	require.True(t, project.Networks["database"].Internal)
	services := project.Services
	database := services["multis-postgres"]
	require.Equal(t, []string{"database"}, database.NetworksByPriority())
	require.Equal(t, types.ServiceConditionCompletedSuccessfully, database.DependsOn["multis-setup"].Condition)
	require.Equal(t, types.ServiceConditionHealthy, services["multis-database"].DependsOn["multis-postgres"].Condition)
	require.Equal(t, types.ServiceConditionCompletedSuccessfully, services["multis"].DependsOn["multis-database"].Condition)
	require.True(t, services["multis"].ReadOnly)
}

func TestCompose_FullProfileIsOptIn(t *testing.T) {
	t.Parallel()
	beside, full := load(t).Services, loadProfiles(t, nil, "full").Services
	require.ElementsMatch(t, []string{"multis", "multis-postgres", "multis-setup", "multis-database"}, slices.Collect(maps.Keys(beside)))
	for name, service := range full {
		if _, ok := beside[name]; !ok {
			require.Equal(t, []string{"full"}, service.Profiles, name)
		}
	}
	require.Len(t, full, len(beside)+6)
	require.False(t, full["multis"].DependsOn["multis-full"].Required, "without the profile it is not waited for")
}

func TestCompose_NetworkNamesAvoidSynapse(t *testing.T) {
	t.Parallel()
	for name := range load(t).Services {
		require.True(t, strings.HasPrefix(name, "multis"), "%s: two services of one name are one to Docker", name)
	}
}

func TestCompose_SecretsFromFolder(t *testing.T) {
	t.Parallel()
	for name, service := range load(t).Services {
		for key, value := range service.Environment {
			if !strings.HasSuffix(key, "_FILE") {
				require.NotRegexp(t, "PASSWORD|TOKEN|URL$", key, "%s: a secret comes from a file", name)
				continue
			}
			require.Equal(t, secrets, filepath.Dir(*value), "%s: %s", name, key)
			require.True(t, slices.ContainsFunc(service.Volumes, func(v types.ServiceVolumeConfig) bool {
				return v.Target == secrets && v.ReadOnly
			}), name)
		}
	}
}

func TestCompose_KeepsDataInVolumes(t *testing.T) {
	t.Parallel()
	project := load(t)
	for name, service := range project.Services {
		for _, v := range service.Volumes {
			switch {
			case v.Type == types.VolumeTypeVolume:
				require.Contains(t, project.Volumes, v.Source, name)
			case v.Source == filepath.Join(project.WorkingDir, "secrets"):
				require.Equal(t, secrets, v.Target, name)
				require.Equal(t, name != "multis-setup", v.ReadOnly, "%s: who only reads them cannot write", name)
			case v.ReadOnly:
				require.FileExists(t, v.Source, name)
			default:
				require.Equal(t, filepath.Join(project.WorkingDir, "data"), v.Source, name)
				require.Equal(t, "/data", v.Target, name)
			}
		}
	}
}

// The environment variables in docker-compose.yml must be keys of the configuration.
func TestCompose_EnvironmentIsUnderstood(t *testing.T) {
	t.Parallel()
	service := load(t).Services["multis"]
	const url = "postgres://multis:abc123@multis-postgres/multis"
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "database_url"), []byte(url+"\n"), 0o600))
	env := func(key string) (string, bool) {
		value, ok := service.Environment[key]
		if !ok {
			return "", false
		}
		return strings.Replace(*value, secrets, dir, 1), true
	}
	path := filepath.Join(dir, "config.yaml")
	ours := strings.ReplaceAll(string(config.Example()), "example.com", "example.org")
	require.NoError(t, os.WriteFile(path, []byte(ours), 0o600))
	_, err := config.Generate(path)
	require.NoError(t, err)
	filled, err := os.ReadFile(path)
	require.NoError(t, err)
	c, err := config.Parse(path, filled, env)
	require.NoError(t, err)

	require.Equal(t, url, c.Database.URL.Value())
	require.Equal(t, "0.0.0.0", c.Appservice.Hostname)
	require.Equal(t, fmt.Sprintf("http://multis:%d", c.Appservice.Port), c.Appservice.Address)
	require.Equal(t, []string{strconv.Itoa(c.Appservice.Port)}, instructions(t)["EXPOSE"])
	for key := range service.Environment {
		require.True(t, strings.HasPrefix(key, "MULTIS_"), "%s is not ours", key)
	}
}
