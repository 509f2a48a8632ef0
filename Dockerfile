# An image of the wheel: `make wheel`, then `docker build -t nlweb-playground .`
#
#   docker run --rm --read-only --tmpfs /tmp -v playground:/data -p 127.0.0.1:8000:8000 \
#       --stop-timeout 45 nlweb-playground
#
# Local mode has no login, so publish the port on 127.0.0.1 only: see docs/settings.md. compose.yaml runs
# several web processes and workers.
FROM python:3.13-slim AS install

COPY requirements.lock dist/*.whl /build/
WORKDIR /build
RUN python -m venv /opt/playground \
    && /opt/playground/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements.lock \
    && /opt/playground/bin/pip install --no-cache-dir --no-deps /build/*.whl \
    && /opt/playground/bin/pip check

FROM python:3.13-slim

RUN useradd --system --uid 10001 --no-create-home playground \
    && install --directory --owner playground --mode 700 /data
COPY --from=install /opt/playground /opt/playground
ENV PATH=/opt/playground/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    PLAYGROUND_DATA_DIR=/data
USER 10001
VOLUME /data
EXPOSE 8000
# Whether the process responds, and not `/ready/`: a swarm replaces an unhealthy container, and a new one
# does not bring back a database. compose.yaml has checks of its own.
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import sys, http.client as h; c = h.HTTPConnection('127.0.0.1', 8000, timeout=8); c.request('GET', '/static/img/mark.svg'); sys.exit(c.getresponse().status != 200)"]
ENTRYPOINT ["nlweb-playground"]
CMD ["serve", "--host", "0.0.0.0"]
