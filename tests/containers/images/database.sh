#!/bin/sh
# Makes the database at the first start, as the official image does, and runs the server.
set -eu
data=/var/lib/postgresql/18/docker
if [ "$(id -u)" = 0 ]; then
    mkdir -p "$data" /run/postgresql
    chown -R postgres /var/lib/postgresql /run/postgresql
    exec setpriv --reuid postgres --regid postgres --clear-groups "$0" "$@"
fi
if [ ! -f "$data/PG_VERSION" ]; then
    umask 077
    echo "$POSTGRES_PASSWORD" >/tmp/password
    initdb --pgdata "$data" --username "$POSTGRES_USER" --pwfile /tmp/password \
        --auth-host scram-sha-256 --auth-local trust --encoding UTF8 --locale C.UTF-8
    rm /tmp/password
    echo "host all all all scram-sha-256" >>"$data/pg_hba.conf"
    # Without a terminal, single-user mode reads one statement a line.
    echo "CREATE DATABASE $POSTGRES_DB" | postgres --single -D "$data" postgres
fi
exec postgres -D "$data" -c listen_addresses='*' -c unix_socket_directories=/run/postgresql "$@"
