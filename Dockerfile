# Keystride as an image: built by what package-lock.json pins, run by a user who may write nothing but /data and /tmp.
# The tag names a version, not a content. Where that matters, give the digest that your registry shows:
#   docker buildx imagetools inspect node:24.21.0-trixie-slim --format '{{.Manifest.Digest}}'
#   docker build --build-arg NODE_IMAGE=node:24.21.0-trixie-slim@<digest> .
ARG NODE_IMAGE=node:24.21.0-trixie-slim

FROM ${NODE_IMAGE} AS packages
WORKDIR /srv/keystride
COPY package.json package-lock.json .npmrc ./
# Leaves out the links to the packages of this repository, which the service does not import.
RUN npm ci --omit=dev --workspaces=false

FROM ${NODE_IMAGE} AS build
WORKDIR /srv/keystride
COPY package.json package-lock.json .npmrc ./
COPY packages packages
RUN npm ci
COPY asconfig.json tsconfig.json ./
COPY assembly assembly
COPY bench bench
COPY bin bin
COPY LICENSE LICENSE
COPY docs/integrate.md docs/integrate.md
COPY src src
COPY texts texts
RUN npm run --silent build && npm run --silent sbom > build/sbom.cdx.json

FROM ${NODE_IMAGE}
WORKDIR /srv/keystride
COPY package.json CHANGELOG.md LICENSE ./
COPY bin bin
COPY model model
COPY src/api/recorded-answers.json src/api/recorded-answers.json
COPY src/storage/postgres/migrations src/storage/postgres/migrations
COPY src/storage/postgres/schema/functions src/storage/postgres/schema/functions
COPY --from=packages /srv/keystride/node_modules node_modules
COPY --from=build /srv/keystride/build build
RUN mkdir -m 0700 /data && mkdir -m 0750 /secrets && chown 1000:1000 /data /secrets \
  && ln -s /srv/keystride/bin/keystride.mjs /usr/local/bin/keystride
# /data is used only without DATABASE_URL: it holds the embedded PostgreSQL and its encryption key.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 KEYSTRIDE_DATA=/data
VOLUME /data
EXPOSE 8080
USER 1000:1000
# Bash makes the request: a Node process for each check takes 40 MB and a tenth of a second of a core.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/$PORT && printf 'GET /livez HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -r line <&3 && [[ $line == *' 200 '* ]]"]
CMD ["keystride", "serve"]
