# A stand-in for python:3.13-slim where no registry of images can be reached: Debian with its Python.
# The context has the certificates of this machine, and Debian as mmdebstrap wrote it.
FROM scratch
ADD debian.tar /
COPY certificates.crt /etc/ssl/certs/ca-certificates.crt
CMD ["python"]
