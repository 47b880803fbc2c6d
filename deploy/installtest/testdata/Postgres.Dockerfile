# Debian's Postgres and pgvector in the form of the official image.
FROM multis-test/sid
RUN groupmod --non-unique --gid 999 postgres && usermod --non-unique --uid 999 postgres && \
    install -d -o postgres -g postgres -m 700 /var/lib/postgresql/data && \
    install -d -o postgres -g postgres -m 3777 /var/run/postgresql
ENV PATH=/usr/lib/postgresql/18/bin:/usr/sbin:/usr/bin:/sbin:/bin PGDATA=/var/lib/postgresql/data LANG=C.UTF-8
COPY postgres-entrypoint.sh /
VOLUME /var/lib/postgresql/data
ENTRYPOINT ["/bin/sh", "/postgres-entrypoint.sh"]
CMD ["postgres"]
