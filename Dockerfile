# Two stages: the first installs the locked packages, the second holds only the result and runs as a user without rights.
FROM python:3.12-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/steward
WORKDIR /src
COPY requirements.lock ./
RUN /opt/steward/bin/pip install --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY bot ./bot
COPY memory ./memory
COPY playground ./playground
COPY tools ./tools
RUN /opt/steward/bin/pip install --no-deps --no-build-isolation --no-index . \
    && /opt/steward/bin/python -m compileall -q /opt/steward/lib

FROM python:3.12-slim
RUN useradd --system --uid 10001 --create-home --home-dir /data steward
COPY --from=build /opt/steward /opt/steward
# The root may be read-only: everything Steward writes goes to /data (a volume) and /tmp (a tmpfs).
ENV PATH=/opt/steward/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    STEWARD_HOME=/data \
    STEWARD_HOST=0.0.0.0 \
    PORT=3000
USER steward
WORKDIR /data
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f\"http://127.0.0.1:{os.environ.get('PORT') or 3000}/healthz\", timeout=2)"]
ENTRYPOINT ["steward"]
CMD ["run"]
