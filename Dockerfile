# Keystride as an image: built by what package-lock.json pins, run by a user who may write nothing but /data and /tmp.
# The tag names a version, not a content: where that matters, give a digest (--build-arg NODE_IMAGE=node:...@sha256:...).
ARG NODE_IMAGE=node:20.20.2-bookworm-slim

FROM ${NODE_IMAGE} AS packages
WORKDIR /srv/keystride
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM ${NODE_IMAGE} AS build
WORKDIR /srv/keystride
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY asconfig.json tsconfig.json ./
COPY assembly assembly
COPY bench bench
COPY bin bin
COPY docs/integrate.md docs/integrate.md
COPY src src
RUN npm run --silent build && npm run --silent sbom > build/sbom.cdx.json

FROM ${NODE_IMAGE}
WORKDIR /srv/keystride
COPY package.json CHANGELOG.md LICENSE ./
COPY bin bin
COPY model model
COPY src/storage/postgres/migrations src/storage/postgres/migrations
COPY --from=packages /srv/keystride/node_modules node_modules
COPY --from=build /srv/keystride/build build
RUN mkdir -m 0700 /data && chown 1000:1000 /data
# /data is used without DATABASE_URL alone: it holds the embedded PostgreSQL and its encryption key.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 KEYSTRIDE_DATA=/data
VOLUME /data
EXPOSE 8080
USER 1000:1000
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "bin/start.mjs"]
