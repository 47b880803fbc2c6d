#!/bin/sh
# Gives the registration of multis to a Synapse in a container: copies it into the folder that the container has as /data, and names it in the
# homeserver.yaml there, beside the registrations of bridges. Run as root. A second run changes nothing that is right.
#
#   deploy/register.sh FOLDER
set -eu

folder=${1:?name the folder that the container of Synapse has as /data}
config=$folder/homeserver.yaml
name=multis-registration.yaml

if [ ! -f "$config" ]; then
	echo "There is no $config: name the folder that the container of Synapse has as /data." >&2
	exit 1
fi

# Synapse runs as the user who owns its configuration, or as the user 991 of its image.
owner=$(stat -c %u:%g "$config")
[ "${owner%:*}" != 0 ] || owner=991:991
install -m 640 -o "${owner%:*}" -g "${owner#*:}" "$(dirname "$0")/../data/registration.yaml" "$folder/$name"

is_named() { grep -q "^[^#]*/$name" "$config"; }
if is_named; then
	exit 0
elif grep -q '^app_service_config_files:' "$config"; then
	# Before the first item of a list, with its indentation; at the beginning of a list on one line; or in place of an empty value.
	rest='[ \t]*(#[^\n]*)?\n'
	sed -E -z -i "s~(^|\n)(app_service_config_files:$rest($rest)*)([ \t]*- +)~\1\2\6/data/$name\n\6~; t
		s~(^|\n)(app_service_config_files:[ \t]*\[)~\1\2/data/$name, ~; t
		s~(^|\n)(app_service_config_files:)($rest|\$)~\1\2 [/data/$name]\n~" "$config"
else
	printf '\napp_service_config_files:\n  - /data/%s\n' "$name" >>"$config"
fi
if ! is_named; then
	echo "Add /data/$name to app_service_config_files in $config." >&2
	exit 1
fi
