#!/bin/sh
# Starts a gateway in its container. Secrets are files, so that `docker inspect` does not show them.
set -eu
secrets=${SECRETS:-/run/secrets}
PGPASSWORD=$(cat "$secrets/database_password")
TRUNKLINE_TOKEN=$(cat "$secrets/gateway_token")
export PGPASSWORD TRUNKLINE_TOKEN

# With arguments, another command, such as: gateway store init "$TRUNKLINE_STORE"
if [ $# -gt 0 ]; then
  exec trunkline "$@"
fi
exec trunkline serve --http --gateway "$GATEWAY" --host "${HOST:-0.0.0.0}" --port "${PORT:-7411}" \
  --allow-host "$ALLOW_HOST" "$GATEWAY" --drain "${DRAIN:-10}" --mcp "${MCP_FILE:-/etc/trunkline/mcp.json}"
