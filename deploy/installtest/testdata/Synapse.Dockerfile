# Debian's Synapse in the form of the official image.
FROM multis-test/sid
RUN groupadd --gid 991 synapse && useradd --uid 991 --gid 991 --home-dir /data synapse && install -d -o synapse -g synapse /data
VOLUME /data
USER synapse
ENTRYPOINT ["python3", "-m", "synapse.app.homeserver", "-c", "/data/homeserver.yaml"]
