# A stand-in for an object storage that understands the calls of S3. It keeps everything in memory.
ARG BASE_IMAGE
FROM ${BASE_IMAGE}
RUN python -m venv /opt/s3 \
    && /opt/s3/bin/pip install --no-cache-dir --disable-pip-version-check "moto[s3,server]>=5.1"
EXPOSE 5000
USER nobody
ENTRYPOINT ["/opt/s3/bin/moto_server", "--host", "0.0.0.0", "--port", "5000"]
